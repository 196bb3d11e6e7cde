"""Errors of the library, as exceptions."""

from __future__ import annotations

from collections.abc import Sequence

from ._native import clib


class Error(Exception):
    """An error of the library.

    The text has the cause first. If a node of the graph is at fault, its name follows, and the line of Python that added it, if known.
    """

    code: int = 2
    """Error code: gRPC's number. Later versions may add codes."""

    def __init__(self, message: str, *, code: int | None = None, node_index: int | None = None, node_name: str = "",
                 conflicts: Sequence[str] = (), source: str = "") -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.message = message
        self.node_index = node_index
        """Index of the node at fault in the graph that was given; None: no node is at fault."""
        self.node_name = node_name
        self.conflicts = list(conflicts)
        """If no placement satisfies all options: a minimal set of constraints that cannot hold together, by the
        names that ``without=`` takes."""
        self.source = source
        """File and line of the library that raised the error, for bug reports."""

    def __str__(self) -> str:
        text = self.message
        if self.conflicts:
            text += "\nin conflict: " + ", ".join(self.conflicts)
        return text


class Cancelled(Error):
    """The call was cancelled."""


class InvalidArgument(Error, ValueError):
    """An argument, a graph or an option is malformed."""


class DeadlineExceeded(Error, TimeoutError):
    """A time limit passed before a result was found, or a rank did not arrive."""


class NotFound(Error, LookupError):
    """There is nothing with this name; the message offers names like it."""


class ResourceExhausted(Error, MemoryError):
    """Out of memory, or a limit of work was reached."""


class FailedPrecondition(Error, RuntimeError):
    """The call is not possible in this state, or no placement satisfies all constraints (see ``conflicts``)."""


class Aborted(Error, RuntimeError):
    """Another rank failed or was stopped."""


class OutOfRange(Error, IndexError):
    """A number is out of range."""


class Unimplemented(Error, NotImplementedError):
    """The library does not support this yet."""


class Internal(Error, RuntimeError):
    """A bug in the library."""


class Unavailable(Error, RuntimeError):
    """Something that the call needs is not available on this machine."""


class DataLoss(Error, ValueError):
    """The bytes are damaged."""


CLASSES: dict[int, type[Error]] = {
    clib.SHW_CANCELLED: Cancelled,
    clib.SHW_INVALID_ARGUMENT: InvalidArgument,
    clib.SHW_DEADLINE_EXCEEDED: DeadlineExceeded,
    clib.SHW_NOT_FOUND: NotFound,
    clib.SHW_RESOURCE_EXHAUSTED: ResourceExhausted,
    clib.SHW_FAILED_PRECONDITION: FailedPrecondition,
    clib.SHW_ABORTED: Aborted,
    clib.SHW_OUT_OF_RANGE: OutOfRange,
    clib.SHW_UNIMPLEMENTED: Unimplemented,
    clib.SHW_INTERNAL: Internal,
    clib.SHW_UNAVAILABLE: Unavailable,
    clib.SHW_DATA_LOSS: DataLoss,
}


def _make(code: int, message: str, node_index: int, node_name: str, conflicts: list[str], file: str, line: int) -> Error:
    index = node_index if node_index >= 0 else None
    return CLASSES.get(code, Error)(message, code=code, node_index=index, node_name=node_name, conflicts=conflicts,
                                    source=f"{file}:{line}")


clib.error_set_factory(_make)
