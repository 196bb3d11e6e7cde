"""Plans: their placements and costs, and questions about them."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _html
from ._native import as_dict, clib, context, get, new, set_array, table
from ._progress import Hook, ProgressLike, interruptibly
from .answers import Comparison, Explanation, Pareto, PlanExplanation, Row, Search, Table, Verification
from .dtypes import DType
from .options import compile_options, planner_changes
from .tensor_file import match

if TYPE_CHECKING:
    from ._tensor import Tensor
    from .executor import Executor

ROLES = {value: name.removeprefix("SHW_ROLE_").lower() for name, value in vars(clib).items() if name.startswith("SHW_ROLE_")}
STORAGES = {value: name.removeprefix("SHW_STORAGE_").lower() for name, value in vars(clib).items() if name.startswith("SHW_STORAGE_")}
PHASES = {clib.SHW_PHASE_FORWARD: "forward", clib.SHW_PHASE_BACKWARD: "backward"}


class Plan:
    """The program that every rank runs, with the cheapest placement of every tensor. Immutable; any thread may use it.

    ``print(plan)`` shows costs, layouts and memory. Tables are lists of dicts, which ``pandas.DataFrame`` takes. Times are in modelled µs. Memory is
    in bytes of one rank.
    """

    def __init__(self, handle: Any, *, graph: bytes | None = None, options: Mapping[str, Any] | None = None) -> None:
        self._handle = handle
        self._graph = graph
        self._options = None if options is None else dict(options)
        self._planner_lock = threading.Lock()
        self._planner: Any = None

    # ---- What it says ----

    @property
    def summary(self) -> Row:
        """Costs, proof, size and memory: ``objective_us``, ``bound_us``, ``proven``, ``memory_peak_bytes``, …"""
        return get(self._handle, "plan", "plan_summary")

    @property
    def mesh(self) -> dict[str, int]:
        """The mesh axes and their sizes, the outermost axis first."""
        made = {}
        for i in range(clib.shw_plan_num_mesh_axes(self._handle)):
            axis = new("mesh_axis")
            clib.shw_plan_get_mesh_axis(self._handle, i, axis)
            made[axis.name] = axis.size
        return made

    @property
    def num_ranks(self) -> int:
        """Number of ranks that the plan runs on."""
        count: int = clib.shw_plan_num_ranks(self._handle)
        return count

    @property
    def objective_us(self) -> float:
        """Modelled cost of a step, in µs."""
        cost: float = self.summary["objective_us"]
        return cost

    @property
    def proven(self) -> bool:
        """Whether it is proven that no placement is cheaper under the cost model."""
        return bool(self.summary["proven"])

    @functools.cached_property
    def ports(self) -> Table:
        """The inputs, outputs, state and constants: ``name``, ``role``, ``storage``, ``dtype``, ``dims`` of the whole tensor, ``local_dims`` of a
        rank's piece, ``layout``, ``updates`` (the number of the port whose memory an output overwrites), ``symbolic_dims``."""
        rows = table(self._handle, "plan", "plan_port")
        for row in rows:
            row["role"] = ROLES.get(row["role"], "")
            row["storage"] = STORAGES.get(row["storage"], "")
            row["dtype"] = DType(row["dtype"])
        return rows

    @property
    def layouts(self) -> dict[str, str]:
        """The layout of every port, by name."""
        return {row["name"]: row["layout"] for row in self.ports}

    @functools.cached_property
    def entries(self) -> Table:
        """The entries, the ways to run the plan: ``name``, ``inputs`` and ``outputs`` (numbers of ports), ``after``, ``bucket_of``,
        ``symbol_sizes``, …"""
        symbols = [row["name"] for row in self.symbols]
        rows = []
        for i in range(clib.shw_plan_num_entries(self._handle)):
            record = new("plan_entry")
            clib.shw_plan_get_entry(self._handle, i, record)
            row = as_dict(record)
            sizes = clib.entry_symbol_sizes(record, len(symbols))
            row["symbol_sizes"] = {name: size for name, size in zip(symbols, sizes or (), strict=False) if size >= 0}
            rows.append(row)
        return rows

    @functools.cached_property
    def symbols(self) -> Table:
        """The symbols of the graph, sizes that are known only at run time: ``name``, ``minimum``, ``maximum``, ``divisor``, ``hint``."""
        return table(self._handle, "plan", "symbol")

    @property
    def placements(self) -> Table:
        """The placement of every node: ``name``, ``op``, ``module_path``, ``operand_layouts``, ``result_layout``, ``compute_us``,
        ``communication_us``, ``transition_us``."""
        return [{**row, "phase": PHASES.get(row["phase"], "")} for row in table(self._handle, "plan", "plan_node")]

    @property
    def steps(self) -> Table:
        """The program of a rank: kernels and collectives, with ``wire_bytes`` and ``cost_us``."""
        return [{**row, "phase": PHASES.get(row["phase"], "")} for row in table(self._handle, "plan", "plan_step")]

    @property
    def collectives(self) -> Table:
        """For each kind of collective: the number of steps, and the bytes that one rank sends."""
        return table(self._handle, "plan", "plan_collective")

    @property
    def memory(self) -> Table:
        """The parts of the memory of a rank at the point of a step where most is in use: ``kind``, ``module_path``, ``bytes``."""
        return table(self._handle, "plan", "plan_memory_share")

    @property
    def phases(self) -> Table:
        """The duration of each part of the compilation, in seconds; empty for a plan that was loaded."""
        return table(self._handle, "plan", "plan_phase")

    # ---- Reports ----

    def __str__(self) -> str:
        return self._text("text")

    def __repr__(self) -> str:
        row = self.summary
        axes = ",".join(f"{name}={size}" for name, size in self.mesh.items()) or "one device"
        proof = "proven optimal" if row["proven"] else f"bound {row['bound_us']:.1f} µs"
        return f"<shardwise.Plan for {axes} on {row['hardware']}: {row['objective_us']:.1f} µs, {proof}>"

    def _repr_html_(self) -> str:
        return _html.plan(self.mesh, self.summary, self.ports)

    def _text(self, what: str) -> str:
        text: bytes = getattr(clib, f"shw_plan_to_{what}")(self._handle)
        return text.decode()

    def to_json(self) -> dict[str, Any]:
        """Everything that the plan reports, as a dict of JSON values."""
        found: dict[str, Any] = json.loads(self._text("json"))
        return found

    def to_placements(self) -> dict[str, Any]:
        """The placement of every node, for ``what_if(placements=…)``. If you delete a node from it, the planner chooses that node's placement."""
        found: dict[str, Any] = json.loads(self._text("placements"))
        return found

    def module_tree(self) -> str:
        """The modules of the graph as a tree, with their layouts, cost and memory. Modules that are alike are shown once."""
        return self._text("module_tree_text")

    def program_text(self) -> str:
        """The program of a rank as text, one line for each step."""
        return self._text("program_text")

    def trace(self, path: str | os.PathLike[str], entry: str | None = None) -> None:
        """Writes a trace that shows when each step would run on a rank, for ui.perfetto.dev.

        :param path: the file to write
        :param entry: name of an entry; None: all entries, one after another
        """
        with open(path, "wb") as file:
            file.write(clib.shw_plan_to_trace(self._handle, entry))

    def bench(self, entry: str | None = None, *, device: str = "cpu", warm_up: int = 2, repeats: int = 10, whole: bool = False,
              graphs: bool = False) -> dict[str, Any]:
        """Times an entry on virtual ranks in this process, on made-up inputs.

        The result has ``seconds``, the time of a run; ``floor_seconds``, the time of its matrix products alone at the best rate of this machine;
        and ``ranks``. Each rank has its ``kernels``, with their time, FLOP/s and bytes/s, and the time that the plan predicts for them on its
        ``hardware`` (``planned_seconds``).

        :param entry: name of the entry; None: the first
        :param device: the device that the ranks run on: "cpu"; "cuda": each rank on a GPU of its own; or "null", which computes nothing
        :param warm_up: the number of runs before those that are timed
        :param repeats: the number of runs that are timed
        :param whole: times only whole runs. The result then has no ``floor_seconds``, and its ranks have no kernels
        :param graphs: launches runs as CUDA graphs, and times only whole runs
        :raises Unavailable: the device is "cuda", and this machine has none, or it cannot be used
        :raises Unimplemented: ``graphs`` on a device that captures no graphs
        """
        from .executor import device_kind

        options = new("bench_options", entry=entry, device=device_kind(device), warm_up=warm_up or -1, repeats=repeats)
        options.flags = (clib.SHW_BENCH_WHOLE if whole else 0) | (clib.SHW_BENCH_GRAPHS if graphs else 0)
        result: dict[str, Any] = json.loads(clib.shw_plan_bench(self._handle, options))
        return result

    def report(self, path: str | os.PathLike[str], other: Plan | None = None, *, pareto: Pareto | None = None, progress: ProgressLike = None) -> None:
        """Writes a report: one HTML file that needs no other file and no network.

        If the plan has its graph and options, the report explains why each tensor has its layout, and what every other layout would cost. A plan
        that was loaded gets them from :meth:`with_graph`.

        :param path: the file to write
        :param other: a plan to compare this one with
        :param pareto: the result of ``plan.pareto()``, to show in the report
        :raises FailedPrecondition: the graph and the options give another plan than this one
        """
        more = (None if other is None else other._handle, None if pareto is None else pareto._handle)
        if self._graph is None or self._options is None:
            page = clib.shw_plan_to_report(self._handle, *more)
        else:
            page = self._ask(progress, lambda planner, hook: clib.shw_planner_to_report(
                planner, planner_changes(progress=hook), self._handle, *more))
        with open(path, "wb") as file:
            file.write(page)

    # ---- Bytes ----

    def to_bytes(self) -> bytes:
        """The plan as bytes. Equal graphs, options and library versions give equal bytes."""
        data: bytes = clib.shw_plan_save(self._handle)
        return data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_bytes()`` to a .swplan file."""
        with open(path, "wb") as file:
            file.write(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_bytes(), self._graph, self._options)

    # ---- Questions ----

    def with_graph(self, graph: Any, **options: Any) -> Plan:
        """This plan together with the graph and the options that it was made from. A plan that was loaded needs them to answer questions.

        :param graph: a :class:`Graph` or its bytes
        :param options: those of :func:`shardwise.compile`, without the mesh
        """
        data = graph if isinstance(graph, bytes) else graph.to_bytes()
        return Plan(self._handle, graph=data, options={"mesh": self.mesh, **options})

    def _ask(self, progress: ProgressLike, question: Callable[[Any, Hook], Any]) -> Any:
        """Makes a call on the planner, one at a time. The first question creates the planner."""
        if self._graph is None or self._options is None:
            raise ValueError("a plan that was loaded does not tell what it was made of: plan.with_graph(graph, …) adds that")
        options = self._options
        hook = Hook(progress)
        with self._planner_lock:
            if self._planner is None:
                wanted = compile_options(progress=hook, **options)
                self._planner = hook.run(lambda: clib.shw_planner_create(context(), self._graph, wanted))
            planner = self._planner
            return hook.run(lambda: question(planner, hook))

    def explain(self, node: str | None = None, layout: str | None = None, *, forced: int = 0, progress: ProgressLike = None,
                **changes: Any) -> Explanation | PlanExplanation:
        """Explains why a node has its layout, and what every other layout would cost. Without a node, explains the costs of the whole plan.

        Every other layout gets a lower bound. For the layouts with the lowest bounds, and for `layout`, the problem is also solved again.

        :param node: name of the node, or its name as an input or output: "param.w1", "output"
        :param layout: a layout to solve for in any case: "S(0)R"
        :param forced: the number of layouts to solve for, those with the lowest bounds; 0: 3
        :param changes: those of :meth:`what_if`
        :raises NotFound: there is no such node; the message offers names like it
        :raises InvalidArgument: no strategy of the node has the layout
        :raises Unimplemented: `node` is None, and the plan has ``overlap="simulated"``
        """
        if node is None:
            made = self._ask(progress, lambda planner, hook: clib.shw_planner_explain_plan(
                planner, planner_changes(progress=hook, **changes)))
            return PlanExplanation(made)
        asked = new("explanation_options", layout=layout, num_forced=forced)
        return Explanation(self._ask(progress, lambda planner, hook: clib.shw_planner_explain(
            planner, node, asked, planner_changes(progress=hook, **changes))))

    def what_if(self, *, progress: ProgressLike = None, **changes: Any) -> Comparison:
        """Finds the cheapest plan under other constraints, and compares it with this one. The new plan is ``after`` of the comparison.

        :param changes: ``memory``, ``param_budget`` and ``time_limit`` in place of the plan's options; ``inputs``, ``outputs``, ``pins`` and
            ``without`` in addition to them; ``placements``: the result of :meth:`to_placements`, edited
        :raises FailedPrecondition: no placement satisfies all constraints; ``conflicts`` names those that cannot hold together
        """
        handle = self._ask(progress, lambda planner, hook: clib.shw_planner_compile(planner, planner_changes(progress=hook, **changes)))
        return self.diff(Plan(handle))

    def diff(self, after: Plan) -> Comparison:
        """How another plan differs from this one, node by node."""
        return Comparison(clib.shw_plan_compare(self._handle, after._handle), self, after)

    def compare(self, *others: Plan) -> Table:
        """Compares this plan and others: a row for each, with its mesh, costs, bound and memory."""
        columns = ("objective_us", "compute_us", "communication_us", "bound_us", "proven", "num_ranks", "hardware", "memory_peak_bytes",
                   "memory_program_bytes")
        rows = []
        for plan in (self, *others):
            row = plan.summary
            rows.append({"mesh": ",".join(f"{name}={size}" for name, size in plan.mesh.items()), **{c: row[c] for c in columns}})
        return rows

    def pareto(self, points: int = 12, *, progress: ProgressLike = None, **changes: Any) -> Pareto:
        """Finds the cheapest placements under a series of memory limits, from no limit to the lowest peak. This plan's own memory limit does not
        apply.

        :param points: the number of points to find, 2 to 1000; there may be fewer
        :param changes: those of :meth:`what_if`, without ``memory``
        """
        asked = new("pareto_options", num_points=points)
        if self._options is not None and self._options.get("memory") is not None:
            return Plan(self._handle, graph=self._graph, options={**self._options, "memory": None}).pareto(points, progress=progress, **changes)
        return Pareto(self._ask(progress, lambda planner, hook: clib.shw_planner_pareto(
            planner, asked, planner_changes(progress=hook, **changes))))

    def search(self, devices: int | None = None, **options: Any) -> Search:
        """Plans the same graph on every mesh that a number of devices can form: :func:`shardwise.search`.

        :param devices: the number of devices; None: as many as this plan has ranks
        :param options: those of :func:`shardwise.search`, in place of this plan's options
        """
        from ._compile import search

        if self._graph is None or self._options is None:
            raise ValueError("a plan that was loaded does not tell what it was made of: plan.with_graph(graph, …) adds that")
        free = {"mesh", "inputs", "outputs", "pins"}  # they name axes of this plan's mesh
        kept = {name: value for name, value in self._options.items() if name not in free}
        return search(self._graph, devices or self.num_ranks, **{**kept, **options})

    # ---- Running ----

    def executor(self, **options: Any) -> Executor:
        """Creates an :class:`Executor` of this plan, on virtual ranks unless ``world=`` is given."""
        from .executor import Executor

        return Executor(self, **options)

    def inputs_of(self, tensors: Mapping[str, Tensor], entry: str | None = None) -> dict[str, Tensor]:
        """The tensors of a file that an entry takes as inputs, by port name.

        A port that has no name in the graph, such as ``input.0``, takes the tensor at its position among the file's tensors ``input.*``, sorted by
        name. Complex numbers are stored as pairs of f32 in the last dim.

        :param tensors: the result of :func:`shardwise.load_tensors`
        :param entry: name of the entry; None: the first"""
        return match(self, self.entries[self._entry(entry)]["inputs"], tensors)

    def outputs_of(self, tensors: Mapping[str, Tensor], entry: str | None = None) -> dict[str, Tensor]:
        """The tensors of a file that have the names of an entry's outputs. :meth:`verify` takes them as expected values."""
        numbers = self.entries[self._entry(entry)]["outputs"]
        return {self.ports[i]["name"]: tensors[self.ports[i]["name"]] for i in numbers if self.ports[i]["name"] in tensors}

    def verify(self, inputs: Mapping[str, Any], results: Mapping[str, Any], expected: Mapping[str, Any] | None = None, *,
               entry: str | None = None, state: Mapping[str, tuple[Any, Any]] | None = None) -> Verification:
        """Judges the results of a run by the rounding error of their own computation. This takes about a dozen runs on the CPU.

        :param inputs: the inputs of the run, whole tensors by name
        :param results: the results of the run, by name
        :param expected: results of another program for the same inputs, by name; they are judged in the same way
        :param entry: name of the entry that was run; None: the first
        :param state: for each port that the executor keeps, by name: its value before the run, and its value after the run
        :raises FailedPrecondition: the plan was made with ``keep_graph=False``
        :raises Unimplemented: the entry runs after another one, or an operation has no form in f64
        """
        from .executor import whole_tensors

        number = self._entry(entry)
        row = self.entries[number]
        options = new("verification_options", entry=number)
        set_array(options, "inputs", whole_tensors(self, row["inputs"], inputs))
        set_array(options, "outputs", whole_tensors(self, row["outputs"], results))
        if expected is not None:
            set_array(options, "expected", whole_tensors(self, row["outputs"], expected))
        pairs = []
        for name, (before, after) in (state or {}).items():
            port = next(i for i, p in enumerate(self.ports) if p["name"] == name)
            first, second = (whole_tensors(self, [port], {name: value})[0] for value in (before, after))
            pairs.append(new("verification_state", port=port, before=first, after=second))
        set_array(options, "state", pairs)

        def call(cancel: Any) -> Any:
            options.cancel = cancel
            return clib.shw_verification_create(self._handle, options)

        return Verification(interruptibly(call))

    def _entry(self, name: str | None) -> int:
        number: int = 0 if name is None else clib.shw_plan_find_entry(self._handle, name)
        return number

    def choose_bucket(self, entry: str, sizes: Mapping[str, int]) -> int:
        """The number of the smallest bucket of an entry into which these sizes of symbols fit.

        :raises OutOfRange: a size is below the symbol's minimum, or larger than the largest bucket
        :raises InvalidArgument: a size is missing, or the entry does not depend on a symbol
        """
        rows: Sequence[Any] = [new("symbol_size", symbol=name, size=size) for name, size in sizes.items()]
        number: int = clib.shw_plan_choose_bucket(self._handle, entry, rows)
        return number


def _restore(data: bytes, graph: bytes | None, options: dict[str, Any] | None) -> Plan:
    return Plan(clib.shw_plan_load(context(), data), graph=graph, options=options)
