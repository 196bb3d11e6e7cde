"""Bodies of manual regions: the operation ``local_map``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._native import clib, new
from ._tensor import Tensor, tensor
from .dtypes import DType
from .errors import Error


class Group:
    """Ranks that the body of a region exchanges data with: one group of the region's attribute ``groups``. It is valid only during the body's call.

    Methods take anything that :func:`shardwise.tensor` takes. They return a new tensor when the exchange is done. Parts of several members lie one
    after another along dim 0, in the order of the members' numbers. All members must call the same methods, with the same shapes and types, in the
    same order. If a method raises, the run ends on every rank, and raises the same error.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.size: int = clib.shw_group_size(handle)
        """Number of members."""
        self.member: int = clib.shw_group_member(handle)
        """This rank's number among the members."""

    def all_gather(self, value: Any) -> Tensor:
        """The tensors of all members, one after another along dim 0."""
        given = _rows(value)
        return self._exchange(clib.shw_group_all_gather, given, (self.size * given.shape[0], *given.shape[1:]), math.prod(given.shape))

    def all_to_all(self, value: Any) -> Tensor:
        """Cuts dim 0 into equal parts, one for each member, and sends each member its part. Returns the parts that the members sent to this one,
        one after another."""
        given = _rows(value)
        return self._exchange(clib.shw_group_all_to_all, given, given.shape, math.prod(given.shape) // self._part(given))

    def all_to_all_v(self, value: Any, send_counts: Sequence[int], receive_counts: Sequence[int]) -> Tensor:
        """As :meth:`all_to_all`, with parts of different sizes.

        :param send_counts: the number of rows of dim 0 that go to each member
        :param receive_counts: the number of rows that come from each member
        """
        given = _rows(value)
        sends, expects = [int(n) for n in send_counts], [int(n) for n in receive_counts]
        if len(sends) != self.size or len(expects) != self.size or min(sends + expects) < 0 or sum(sends) != given.shape[0]:
            raise ValueError(f"{given.shape[0]} rows do not go to {self.size} members with the counts {sends}, received {expects}")
        row = math.prod(given.shape[1:])
        shape = (sum(expects), *given.shape[1:])
        received = bytearray(math.prod(shape) * given.dtype.itemsize)
        _call(clib.shw_group_all_to_all_v, self._handle, given.tobytes(), [n * row for n in sends], received, [n * row for n in expects],
              given.dtype)
        return _made(received, given, shape)

    def all_reduce(self, value: Any, reduction: str = "sum") -> Tensor:
        """Reduces the tensors of all members, element by element: "sum", "avg", "max", "min" or "product"."""
        given = tensor(value)
        return self._exchange(clib.shw_group_all_reduce, given, given.shape, math.prod(given.shape), reduction)

    def reduce_scatter(self, value: Any, reduction: str = "sum") -> Tensor:
        """Reduces the tensors of all members as :meth:`all_reduce` does, and cuts dim 0 of the result into equal parts, one for each member. Returns
        this member's part."""
        given = _rows(value)
        shape = (given.shape[0] // self._part(given), *given.shape[1:])
        return self._exchange(clib.shw_group_reduce_scatter, given, shape, math.prod(shape), reduction)

    def _part(self, given: Tensor) -> int:
        """Number of parts."""
        if given.shape[0] % self.size != 0:
            raise ValueError(f"dim 0 of a tensor of the shape {given.shape} is not cut evenly by {self.size} members")
        return self.size

    def _exchange(self, call: Callable[..., None], given: Tensor, shape: tuple[int, ...], count: int, *reduction: str) -> Tensor:
        received = bytearray(math.prod(shape) * given.dtype.itemsize)
        _call(call, self._handle, given.tobytes(), received, count, given.dtype, *reduction)
        return _made(received, given, shape)


def _rows(value: Any) -> Tensor:
    given = tensor(value)
    if not given.shape:
        raise ValueError("a tensor without dims has no parts for members")
    return given


def _made(received: bytearray, like: Tensor, shape: tuple[int, ...]) -> Tensor:
    made: Tensor = Tensor._from_bytes(received, like.dtype, shape)
    return made


def _call(call: Callable[..., None], *arguments: Any) -> None:
    try:
        call(*arguments)
    except Error as error:
        setattr(error, _FROM_GROUP, True)
        raise


_FROM_GROUP = "_from_group"  # marks errors that the run raises itself, on this rank or on the rank where they began


@dataclasses.dataclass(frozen=True)
class RegionCall:
    """One execution of a region on one rank."""

    region: str
    rank: int
    coordinates: tuple[int, ...]
    """Coordinates of the rank along the mesh axes."""
    mesh: tuple[int, ...]
    """Sizes of the mesh axes."""
    outputs: Sequence[tuple[tuple[int, ...], DType] | None]
    """Shape and dtype of each result; None: the result is absent or not needed."""
    groups: Sequence[Group] = ()
    """The groups of the attribute ``groups``, in the same order."""


Body = Callable[..., Any]
"""A function that computes a region on one rank. Its arguments are a :class:`RegionCall` and this rank's pieces of the operands: read-only copies;
None for an operand that is absent. It returns this rank's piece of the result, or a list of pieces if there are several results: anything that
:func:`shardwise.tensor` takes. Each rank calls it from a thread of its own. Equal inputs must give equal results. It must not call the library,
except for the methods of its groups."""


class Bodies:
    """The bodies of a plan's regions, and the exception that one of them raised."""

    def __init__(self, bodies: Mapping[str, Body]) -> None:
        self._bodies = dict(bodies)
        self._error: BaseException | None = None

    @property
    def error(self) -> BaseException | None:
        """The exception that a body raised. callbacks.i stores it here, because no exception may pass through C."""
        return self._error

    @error.setter
    def error(self, error: BaseException | None) -> None:
        if not hasattr(error, _FROM_GROUP):
            self._error = error

    def __call__(self, region: str, inputs: Sequence[Tensor | None], outputs: Sequence[tuple[tuple[int, ...], int] | None],
                 coordinates: tuple[int, ...], mesh: tuple[int, ...], rank: int, groups: Sequence[Any]) -> list[bytes | None]:
        wanted = [None if o is None else (o[0], DType(o[1])) for o in outputs]
        made = self._bodies[region](RegionCall(region, rank, coordinates, mesh, wanted, tuple(map(Group, groups))), *inputs)
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
        """The bodies as records of the C interface, for executor options."""
        return [new("region", name=name, run=self) for name in self._bodies]

    def take_error(self) -> BaseException | None:
        """Returns the exception that a body raised, if any, and clears it."""
        error, self._error = self._error, None
        return error
