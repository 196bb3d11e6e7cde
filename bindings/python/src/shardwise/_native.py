"""The C interface: its functions, the context, records and tables."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Hashable
from typing import Any

clib: Any = importlib.import_module("shardwise.clib")
"""The functions of the C headers under their own names. Private: use the classes of the package."""

NONE: int = clib.SHW_NONE


@functools.cache
def context() -> Any:
    """The one context in which the package makes all objects."""
    return clib.shw_context_create(clib.SHW_API_VERSION, None)


def new(name: str, /, **fields: Any) -> Any:
    """A record ``shw_<name>`` with default values and these fields. A field given as None keeps its default."""
    record = getattr(clib, "shw_" + name)()
    init = getattr(clib, f"shw_{name}_init", None)
    if init is not None:
        init(record)
    for field, value in fields.items():
        if value is not None:
            setattr(record, field, value)
    return record


def set_array(record: Any, field: str, values: Any) -> None:
    """Sets an array of a record, and its length."""
    values = list(values)
    if values:
        setattr(record, field, values)
        setattr(record, "num_" + field, len(values))


@functools.lru_cache(None)
def _fields(cls: Hashable) -> tuple[tuple[str, str], ...]:
    hidden = {"struct_size", "reserved", "thisown", "flags"}
    names = [name for name, value in vars(cls).items() if isinstance(value, property) and name not in hidden]
    return tuple((name.lstrip("_"), name) for name in names)


FLAGS = frozenset({"proven", "present", "chosen", "forced", "possible", "given_up", "lp_solve_missing", "factor_exact", "memory_exact", "determined",
                   "computes", "host_access", "native_streams", "ahead"})
"""Fields of records that are 0 or 1."""


def as_dict(record: Any) -> dict[str, Any]:
    """The fields of a record by name. SHW_NONE becomes None."""
    values: dict[str, Any] = {}
    cls: Any = type(record)
    for name, field in _fields(cls):
        value = getattr(record, field)
        if name.startswith("num_") and name[4:] in values:
            continue  # the length of a tuple that is listed already
        values[name] = bool(value) if name in FLAGS else None if value == NONE else value
    return values


def get(owner: Any, noun: str, record: str, *index: int) -> dict[str, Any]:
    """The record that ``shw_<noun>_get_…`` fills, as a dict."""
    filled = new(record)
    what = record.removeprefix(noun + "_")
    getattr(clib, f"shw_{noun}_get_{what}")(owner, *index, filled)
    return as_dict(filled)


def table(owner: Any, noun: str, record: str, plural: str = "") -> list[dict[str, Any]]:
    """All rows of a table, as many as ``shw_<noun>_num_…`` returns: a list of dicts, which pandas takes."""
    what = record.removeprefix(noun + "_")
    count = getattr(clib, f"shw_{noun}_num_{plural or what + 's'}")(owner)
    return [get(owner, noun, record, i) for i in range(count)]
