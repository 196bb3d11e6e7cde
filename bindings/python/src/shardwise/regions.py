"""Bodies of manual regions: the operation ``local_map``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._native import new
from ._tensor import Tensor, tensor
from .dtypes import DType


@dataclasses.dataclass(frozen=True)
class RegionCall:
    """One execution of a region on one rank."""

    region: str
    rank: int
    coordinates: tuple[int, ...]
    """Of the rank along the mesh axes."""
    mesh: tuple[int, ...]
    """Sizes of the mesh axes."""
    outputs: Sequence[tuple[tuple[int, ...], DType] | None]
    """Shape and dtype of each result; None: it is absent, or not needed."""


Body = Callable[..., Any]
"""A function of a :class:`RegionCall` and this rank's pieces of the operands (read-only copies; None where one is absent), which returns this
rank's piece of the result, or a list of them: anything that :func:`shardwise.tensor` takes. Ranks call it from threads of their own. Equal
inputs must give equal results. It must not call the library."""


class Bodies:
    """The bodies of a plan's regions, and what one of them raised."""

    def __init__(self, bodies: Mapping[str, Body]) -> None:
        self._bodies = dict(bodies)
        self.error: BaseException | None = None
        """callbacks.i keeps it, because no exception may pass through C."""

    def __call__(self, region: str, inputs: Sequence[Tensor | None], outputs: Sequence[tuple[tuple[int, ...], int] | None],
                 coordinates: tuple[int, ...], mesh: tuple[int, ...], rank: int) -> list[bytes | None]:
        wanted = [None if o is None else (o[0], DType(o[1])) for o in outputs]
        made = self._bodies[region](RegionCall(region, rank, coordinates, mesh, wanted), *inputs)
        results = list(made) if isinstance(made, (list, tuple)) and len(wanted) > 1 else [made]
        if len(results) != len(wanted):
            raise ValueError(f"region {region!r}: the body returned {len(results)} results, not {len(wanted)}")
        return [self._bytes(region, want, value) for want, value in zip(wanted, results, strict=True)]

    @staticmethod
    def _bytes(region: str, want: tuple[tuple[int, ...], DType] | None, value: Any) -> bytes | None:
        if want is None:
            return None
        given = tensor(value, want[1])
        if given.shape != want[0]:
            raise ValueError(f"region {region!r}: a result has the shape {given.shape}, not {want[0]}")
        data: bytes = given.tobytes()
        return data

    def records(self) -> list[Any]:
        """Their records, for options."""
        return [new("region", name=name, run=self) for name in self._bodies]

    def take_error(self) -> BaseException | None:
        """What a body raised; then it is forgotten."""
        error, self.error = self.error, None
        return error
