"""Running plans."""

from __future__ import annotations

import atexit
import functools
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from ._native import clib, context, get, new, set_array
from ._tensor import Tensor, adapt
from .entry import Entry, names_of
from .errors import Error, InvalidArgument
from .plan import Plan
from .regions import Bodies, Body
from .results import Results, Sharded
from .run import DISPATCHER, Run
from .world import World

DEVICES: dict[str, int] = {"cpu": clib.SHW_DEVICE_CPU, "cuda": clib.SHW_DEVICE_CUDA, "null": clib.SHW_DEVICE_NULL}

Inputs = Mapping[str, Any] | Sequence[Any]
"""Tensors by name ("x" or "input.x"), or in the order of the entry's inputs."""


def device_kind(device: str) -> int:
    """The library's number of a kind of device.

    :raises InvalidArgument: there is no such kind
    """
    if device not in DEVICES:
        raise InvalidArgument(f"device {device!r} is none of {', '.join(DEVICES)}")
    return DEVICES[device]


LIVE: weakref.WeakSet[Executor] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Stops the threads of ranks, which must not compute while the process unloads the libraries that they use."""
    for executor in list(LIVE):
        executor._stop()
    DISPATCHER.stop()


class Executor:
    """Runs a plan on the ranks of this process. It holds their kernels, memory, streams and state.

    Whole tensors go in and come out. A rank's piece is not copied if it can be used in the tensor's memory as it is: on one rank, or if the tensor is
    replicated, or sharded along the first dim alone. Any thread may call the methods. Runs take place one after another, in the order in which they
    begin.

    :param plan: the plan to run
    :param world: the ranks that it runs on; None: virtual ranks in this process
    :param device: "cpu"; "cuda": NVIDIA GPUs; or "null", which computes nothing, for dry runs
    :param time_limit: time limit of a run, in seconds; None: no limit
    :param max_in_flight: the number of runs that may be unfinished at once; a further run first waits for the oldest of them to end
    :param regions: bodies of manual regions (``local_map``), by name: functions of a :class:`RegionCall` and a rank's pieces
    :raises FailedPrecondition: the plan is for another number of ranks
    :raises Unimplemented: a step has no kernel, or a manual region has no body
    """

    def __init__(self, plan: Plan, world: World | None = None, *, device: str = "cpu", time_limit: float | None = None,
                 max_in_flight: int = 4, regions: Mapping[str, Body] | None = None) -> None:
        kind = device_kind(device)
        if max_in_flight < 1:
            raise ValueError(f"max_in_flight is {max_in_flight}, expected 1 to 1024")
        self.plan = plan
        self.world = world or World.virtual(plan.num_ranks)
        self._device = clib.shw_device_create(context(), kind, 0)
        self._ranks = tuple(self.world.local_ranks)
        options = new("executor_options", device=self._device, time_limit_ns=None if time_limit is None else int(time_limit * 1e9),
                      max_in_flight=max_in_flight)
        self._bodies = Bodies(regions or {})
        self._raised: tuple[int, BaseException] | None = None
        set_array(options, "regions", self._bodies.records())
        handles = tuple(clib.shw_executor_create(plan._handle, self.world._handle, rank, options) for rank in self._ranks)
        self._runner = clib._clib.Runner(plan._handle, handles, self._ranks, self._device, self.device_info["host_access"], max_in_flight)
        self._entries = {row["name"]: Entry(plan, number) for number, row in enumerate(plan.entries)}
        self._first = next(iter(self._entries.values()))
        self._all_local = len(self._ranks) == plan.num_ranks
        self.state = State(self, handles)
        self._process = os.getpid()
        LIVE.add(self)

    def run(self, inputs: Inputs = (), entry: str | None = None, *, sizes: Mapping[str, int] | None = None, gather: bool = True,
            session: Session | None = None) -> Results:
        """Runs an entry once on every local rank, and waits until the run has ended.

        :param inputs: whole tensors, by name or in order, with the shapes and dtypes of the plan's ports: anything that
            :func:`shardwise.tensor` takes; or :class:`Sharded`, pieces that are already on their ranks. Inputs are not modified
        :param entry: name of the entry; None: the plan's first. If the entry has buckets, the smallest bucket into which the inputs fit is run:
            inputs are padded with zeros, and results are cut to size
        :param sizes: sizes of symbols, for entries with buckets; None: they follow from the inputs' shapes
        :param gather: True: results are whole tensors; if the world has other processes, results that no rank holds whole are :class:`Sharded`.
            False: all results stay on their ranks, as :class:`Sharded`
        :param session: the session to run in; None: the executor's own
        :return: the outputs, by name or by position; None for a gradient that does not exist
        :raises TypeError: an input does not have the port's dtype, or is not a tensor
        :raises ValueError: an input does not have the port's shape, is missing or is unknown
        :raises DeadlineExceeded: the run exceeded the time limit, or a rank did not arrive
        :raises FailedPrecondition: an entry that must run before this one has not run in the session
        :raises KeyboardInterrupt: Ctrl-C; the run was stopped, and the executor can be used again
        """
        known, values, actual = self._prepare(inputs, entry, sizes)
        try:
            made = self._runner.run(known.number, values, None if session is None else session._handles, gather)
        except Error as error:
            raise self._cause_of(error, self._runner.epoch) from None
        return self._results(known, gather, actual, made)

    def start(self, inputs: Inputs = (), entry: str | None = None, *, sizes: Mapping[str, int] | None = None, gather: bool = True,
              session: Session | None = None) -> Run:
        """Starts a run, and returns without waiting for its end. If ``max_in_flight`` runs are unfinished, it first waits for one of them.

        Inputs are copied, so you may overwrite their memory at once. :class:`Sharded` inputs are not copied. Runs take place in the order in which
        they are started. If a run fails, the runs started after it fail too. The failure is reported when you wait for one of them, or by the next
        call that begins a run. After that the executor can be used again.

        :param inputs: as in :meth:`run`, like all other parameters
        :return: the run; wait for it with :meth:`Run.result` or ``await``
        """
        known, values, actual = self._prepare(inputs, entry, sizes)
        try:
            native = self._runner.start(known.number, values, None if session is None else session._handles)
        except Error as error:
            raise self._cause_of(error, self._runner.epoch) from None
        return Run(self, native, gather, functools.partial(self._results, known, gather, actual))

    def _prepare(self, inputs: Inputs, entry: str | None, sizes: Mapping[str, int] | None) -> tuple[Entry, list[Any], Mapping[str, int] | None]:
        """The entry to run, its inputs in order, and the symbols' sizes to cut its results to (None if it has no buckets)."""
        known = self._first if entry is None else self._entries.get(entry)
        if known is None or sizes is not None:
            return self._choose_bucket(inputs, (entry or "") if known is None else known.bucket_of or known.name, sizes)
        return known, known.in_order(inputs) if isinstance(inputs, Mapping) else list(inputs), None

    def _choose_bucket(self, inputs: Inputs, entry: str, sizes: Mapping[str, int] | None) -> tuple[Entry, list[Any], Mapping[str, int]]:
        """As :meth:`_prepare`, for an entry with buckets."""
        buckets = [e for e in self._entries.values() if e.bucket_of == entry]
        if not buckets:
            raise ValueError(f"there is no entry {entry!r}; the plan has {', '.join(self._entries)}")
        values = buckets[0].in_order(inputs)
        actual = dict(sizes) if sizes is not None else buckets[0].sizes_of(values)
        number = self.plan.choose_bucket(entry, actual)
        chosen = next(e for e in buckets if e.number == number)
        return chosen, chosen.padded(values), actual

    def _results(self, known: Entry, gather: bool, actual: Mapping[str, int] | None, made: list[Any]) -> Results:
        if not gather or not self._all_local:
            made = [Sharded(self, port, value) if isinstance(value, tuple) else value for port, value in zip(known.outputs, made, strict=True)]
        results = Results(known.output_names, made)
        return known.cut(results, actual) if actual is not None and gather else results

    def _cause_of(self, error: BaseException, epoch: int) -> BaseException:
        """The exception to raise for a failed run: what the body of a region raised, if one did; otherwise `error`. All runs that failed together
        raise the same exception."""
        if epoch == self._runner.epoch:
            raised = self._bodies.take_error()
            if raised is not None:
                self._raised = epoch, raised
        return self._raised[1] if self._raised is not None and self._raised[0] == epoch else error

    def shard(self, port: str, value: Any, entry: str | None = None) -> Sharded:
        """Cuts a tensor into the pieces of the local ranks. Many runs can take the result as an input.

        :param port: name of the input: "x" or "input.x"
        :param value: the whole tensor
        :param entry: name of the entry that the input belongs to; None: the plan's first
        """
        known = self._first if entry is None else self._entries[entry]
        number = known.inputs[known.position(port)]
        row = self.plan.ports[number]
        whole = value if isinstance(value, Tensor) else adapt_any(value, row["dtype"], row["name"])
        return Sharded(self, number, tuple(clib.shw_plan_shard(self.plan._handle, number, rank, whole, self._device)
                                           for rank in self._ranks))

    def session(self) -> Session:
        """Creates a session. It keeps values that one entry leaves for later entries, apart from those of other sessions."""
        return Session(self, self._runner.session())

    def abort(self) -> None:
        """Stops all runs in flight; they raise :class:`Cancelled`. Any thread may call it."""
        self._runner.abort()

    def reset(self) -> None:
        """Makes the executor usable again after a failure. Call it only if the world has several processes, and then in all of them. An executor
        with all ranks of the world does this by itself."""
        self._runner.reset()

    def close(self) -> None:
        """Waits until the runs in flight have ended, then frees ranks, memory and state. Later calls raise RuntimeError. The end of a ``with`` block
        does the same."""
        if os.getpid() == self._process:
            self._runner.close()
        self.state._handles = None

    @property
    def device_info(self) -> dict[str, Any]:
        """What the device is and can do. For "null", also what runs launched: ``num_launches``, ``num_collectives``, ``peak_memory_bytes``."""
        return get(self._device, "device", "device_info")

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return bool(self._runner.closed)

    def _stop(self) -> None:
        if os.getpid() == self._process:  # a child has none of these threads
            self.state._handles = None
            self._runner.stop()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        what = "closed" if self.closed else f"{self.world!r}"
        return f"<shardwise.Executor, {what}>"


def whole_tensors(plan: Plan, ports: Sequence[int], values: Mapping[str, Any]) -> list[Tensor | None]:
    """The tensors of these ports, from values by name; None for a port without a value."""
    positions = names_of([plan.ports[i]["name"] for i in ports])
    found: list[Tensor | None] = [None] * len(ports)
    for name, value in values.items():
        if name in positions and value is not None:
            row = plan.ports[ports[positions[name]]]
            found[positions[name]] = value if isinstance(value, Tensor) else adapt_any(value, row["dtype"], row["name"])
    return found


def adapt_any(value: Any, dtype: Any, name: str) -> Tensor:
    """Any input as a tensor of this dtype, without a copy if it exports its memory."""
    try:
        made: Tensor = Tensor._from_buffer(value, int(dtype), name, 0)
        return made
    except (BufferError, TypeError):
        return adapt(value, dtype, name)


class Session:
    """Keeps values that one entry leaves for later entries, such as the activations of a forward pass for the backward pass.

    :meth:`Executor.session` creates one."""

    def __init__(self, executor: Executor, handles: tuple[Any, ...]) -> None:
        self.executor = executor
        self._handles = handles

    def run(self, inputs: Inputs = (), entry: str | None = None, **options: Any) -> Results:
        """As :meth:`Executor.run`, in this session."""
        return self.executor.run(inputs, entry, session=self, **options)

    def start(self, inputs: Inputs = (), entry: str | None = None, **options: Any) -> Run:
        """As :meth:`Executor.start`, in this session."""
        return self.executor.start(inputs, entry, session=self, **options)


class State(Mapping[str, Tensor]):
    """The tensors that an executor keeps, by port name: parameters, optimizer state, caches. They are zeros at first.

    Reading a tensor returns a copy of the whole tensor. Assigning a tensor cuts it into the ranks' pieces. Do neither while a run is unfinished.
    """

    def __init__(self, executor: Executor, handles: tuple[Any, ...]) -> None:
        self._executor = executor
        self._handles: tuple[Any, ...] | None = handles
        ports = executor.plan.ports
        self._numbers = {row["name"]: i for i, row in enumerate(ports)
                         if row["storage"] == "state" and row["updates"] is None and not row["name"].startswith("update.")}

    def _pieces(self, name: str) -> tuple[int, tuple[Any, ...]]:
        number = self._numbers.get(name)
        if number is None:
            found = [n for full, n in self._numbers.items() if full.partition(".")[2] == name]
            if len(found) != 1:
                raise KeyError(f"the plan has no state {name!r}, but {', '.join(self._numbers) or 'none'}")
            number = found[0]
        if self._handles is None:
            raise RuntimeError("the executor was closed")
        return number, tuple(clib.shw_executor_get_state(handle, number) for handle in self._handles)

    def __getitem__(self, name: str) -> Tensor:
        number, pieces = self._pieces(name)
        whole: Tensor = self._executor._runner.gather(number, pieces)
        return whole

    def __setitem__(self, name: str, value: Any) -> None:
        number, pieces = self._pieces(name)
        executor, row = self._executor, self._executor.plan.ports[number]
        whole = value if isinstance(value, Tensor) else adapt_any(value, row["dtype"], row["name"])
        for rank, piece in zip(executor._ranks, pieces, strict=True):
            clib.shw_plan_shard_into(executor.plan._handle, number, rank, whole, piece)

    def update(self, values: Mapping[str, Any]) -> None:
        """Assigns several tensors, by name."""
        for name, value in values.items():
            self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
