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

    Ctrl-C stops the call. It then repeats the search for about as long as it had run, and returns the best plan found in that time, unproven.
    If no plan was found in that time, it searches on until it has one. A second Ctrl-C raises KeyboardInterrupt.

    :param mesh: sizes of the axes by name, the outermost axis first: ``{"dp": 8, "tp": 8}``; None: one device
    :param hardware: a name of :func:`shardwise.hardware_names` (default "h100"), or a description as a dict
    :param memory: memory limit of one rank, in bytes or with a unit: "60GiB"
    :param progress: True: shows a line in a terminal or notebook; or a function that is called with a :class:`Progress`
    :param options:
        * ``inputs``, ``outputs``: one layout for all, "S(0)R"; or a dict of layouts by port. "free": the planner chooses
        * ``pins``: layouts of the nodes that match a pattern: ``{"param.layers.*.w1": "S(0)R", "op:softmax": "!P*"}``
        * ``without``: constraints to leave out, by their names in ``conflicts`` of errors
        * ``entries``: entries to plan in place of those of the graph, such as ``["forward", "backward"]``
        * ``buckets``: sizes of symbols at which entries are planned: ``{"cache": [16, 64]}``; for one entry: ``{"decode": {"cache": [16, 64]}}``
        * ``rules``: "full": all strategies that are correct; "compat": those of the reference planner, at its prices
        * ``strided=True``: offers strided shards, with the rules "full" only
        * ``param_budget``: how much of the parameters a rank may hold. "smallest" (default): the smallest shard of every parameter; "none": no
          limit; or a number in (0, 1]: on average at most this share
        * ``optimizer_factor``: bytes of optimizer state for each byte of a parameter; they count in the memory limit
        * ``recompute``: what the backward pass computes again instead of keeping it: "none", "cheap", "selective", "full" or "every:N" (all of
          every N-th block). "auto": as much as the memory limit requires. With "+gathered" appended ("full+gathered"), gathered parameters are
          kept. With "+first-add" appended, the first sum in each block that adds the block's input is kept
        * ``prefetch_bytes``, ``prefetch_depth``: limits for collectives that start early: the memory that they may take in addition (default
          512 MiB), and the number of compute steps between a collective and the first step that reads its result (default 256)
        * ``products_between_reductions``: the schedule may move products that compute gradients of weights to a later point. This limits the
          number of products between two reductions of gradients, unless the graph itself has more (default 8)
        * ``fuse_bytes``: gathers of parameters, and all-reduces of gradients, in one group of ranks are fused into collectives on buffers of at
          most this many bytes, if that makes the simulated step shorter (default: nothing is fused)
        * ``lend_outputs=True``: the memory of an output may hold scratch until the output is written, so the arena is smaller. Memory that a run
          is given for an output must be aligned to 256 bytes
        * ``host_memory``: bytes of host memory of a rank in which results of the forward pass may wait for the backward pass, with
          ``recompute="auto"`` (default: none)
        * ``grad_reduce_dtype``: gradients are cast to this dtype before they are reduced
        * ``overlap``: which communication counts in the objective. "none": all of it. "prefetch": communication that depends on parameters alone,
          or that only gradients depend on, counts with the factor ``prefetch_scale``. "bounded": gathers of parameters and reductions of gradients
          run beside the share ``bounded_share`` of the compute next to them, and only what exceeds it counts. "simulated": of several placements,
          the plan has the one with the shortest simulated step. Default: "none", but "simulated" for the optimum of :func:`compare`
        * ``time_limit``: in seconds. After it the plan gets the best placement found so far, unproven
        * ``gap``: the search ends at a placement that is proven to cost at most this share more than the optimum, such as 1e-4 (default: 1e-9)
        * ``threads``: the number of threads, at most; 0: as many as cores
        * ``einsum=False``: does not turn view-mm-view into einsum
        * ``keep_graph=False``: does not store the graph in the plan
    :raises InvalidArgument: the graph is malformed, or an option is out of range
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
    """The C library returns no plan when it is cancelled. A search does the same work every time, so a second one finds the same plan again."""
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
    """Plans a graph on every mesh that a number of devices can form. The best plan is the cheapest one. With ``overlap="simulated"``, it is the
    one with the shortest simulated step.

    :param devices: the number of devices, 1 to 2^20
    :param max_mesh_dims: the largest number of mesh axes, 1 to 6
    :param best: how many of the best meshes are needed. Another mesh is given up as soon as its bound shows that it is not one of them. 0: all
    :param each_batch: plans each mesh for every set of axes that could shard the first dim of the inputs
    :param threads: the number of threads, at most; 0: as many as cores
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
    """Plans a graph by well-known recipes, and compares these plans with the optimum. All plans go through the same passes and the same simulator.

    The optimum is the placement with the shortest simulated step, of several placements that include all recipes. With ``overlap`` "none",
    "prefetch" or "bounded", it is the cheapest of all placements.

    :param recipes: names of recipes: "ddp", "fsdp", "hsdp", "tp", "tp-sp", "fsdp-tp", "cp"; empty: all
    :param foreign: layouts from another source, to score as well: the result of :meth:`Plan.to_placements`, an export of AutoParallel, or
        a dict of layouts by name of a node, input or output
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
    """Solves a placement problem exactly, without a graph.

    :param problem: path of a file, or its bytes: JSON, plain or gzipped, as AutoParallel exports it ("ap-problem-1")
    :param iopddl: True: the problem is an instance of the IOPDDL contest instead
    :param tied: nodes with the same root get one common strategy
    :param time_limit: in seconds. After it the best solution found so far is returned, unproven, with its bound
    :param progress: as for :func:`shardwise.compile`
    :param threads: the number of threads, at most; None: as many as cores
    :raises InvalidArgument: the problem is malformed
    :raises FailedPrecondition: the problem has no solution
    """
    data = problem if isinstance(problem, bytes) else _read(problem)
    hook = Hook(progress)
    options = new("solution_options", flags=clib.SHW_SOLUTION_TIED if tied else 0, time_limit_s=time_limit, num_threads=threads,
                  format=clib.SHW_PROBLEM_FORMAT_IOPDDL if iopddl else clib.SHW_PROBLEM_FORMAT_AP, progress=hook)
    return Solution(hook.run(lambda: clib.shw_solution_create(context(), data, options)))


# ---- Files -------------------------------------------------------------------------------------------------


def load(source: str | os.PathLike[str] | bytes) -> Graph | Plan:
    """Reads a graph or a plan, from a file or from bytes.

    It reads four formats: files of ``Graph.save``, files of ``Plan.save``, PyTorch's joint graph in JSON (plain or gzipped), and the text of
    ``str(graph)``.

    :param source: path of a file, or its bytes
    :raises InvalidArgument: the bytes have none of these formats
    :raises DataLoss: the bytes are damaged
    :raises Unimplemented: the graph has operations that the library does not know; the message lists all of them
    """
    data = source if isinstance(source, bytes) else _read(source)
    try:
        return load_plan(data) if data[4:8] == b"SWPL" else load_graph(data)
    except Error as error:
        if not isinstance(source, bytes):
            error.message = f"{os.fspath(source)}: {error.message}"
        raise


def load_plan(source: str | os.PathLike[str] | bytes) -> Plan:
    """Reads a plan that ``Plan.save`` wrote. Raises the errors of :func:`load`."""
    data = source if isinstance(source, bytes) else _read(source)
    return Plan(clib.shw_plan_load(context(), data))


def load_graph(source: str | os.PathLike[str] | bytes) -> Graph:
    """Reads a graph in any of the graph formats of :func:`load`. Raises the errors of :func:`load`."""
    data = source if isinstance(source, bytes) else _read(source)
    if data[4:8] == b"SWGR":
        return Graph.from_bytes(data)
    is_json = data[:2] == b"\x1f\x8b" or data.lstrip()[:1] == b"{"
    form = clib.SHW_GRAPH_FORMAT_FX_JSON if is_json else clib.SHW_GRAPH_FORMAT_TEXT
    return Graph.from_bytes(clib.shw_graph_import(context(), form, data))


def load_onnx(source: str | os.PathLike[str] | bytes, *, sizes: Mapping[str, int | tuple[int, int]] | None = None,
              constants: bytes | None = None, plugin: str | None = None) -> tuple[Graph, dict[str, Tensor]]:
    """Converts an ONNX model to a graph. Returns the graph, and the values of its parameters by name, which ``Executor.run`` takes as inputs.

    :param source: path of a file, or its bytes
    :param sizes: the sizes that the model leaves open, by the model's names: a number, or ``(minimum, maximum)``, which makes a symbol
    :param constants: the bytes of a safetensors file with inputs of the model that become constants of the graph, such as a shape
    :param plugin: path of libshardwise_onnx.so; None: in the folder of the library
    :raises Unavailable: there is no libshardwise_onnx.so: the library was built without protobuf
    :raises InvalidArgument: the model is malformed, or `sizes` lacks a size that it leaves open; the message lists all of them
    :raises Unimplemented: the model has operators that the library does not know; the message lists all of them
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
    """Names of the machines that the library has cost tables for."""
    return [clib.shw_hardware_name(i) for i in range(clib.shw_hardware_count())]


def measure_hardware(device: str = "cpu", *, name: str | None = None) -> dict[str, Any]:
    """Measures this machine, and returns its description. With the result as ``hardware=``, :func:`compile` predicts how long plans take on this
    machine. A measurement takes some seconds and uses all cores or GPUs. Run nothing else meanwhile.

    :param device: the device that the ranks run on: "cpu", or "cuda" (NVIDIA GPUs)
    :param name: name of the description; None: "cpu-measured" or "cuda-measured"
    :raises Unavailable: the device is "cuda", and this machine has none, or it cannot be used
    :raises InvalidArgument: the device is unknown
    """
    calibration = clib.shw_calibration_create(context(), [], new("calibration_options", device=device, name=name))
    described: dict[str, Any] = json.loads(clib.shw_calibration_to_description(calibration))
    return described


def bench_collectives(mesh: Mapping[str, int], *, group: Sequence[str] = (), dtype: DTypeLike = DType.f32, min_bytes: int = 1 << 10,
                      max_bytes: int = 1 << 22, factor: int = 4, device: str = "cpu", warm_up: int = 5, repeats: int = 20) -> dict[str, Any]:
    """Times each collective between ranks in this process, at a series of sizes. Sizes and bandwidths are defined as in nccl-tests.

    In the result, ``collectives`` is a list of dicts with ``collective``, ``bytes``, ``count``, ``seconds``, ``algorithm_bytes_per_second``,
    ``bus_bytes_per_second`` and ``wrong``, the number of result elements that do not have the expected value.

    :param mesh: the mesh of the ranks: ``{"dp": 2, "tp": 4}``
    :param group: the axes along which the ranks communicate; empty: all
    :param dtype: f32, f64, f16, bf16, i32 or i64
    :param min_bytes: the smallest size
    :param max_bytes: the largest size
    :param factor: the factor from one size to the next, 2 or more
    :param device: the device that the ranks run on: "cpu", or "cuda": each rank on a GPU of its own
    :param warm_up: the number of launches before those that are timed
    :param repeats: the number of launches that are timed
    :raises InvalidArgument: an option is out of range
    :raises Unavailable: the device is "cuda", and this machine has none, or it cannot be used
    """
    options = new("collective_bench_options", min_bytes=min_bytes, max_bytes=max_bytes, factor=factor, dtype=int(dtype_of(dtype)), device=device_kind(device),
                  warm_up=warm_up or -1, repeats=repeats)
    set_array(options, "mesh_axes", list(axes_of(mesh)))
    set_array(options, "group", group)
    times: dict[str, Any] = json.loads(clib.shw_bench_collectives(context(), options))
    return times


def hardware(name: str = "h100") -> dict[str, Any]:
    """The complete description of a machine, which :func:`compile` takes as ``hardware=``. Edit it to describe another machine.

    :raises InvalidArgument: the machine is unknown
    """
    described: dict[str, Any] = json.loads(clib.shw_hardware_to_json(context(), name, None))
    return described
