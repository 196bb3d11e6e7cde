"""Entries of plans: maps names and shapes of Python to their ports."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._tensor import Tensor, tensor
from .results import Results
from .symbols import Dim, parse_sizes

if TYPE_CHECKING:
    from .plan import Plan


def names_of(full: Sequence[str]) -> dict[str, int]:
    """Positions by full name, and by the part after the first dot if that is unique. Full names come first."""
    names = {name: i for i, name in enumerate(full)}
    short = [name.partition(".")[2] for name in full]
    for i, name in enumerate(short):
        if name and short.count(name) == 1:
            names.setdefault(name, i)
    return names


class Entry:
    """An entry of a plan, or one of its buckets."""

    def __init__(self, plan: Plan, number: int) -> None:
        row = plan.entries[number]
        self.plan = plan
        self.number = number
        self.name: str = row["name"]
        self.bucket_of: str = row["bucket_of"]
        self.inputs: Sequence[int] = row["inputs"]
        self.outputs: Sequence[int] = row["outputs"]
        self.input_names = names_of([plan.ports[i]["name"] for i in self.inputs])
        self.output_names = names_of([plan.ports[i]["name"] for i in self.outputs])

    def position(self, name: str) -> int:
        """The position of an input in the entry.

        :raises ValueError: the entry has no input with this name
        """
        found = self.input_names.get(name)
        if found is None:
            known = ", ".join(self.plan.ports[i]["name"] for i in self.inputs)
            raise ValueError(f"entry {self.name!r} has no input {name!r}; it has {known or 'none'}")
        return found

    def in_order(self, inputs: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
        """Inputs as a list in the entry's order.

        :raises ValueError: an input is missing, unknown or given twice
        """
        if not isinstance(inputs, Mapping):
            if len(inputs) != len(self.inputs):
                raise ValueError(f"entry {self.name!r} has {len(self.inputs)} inputs, not {len(inputs)}")
            return list(inputs)
        values: list[Any] = [None] * len(self.inputs)
        for name, value in inputs.items():
            at = self.input_names.get(name)
            if at is None:
                at = self.position(name)
            if values[at] is not None:
                raise ValueError(f"entry {self.name!r}: input {name!r} is given twice")
            values[at] = value
        if None in map(_is_none, values):
            absent = [self.plan.ports[i]["name"] for i, value in zip(self.inputs, values, strict=True)
                      if value is None and self.plan.ports[i]["present"]]
            if absent:
                raise ValueError(f"entry {self.name!r}: inputs are missing: {', '.join(absent)}")
        return values

    # ---- Buckets ----

    @functools.cached_property
    def _symbolic(self) -> dict[int, Sequence[Dim]]:
        """The sizes of ports that depend on symbols."""
        ports = {*self.inputs, *self.outputs}
        return {i: parse_sizes(self.plan.ports[i]["symbolic_dims"]) for i in ports if self.plan.ports[i]["symbolic_dims"]}

    def sizes_of(self, values: Sequence[Any]) -> dict[str, int]:
        """Sizes of symbols, from the dims of inputs that depend on exactly one symbol (a multiple of it plus a constant).

        :raises ValueError: inputs disagree
        """
        found: dict[str, int] = {}
        for port, value in zip(self.inputs, values, strict=True):
            for dim, size in zip(self._symbolic.get(port, ()), tensor(value).shape if port in self._symbolic else (), strict=False):
                if len(dim.factors) != 1:
                    continue
                (symbol, factor), = dim.factors.items()
                count, rest = divmod(size - dim.constant, factor)
                if rest or found.setdefault(symbol, count) != count:
                    name = self.plan.ports[port]["name"]
                    raise ValueError(f"{name}: a dim of {size} is not {dim} at {symbol}={found.get(symbol, count)}, as other inputs have")
        return found

    def padded(self, values: Sequence[Any]) -> list[Any]:
        """Inputs at the bucket's sizes. Smaller inputs are copied and padded with zeros at the end of each dim."""
        made = []
        for port, value in zip(self.inputs, values, strict=True):
            want = tuple(self.plan.ports[port]["dims"])
            if port in self._symbolic and not isinstance(value, tuple):
                view = tensor(value, self.plan.ports[port]["dtype"])
                value = view if view.shape == want else _resized(view, want, self.plan.ports[port]["name"])
            made.append(value)
        return made

    def cut(self, results: Results, sizes: Mapping[str, int]) -> Results:
        """Results, cut from the bucket's sizes to the sizes of the run."""
        made = []
        for port, value in zip(self.outputs, results.tensors(), strict=True):
            if value is not None and port in self._symbolic:
                want = tuple(dim.at(sizes) for dim in self._symbolic[port])
                value = value if value.shape == want else _resized(value, want, self.plan.ports[port]["name"])
            made.append(value)
        return Results(self.output_names, made)


def _is_none(value: Any) -> Any:
    return None if value is None else 0


def _resized(source: Tensor, want: tuple[int, ...], name: str) -> Tensor:
    """A row-major copy with other sizes: each dim is cut, or padded with zeros at its end."""
    if len(source.shape) != len(want):
        raise ValueError(f"{name}: expected {len(want)} dims, not the shape {source.shape}")
    size = source.dtype.itemsize
    count = size
    for dim in want:
        count *= dim
    target = bytearray(count)
    _copy(source.tobytes(), 0, source.shape, memoryview(target), 0, want, size)
    made: Tensor = Tensor._from_bytes(target, source.dtype, want)
    return made


def _copy(source: bytes, at: int, have: Sequence[int], target: memoryview, to: int, want: Sequence[int], size: int) -> None:
    """Copies the elements whose indices both shapes have, row by row."""
    if not have:
        target[to:to + size] = source[at:at + size]
        return
    if len(have) == 1:
        count = min(have[0], want[0]) * size
        target[to:to + count] = source[at:at + count]
        return
    step_have, step_want = size, size
    for h, w in zip(have[1:], want[1:], strict=True):
        step_have, step_want = step_have * h, step_want * w
    for i in range(min(have[0], want[0])):
        _copy(source, at + i * step_have, have[1:], target, to + i * step_want, want[1:], size)
