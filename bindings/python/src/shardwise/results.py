"""Results of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._tensor import Tensor

if TYPE_CHECKING:
    from .executor import Executor


class Results(Mapping[str, Any]):
    """The outputs of a run: a mapping from names ("loss" or "output.loss") to tensors. Positions can be used in place of names.

    An output that is never computed is None: the gradient of an input that has no gradient.
    """

    __slots__ = ("_names", "_values")

    def __init__(self, names: Mapping[str, int], values: Sequence[Any]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            return self._values[key]
        position = self._names.get(key)
        if position is None:
            raise KeyError(f"there is no output {key!r}, but {', '.join(self) or 'none'}")
        return self._values[position]

    def __iter__(self) -> Iterator[str]:
        seen: set[int] = set()
        for name, position in self._names.items():  # full names come first
            if position not in seen:
                seen.add(position)
                yield name

    def __len__(self) -> int:
        return len(self._values)

    def tensors(self) -> list[Any]:
        """The outputs in the plan's order."""
        return list(self._values)

    def __repr__(self) -> str:
        return "Results(" + ", ".join(f"{name}={self[name]!r}" for name in self) + ")"


class Sharded(tuple[Any, ...]):
    """The pieces of a tensor on the local ranks: an input or output of runs that stays in the ranks' memory."""

    executor: Executor
    port: int

    def __new__(cls, executor: Executor, port: int, pieces: tuple[Any, ...]) -> Sharded:
        made = super().__new__(cls, pieces)
        made.executor = executor
        made.port = port
        return made

    def local(self) -> list[Tensor]:
        """Copies of the pieces of this process's ranks."""
        return [self.executor._runner.piece(piece) for piece in self]

    def gather(self) -> Tensor:
        """A copy of the whole tensor.

        :raises InvalidArgument: not all ranks are in this process
        """
        whole: Tensor = self.executor._runner.gather(self.port, tuple(self))
        return whole

    def __repr__(self) -> str:
        row = self.executor.plan.ports[self.port]
        return f"<shardwise.Sharded {row['name']} {row['layout']} on {len(self)} ranks>"
