"""From a graph to a plan."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._native import clib, context, new, set_array
from ._progress import Hook, ProgressLike, interruptibly
from .answers import Recipes, Search, Solution
from .dtypes import DType, DTypeLike, dtype_of
from .errors import DeadlineExceeded, Error
from .executor import device_kind
from .graph import Graph
from .options import Memory, axes_of, compile_options, planner_changes
from .plan import Plan
from .tensor_file import parse_tensors

if TYPE_CHECKING:
    from ._tensor import Tensor

LOG = logging.getLogger("shardwise")
GraphLike = Graph | bytes


def compile(graph: GraphLike, mesh: Mapping[str, int] | None = None, *, hardware: str | Mapping[str, Any] | None = None,
            memory: Memory | None = None, progress: ProgressLike = None, **options: Any) -> Plan:
    """Chooses the cheapest placement of every tensor on the mesh, and lowers the graph to the program that one rank runs.

    Ctrl-C gives the best plan that was found so far, unproven, after about as long again as the call has run; where there is none yet, the
    first that is found. A second Ctrl-C raises KeyboardInterrupt.

    :param mesh: axes by name, the outermost first: ``{"dp": 8, "tp": 8}``; None: one device
    :param hardware: a name of :func:`shardwise.hardware_names` (default "h100"), or a description as a dict
    :param memory: limit of one rank, in bytes or as "60GiB"
    :param progress: True: a line in a terminal or notebook; or a function that is called with a :class:`Progress`
    :param options:
        * ``inputs``, ``outputs``: layouts, "S(0)R" for all or a dict by port ("free": for the planner)
        * ``pins``: layouts by pattern: ``{"param.layers.*.w1": "S(0)R", "op:softmax": "!P*"}``
        * ``without``: constraints to leave out, by their names in conflicts
        * ``entries``: such as ``["forward", "backward"]``, in place of those of the graph
        * ``buckets``: sizes of symbols: ``{"cache": [16, 64]}``, or ``{"decode": {"cache": [16, 64]}}`` for one entry
        * ``rules``: "full" or "compat"; ``strided=True`` offers strided shards
        * ``param_budget``: "smallest" (default), "none", or a share in (0, 1]
        * ``optimizer_factor``: bytes of optimizer state for each byte of a parameter
        * ``recompute``: what the backward pass computes again: "none", "cheap", "selective", "full" or "every:N"; "full+gathered" keeps gathered parameters, "full+first-add" the first sum of each block; "auto": what ``memory`` asks for
        * ``prefetch_bytes``, ``prefetch_depth``: what starting collectives early may cost: bytes (default 512 MiB), and steps of compute before the first reader (256)
        * ``products_between_reductions``: products between two reductions of gradients, at most, as far as the schedule puts products off (8)
        * ``fuse_bytes``: gathers of parameters and all-reduces of gradients of one group are fused into buffers of up to so many bytes where that makes the simulated step shorter (default: none)
        * ``lend_outputs=True`` lets scratch lie in the memory of outputs until they are written: a smaller arena; memory given to runs for outputs must be aligned to 256 bytes
        * ``host_memory``: bytes of host memory of a rank, where results may wait for the backward pass under recompute "auto" (default: none)
        * ``grad_reduce_dtype``: gradients are cast to it before they are reduced
        * ``overlap``: "none", "prefetch" with ``prefetch_scale``, "bounded" with ``bounded_share``, or "simulated": the fastest placement found in the simulator;
          default: "none", but "simulated" for the optimum of :func:`compare`
        * ``time_limit``: seconds; then the plan has the best placement found so far
        * ``gap``: the search ends at a placement that is proven to cost at most this share more than the optimum, such as 1e-4 (default: 1e-9)
        * ``threads``: at most; 0: as many as cores
        * ``einsum=False`` leaves view-mm-view as it is; ``keep_graph=False`` does not store the graph in the plan
    :raises InvalidArgument: the graph is malformed, or an option out of range
    :raises FailedPrecondition: no placement satisfies the options; ``conflicts`` names them
    :raises Unimplemented: the graph or an option needs what the library does not have yet
    :raises ResourceExhausted: the search reached its limit of work before it found a placement within `memory`
    """
    data = graph.to_bytes() if isinstance(graph, Graph) else graph
    wanted: dict[str, Any] = {"mesh": dict(mesh) if isinstance(mesh, Mapping) else mesh or {}, "hardware": hardware, "memory": memory, **options}
    hook = Hook(progress)
    try:
        handle = hook.run(lambda: clib.shw_plan_compile(context(), data, compile_options(progress=hook, **wanted)))
    except KeyboardInterrupt:
        handle = _best_so_far(data, wanted, hook)
    except Error as error:
        line = graph.line_of(error.node_index) if isinstance(graph, Graph) and error.node_index is not None else None
        if line is not None:
            error.message += f"\n  at {line}"
        raise
    return Plan(handle, graph=data, options=wanted)


def _best_so_far(data: bytes, wanted: dict[str, Any], hook: Hook) -> Any:
    """The C library forgets what it has found when it is cancelled. But a search is the same every time, and finds it again."""
    LOG.warning("interrupted: finding the best placement of the first %.1f s again; interrupt once more for none", hook.elapsed_s)
    limit, again = max(hook.elapsed_s, 0.05), Hook(None)
    while True:
        limited = {**wanted, "time_limit": limit}
        try:
            return again.run(lambda: clib.shw_plan_compile(context(), data, compile_options(progress=again, **limited)))
        except DeadlineExceeded:  # there was none yet
            limit *= 2


def search(graph: GraphLike, devices: int, *, max_mesh_dims: int = 3, best: int = 0, each_batch: bool = False,
           progress: ProgressLike = None, threads: int = 0, **options: Any) -> Search:
    """Plans a graph on every mesh that a number of devices can form. The cheapest plan is the best; with ``overlap="simulated"``,
    the one of the shortest simulated step.

    :param max_mesh_dims: 1 to 6
    :param best: how many of the best are needed; others are given up early. 0: all
    :param each_batch: plans each mesh for every set of axes that could shard the first dim of the inputs
    :param options: those of :func:`compile`, without a mesh
    """
    data = graph.to_bytes() if isinstance(graph, Graph) else graph
    hook = Hook(progress)
    wanted = compile_options(mesh=None, progress=hook, **options)
    asked = new("search_options", num_devices=devices, max_mesh_dims=max_mesh_dims, num_best=best, num_threads=threads)
    asked.flags = clib.SHW_SEARCH_EACH_BATCH if each_batch else 0

    def call(cancel: Any) -> Any:
        wanted.cancel = cancel
        return clib.shw_search_create(context(), data, wanted, asked)

    return Search(hook.run(lambda: interruptibly(call)))


def compare(graph: GraphLike, mesh: Mapping[str, int] | None = None, *, recipes: Sequence[str] = (),
            foreign: Mapping[str, Any] | None = None, progress: ProgressLike = None, **options: Any) -> Recipes:
    """Plans a graph by well-known recipes, and holds them beside the optimum: the same passes, the same simulator.
    The optimum is the fastest of several placements, with these among them; with ``overlap`` "none", "prefetch" or "bounded", the cheapest.

    :param recipes: their names: "ddp", "fsdp", "hsdp", "tp", "tp-sp", "fsdp-tp", "cp"; none: all
    :param foreign: layouts that somebody else chose, to be scored as well: what :meth:`Plan.to_placements` gives, an export of AutoParallel, or
        layouts by name of a node, input or output
    :param options: those of :func:`compile`
    """
    data = graph.to_bytes() if isinstance(graph, Graph) else graph
    hook = Hook(progress)
    wanted = compile_options(mesh=mesh, progress=hook, **options)
    asked = new("recipes_options", foreign=None if foreign is None else json.dumps(foreign).encode())
    set_array(asked, "recipes", recipes)
    changes = planner_changes(progress=hook)

    def call(cancel: Any) -> Any:
        wanted.cancel = changes.cancel = cancel
        return clib.shw_planner_compare(clib.shw_planner_create(context(), data, wanted), asked, changes)

    return Recipes(hook.run(lambda: interruptibly(call)))


def solve(problem: str | os.PathLike[str] | bytes, *, iopddl: bool = False, tied: bool = False, time_limit: float | None = None,
          progress: ProgressLike = None, threads: int | None = None) -> Solution:
    """Solves a placement problem without a graph exactly: JSON, plain or gzipped, from a file or as bytes.

    :param problem: as AutoParallel exports it ("ap-problem-1")
    :param iopddl: it is an instance of the IOPDDL contest in place of that
    :param tied: nodes with the same root get one common strategy
    :param time_limit: in seconds; then the best solution so far, with its bound
    :param progress: as for :func:`shardwise.compile`
    :raises InvalidArgument: the problem is malformed
    :raises FailedPrecondition: it has no solution
    """
    data = problem if isinstance(problem, bytes) else _read(problem)
    hook = Hook(progress)
    options = new("solution_options", flags=clib.SHW_SOLUTION_TIED if tied else 0, time_limit_s=time_limit, num_threads=threads,
                  format=clib.SHW_PROBLEM_FORMAT_IOPDDL if iopddl else clib.SHW_PROBLEM_FORMAT_AP, progress=hook)
    return Solution(hook.run(lambda: clib.shw_solution_create(context(), data, options)))


# ---- Files -------------------------------------------------------------------------------------------------


def load(source: str | os.PathLike[str] | bytes) -> Graph | Plan:
    """A graph or a plan, from a file or from bytes.

    It reads what ``Graph.save`` and ``Plan.save`` wrote; PyTorch's joint graph in JSON (plain or gzipped); and the text of
    ``str(graph)``.

    :raises InvalidArgument: it is none of these
    :raises DataLoss: the bytes are damaged
    :raises Unimplemented: the graph has operations that the library does not know; all are listed
    """
    data = source if isinstance(source, bytes) else _read(source)
    try:
        return load_plan(data) if data[4:8] == b"SWPL" else load_graph(data)
    except Error as error:
        if not isinstance(source, bytes):
            error.message = f"{os.fspath(source)}: {error.message}"
        raise


def load_plan(source: str | os.PathLike[str] | bytes) -> Plan:
    """A plan that ``Plan.save`` wrote. Raises as :func:`load`."""
    data = source if isinstance(source, bytes) else _read(source)
    return Plan(clib.shw_plan_load(context(), data))


def load_graph(source: str | os.PathLike[str] | bytes) -> Graph:
    """A graph in any of the formats of :func:`load`. Raises as it."""
    data = source if isinstance(source, bytes) else _read(source)
    if data[4:8] == b"SWGR":
        return Graph.from_bytes(data)
    is_json = data[:2] == b"\x1f\x8b" or data.lstrip()[:1] == b"{"
    form = clib.SHW_GRAPH_FORMAT_FX_JSON if is_json else clib.SHW_GRAPH_FORMAT_TEXT
    return Graph.from_bytes(clib.shw_graph_import(context(), form, data))


def load_onnx(source: str | os.PathLike[str] | bytes, *, sizes: Mapping[str, int | tuple[int, int]] | None = None,
              constants: bytes | None = None, plugin: str | None = None) -> tuple[Graph, dict[str, Tensor]]:
    """An ONNX model as a graph, and the values of its parameters by name, to be passed to ``Executor.run``.

    :param sizes: what the model leaves open, by the names that it uses: a number, or ``(minimum, maximum)`` for a symbol
    :param constants: the bytes of a safetensors file with inputs of the model that are to become constants, such as a shape
    :param plugin: path of libshardwise_onnx.so; None: beside the library
    :raises Unavailable: there is no libshardwise_onnx.so: the library was built without protobuf
    :raises InvalidArgument: the model is malformed, or leaves a size open; all are listed
    :raises Unimplemented: the model has operators that the library does not know; all are listed
    """
    data = source if isinstance(source, bytes) else _read(source)
    texts = [f"{name}={size}" if isinstance(size, int) else f"{name}={size[0]}..{size[1]}" for name, size in (sizes or {}).items()]
    options = new("onnx_options", sizes=",".join(texts), constants=constants, plugin=plugin)
    graph, values = clib.shw_graph_import_onnx(context(), data, options)
    return Graph.from_bytes(graph), parse_tensors(memoryview(values), "the values of the model")


def _read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def hardware_names() -> list[str]:
    """Machines that the library has cost tables for."""
    return [clib.shw_hardware_name(i) for i in range(clib.shw_hardware_count())]


def measure_hardware(device: str = "cpu", *, name: str | None = None) -> dict[str, Any]:
    """Measures this machine, and describes it: :func:`compile` takes the result as ``hardware=`` and then predicts how long plans
    take here. That takes some seconds on all cores or GPUs, in which nothing else should run.

    :param device: what the ranks run on: "cpu", or "cuda": NVIDIA GPUs
    :param name: of the description; None: "cpu-measured", "cuda-measured"
    :raises Unavailable: the device is "cuda", and there is none, or it cannot be used
    :raises InvalidArgument: the device is unknown
    """
    calibration = clib.shw_calibration_create(context(), [], new("calibration_options", device=device, name=name))
    described: dict[str, Any] = json.loads(clib.shw_calibration_to_description(calibration))
    return described


def bench_collectives(mesh: Mapping[str, int], *, group: Sequence[str] = (), dtype: DTypeLike = DType.f32, min_bytes: int = 1 << 10,
                      max_bytes: int = 1 << 22, factor: int = 4, device: str = "cpu", warm_up: int = 5, repeats: int = 20) -> dict[str, Any]:
    """Times each collective between ranks in this process, by size, with the sizes and the bandwidths of nccl-tests: ``collectives`` is a list of
    ``collective``, ``bytes``, ``count``, ``seconds``, ``algorithm_bytes_per_second``, ``bus_bytes_per_second`` and ``wrong``, the number of elements
    that are not what they must be.

    :param mesh: of the ranks: ``{"dp": 2, "tp": 4}``
    :param group: axes along which they communicate; none: all
    :param dtype: f32, f64, f16, bf16, i32 or i64
    :param min_bytes: the smallest size
    :param max_bytes: the largest
    :param factor: from one size to the next
    :param device: what the ranks run on: "cpu", or "cuda", a GPU each
    :param warm_up: launches that are not counted
    :param repeats: launches that are
    :raises InvalidArgument: an option is out of range
    :raises Unavailable: the device is "cuda", and there is none, or it cannot be used
    """
    options = new("collective_bench_options", min_bytes=min_bytes, max_bytes=max_bytes, factor=factor, dtype=int(dtype_of(dtype)), device=device_kind(device),
                  warm_up=warm_up or -1, repeats=repeats)
    set_array(options, "mesh_axes", list(axes_of(mesh)))
    set_array(options, "group", group)
    times: dict[str, Any] = json.loads(clib.shw_bench_collectives(context(), options))
    return times


def hardware(name: str = "h100") -> dict[str, Any]:
    """The complete description of a machine, to start another one from: :func:`compile` takes it as ``hardware=``.

    :raises InvalidArgument: the machine is unknown
    """
    described: dict[str, Any] = json.loads(clib.shw_hardware_to_json(context(), name, None))
    return described
