"""Plans: what was decided, and questions about it."""

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

    ``print(plan)`` tells costs, layouts and memory. Tables are lists of dicts, which ``pandas.DataFrame`` takes; times are in modelled µs, memory
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
        """Costs and proof, sizes, memory: ``objective_us``, ``bound_us``, ``proven``, ``memory_peak_bytes``, …"""
        return get(self._handle, "plan", "plan_summary")

    @property
    def mesh(self) -> dict[str, int]:
        """Axes and their sizes, the outermost first."""
        made = {}
        for i in range(clib.shw_plan_num_mesh_axes(self._handle)):
            axis = new("mesh_axis")
            clib.shw_plan_get_mesh_axis(self._handle, i, axis)
            made[axis.name] = axis.size
        return made

    @property
    def num_ranks(self) -> int:
        """Number of ranks that it runs on."""
        count: int = clib.shw_plan_num_ranks(self._handle)
        return count

    @property
    def objective_us(self) -> float:
        """Modelled cost of a step."""
        cost: float = self.summary["objective_us"]
        return cost

    @property
    def proven(self) -> bool:
        """Whether no placement is cheaper under the cost model."""
        return bool(self.summary["proven"])

    @functools.cached_property
    def ports(self) -> Table:
        """The tensors that go in, come out, or stay: ``name``, ``role``, ``storage``, ``dtype``, ``dims`` of the whole tensor, ``local_dims`` of a
        rank's piece, ``layout``, ``updates`` (the number of the port that an output overwrites), ``symbolic_dims``."""
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
        """The ways to run it: ``name``, ``inputs`` and ``outputs`` (numbers of ports), ``after``, ``bucket_of``, ``symbol_sizes``, …"""
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
        """Sizes that are known at run time: ``name``, ``minimum``, ``maximum``, ``divisor``, ``hint``."""
        return table(self._handle, "plan", "symbol")

    @property
    def placements(self) -> Table:
        """The decision for every node: ``name``, ``op``, ``module_path``, ``operand_layouts``, ``result_layout``, ``compute_us``,
        ``communication_us``, ``transition_us``."""
        return [{**row, "phase": PHASES.get(row["phase"], "")} for row in table(self._handle, "plan", "plan_node")]

    @property
    def steps(self) -> Table:
        """The program of a rank: kernels and collectives, with ``wire_bytes`` and ``cost_us``."""
        return [{**row, "phase": PHASES.get(row["phase"], "")} for row in table(self._handle, "plan", "plan_step")]

    @property
    def collectives(self) -> Table:
        """How often each kind of collective runs, and what a rank sends."""
        return table(self._handle, "plan", "plan_collective")

    @property
    def memory(self) -> Table:
        """What the memory of a rank is made of at its fullest point: ``kind``, ``module_path``, ``bytes``."""
        return table(self._handle, "plan", "plan_memory_share")

    @property
    def phases(self) -> Table:
        """How long each part of the compilation took, in seconds; empty for a plan that was loaded."""
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
        """Everything that it says, as what ``json.loads`` gives."""
        found: dict[str, Any] = json.loads(self._text("json"))
        return found

    def to_placements(self) -> dict[str, Any]:
        """The placement of every node, for ``what_if(placements=…)``; nodes that are deleted from it are left to the planner."""
        found: dict[str, Any] = json.loads(self._text("placements"))
        return found

    def module_tree(self) -> str:
        """The modules of the graph as a tree, with their layouts, cost and memory; alike ones once."""
        return self._text("module_tree_text")

    def program_text(self) -> str:
        """The program of a rank: a line for each step."""
        return self._text("program_text")

    def trace(self, path: str | os.PathLike[str], entry: str | None = None) -> None:
        """Writes when each step would run, for ui.perfetto.dev.

        :param entry: its name; None: all, one after another
        """
        with open(path, "wb") as file:
            file.write(clib.shw_plan_to_trace(self._handle, entry))

    def bench(self, entry: str | None = None, *, device: str = "cpu", warm_up: int = 2, repeats: int = 10, whole: bool = False,
              graphs: bool = False) -> dict[str, Any]:
        """Times an entry on virtual ranks, on made-up inputs: ``seconds`` of a run, ``floor_seconds`` of its matrix products alone at the best
        rate of this machine, and for each of ``ranks`` its ``kernels`` with their time, what the plan says that they take on its ``hardware``
        (``planned_seconds``), FLOP/s and bytes/s.

        :param entry: its name; None: the first
        :param device: what the ranks run on: "cpu", "cuda", a GPU each, or "null", which computes nothing
        :param warm_up: runs that are not counted
        :param repeats: runs that are
        :param whole: only runs as a whole, with nothing timed inside them: no floor, and ranks without kernels
        :param graphs: as CUDA graphs, which are timed as a whole
        :raises Unavailable: the device is "cuda", and there is none, or it cannot be used
        :raises Unimplemented: ``graphs`` on a device that has none
        """
        from .executor import device_kind

        options = new("bench_options", entry=entry, device=device_kind(device), warm_up=warm_up or -1, repeats=repeats)
        options.flags = (clib.SHW_BENCH_WHOLE if whole else 0) | (clib.SHW_BENCH_GRAPHS if graphs else 0)
        result: dict[str, Any] = json.loads(clib.shw_plan_bench(self._handle, options))
        return result

    def report(self, path: str | os.PathLike[str], other: Plan | None = None, *, pareto: Pareto | None = None, progress: ProgressLike = None) -> None:
        """Writes a report: an HTML file that needs no other and no network.

        Where the plan knows what it was made of, the report tells why each tensor has its layout, and what every other one would cost; a plan
        that was loaded needs :meth:`with_graph` for that.

        :param other: to compare with
        :param pareto: to show: ``plan.pareto()``
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
        """Writes ``to_bytes()`` to a file, a .swplan."""
        with open(path, "wb") as file:
            file.write(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_bytes(), self._graph, self._options)

    # ---- Questions ----

    def with_graph(self, graph: Any, **options: Any) -> Plan:
        """The same plan with the graph and the options that it was made of, for questions about a plan that was loaded.

        :param graph: a :class:`Graph` or its bytes
        :param options: those of :func:`shardwise.compile`, without the mesh
        """
        data = graph if isinstance(graph, bytes) else graph.to_bytes()
        return Plan(self._handle, graph=data, options={"mesh": self.mesh, **options})

    def _ask(self, progress: ProgressLike, question: Callable[[Any, Hook], Any]) -> Any:
        """Makes a call on the planner, which takes one at a time. It is made at the first question."""
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
        """Why a node has its layout, and what every other one would cost; without a node: what the plan pays for.

        :param node: its name, or its name as an input or output: "param.w1", "output"
        :param layout: to be solved in any case: "S(0)R"
        :param forced: how many layouts to solve, those with the lowest bounds; 0: 3
        :param changes: those of :meth:`what_if`
        :raises NotFound: there is no such node; the message offers names like it
        :raises InvalidArgument: no strategy of the node has the layout
        :raises Unimplemented: no node, with ``overlap="simulated"``
        """
        if node is None:
            made = self._ask(progress, lambda planner, hook: clib.shw_planner_explain_plan(
                planner, planner_changes(progress=hook, **changes)))
            return PlanExplanation(made)
        asked = new("explanation_options", layout=layout, num_forced=forced)
        return Explanation(self._ask(progress, lambda planner, hook: clib.shw_planner_explain(
            planner, node, asked, planner_changes(progress=hook, **changes))))

    def what_if(self, *, progress: ProgressLike = None, **changes: Any) -> Comparison:
        """The cheapest plan under other constraints, compared with this one; it is the comparison's ``after``.

        :param changes: ``memory``, ``param_budget``, ``time_limit``; ``inputs``, ``outputs`` and ``pins`` (in addition); ``without``; and
            ``placements``, of :meth:`to_placements`
        :raises FailedPrecondition: no placement satisfies them; ``conflicts`` names them
        """
        handle = self._ask(progress, lambda planner, hook: clib.shw_planner_compile(planner, planner_changes(progress=hook, **changes)))
        return self.diff(Plan(handle))

    def diff(self, after: Plan) -> Comparison:
        """How another plan differs from this one, node by node."""
        return Comparison(clib.shw_plan_compare(self._handle, after._handle), self, after)

    def compare(self, *others: Plan) -> Table:
        """This plan and others side by side: a row for each with its mesh, costs, bound and memory."""
        columns = ("objective_us", "compute_us", "communication_us", "bound_us", "proven", "num_ranks", "hardware", "memory_peak_bytes",
                   "memory_program_bytes")
        rows = []
        for plan in (self, *others):
            row = plan.summary
            rows.append({"mesh": ",".join(f"{name}={size}" for name, size in plan.mesh.items()), **{c: row[c] for c in columns}})
        return rows

    def pareto(self, points: int = 12, *, progress: ProgressLike = None, **changes: Any) -> Pareto:
        """Step time against memory.

        The points are of every limit, from none to the lowest; this plan's own does not count.

        :param points: to find, if so many exist: 2 to 1000
        :param changes: those of :meth:`what_if`, without a limit
        """
        asked = new("pareto_options", num_points=points)
        if self._options is not None and self._options.get("memory") is not None:
            return Plan(self._handle, graph=self._graph, options={**self._options, "memory": None}).pareto(points, progress=progress, **changes)
        return Pareto(self._ask(progress, lambda planner, hook: clib.shw_planner_pareto(
            planner, asked, planner_changes(progress=hook, **changes))))

    def search(self, devices: int | None = None, **options: Any) -> Search:
        """The same graph on every mesh that a number of devices can form: :func:`shardwise.search`.

        :param devices: None: as many as this plan has
        """
        from ._compile import search

        if self._graph is None or self._options is None:
            raise ValueError("a plan that was loaded does not tell what it was made of: plan.with_graph(graph, …) adds that")
        free = {"mesh", "inputs", "outputs", "pins"}  # they name axes of this plan's mesh
        kept = {name: value for name, value in self._options.items() if name not in free}
        return search(self._graph, devices or self.num_ranks, **{**kept, **options})

    # ---- Running ----

    def executor(self, **options: Any) -> Executor:
        """An :class:`Executor` of this plan, on virtual ranks unless ``world=`` is given."""
        from .executor import Executor

        return Executor(self, **options)

    def inputs_of(self, tensors: Mapping[str, Tensor], entry: str | None = None) -> dict[str, Tensor]:
        """Those of a file's tensors that an entry takes as inputs, by port: of :func:`shardwise.load_tensors`. A port that has no name in the
        graph, ``input.0``, takes the file's ``input.*`` in the order of their names; complex numbers are pairs of f32 in the last dim."""
        return match(self, self.entries[self._entry(entry)]["inputs"], tensors)

    def outputs_of(self, tensors: Mapping[str, Tensor], entry: str | None = None) -> dict[str, Tensor]:
        """Those of a file's tensors that have the names of an entry's outputs: expected values, for :meth:`verify`."""
        numbers = self.entries[self._entry(entry)]["outputs"]
        return {self.ports[i]["name"]: tensors[self.ports[i]["name"]] for i in numbers if self.ports[i]["name"] in tensors}

    def verify(self, inputs: Mapping[str, Any], results: Mapping[str, Any], expected: Mapping[str, Any] | None = None, *,
               entry: str | None = None, state: Mapping[str, tuple[Any, Any]] | None = None) -> Verification:
        """Judges the results of a run by the rounding error of their own computation. It takes about a dozen runs on the CPU.

        :param inputs: of the run, whole tensors by name
        :param results: what it gave
        :param expected: results of another program for the same inputs, by name; they are judged alike
        :param state: of each port that the executor keeps its value before the run and after it
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
        """The number of the smallest bucket of an entry that sizes of symbols fit into.

        :raises OutOfRange: a size is below the symbol's minimum, or larger than the largest bucket
        :raises InvalidArgument: a size is missing, or of a symbol that the entry does not depend on
        """
        rows: Sequence[Any] = [new("symbol_size", symbol=name, size=size) for name, size in sizes.items()]
        number: int = clib.shw_plan_choose_bucket(self._handle, entry, rows)
        return number


def _restore(data: bytes, graph: bytes | None, options: dict[str, Any] | None) -> Plan:
    return Plan(clib.shw_plan_load(context(), data), graph=graph, options=options)
