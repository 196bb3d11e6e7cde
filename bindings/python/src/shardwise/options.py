"""Options of :func:`shardwise.compile`, as structs of the C interface."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from ._native import clib, new, set_array
from .dtypes import dtype_of

RULES = {"full": clib.SHW_RULES_FULL, "compat": clib.SHW_RULES_COMPAT}
OVERLAPS = {"none": clib.SHW_OVERLAP_NONE, "prefetch": clib.SHW_OVERLAP_PREFETCH, "bounded": clib.SHW_OVERLAP_BOUNDED,
            "simulated": clib.SHW_OVERLAP_SIMULATED}
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}

Memory = int | str
"""A number of bytes, or a text with a unit: "60GiB", "2700MB"."""
Layouts = str | Mapping[str, str]
"""A layout for all ports, "S(0)R"; or layouts by port, with ``*`` and ``?`` as wildcards."""


def parse_bytes(memory: Memory) -> int:
    """The number of bytes of a size of memory.

    :raises ValueError: the text is not a number with a unit
    """
    if isinstance(memory, int):
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", memory)
    if match is None or match[2].upper() not in UNITS:
        raise ValueError(f"{memory!r} is no size of memory, such as '60GiB' or '2700MB'")
    return int(float(match[1]) * UNITS[match[2].upper()])


def _choice(what: str, value: str | None, known: Mapping[str, int]) -> int | None:
    if value is not None and value not in known:
        raise ValueError(f"{what} is {value!r}, not one of {', '.join(known)}")
    return None if value is None else known[value]


def _set_layouts(record: Any, port: str, layouts: Layouts | None) -> None:
    if isinstance(layouts, str):
        setattr(record, f"{port}_layout", layouts)
    elif layouts:
        set_array(record, f"{port}_layouts", [new("port_layout", port=name, layout=text) for name, text in layouts.items()])


def _set_param_budget(record: Any, budget: str | float | None) -> None:
    if isinstance(budget, (int, float)):
        record.param_budget, record.param_budget_factor = clib.SHW_PARAM_BUDGET_FACTOR, float(budget)
    elif budget is not None:
        known = {"smallest": clib.SHW_PARAM_BUDGET_SMALLEST, "none": clib.SHW_PARAM_BUDGET_NONE}
        record.param_budget = _choice("param_budget", budget, known)


def _set_common(record: Any, *, inputs: Layouts | None, outputs: Layouts | None, pins: Mapping[str, str] | None, without: Sequence[str],
                memory: Memory | None, param_budget: str | float | None, time_limit: float | None, progress: Any) -> None:
    """Sets the fields that options of a compilation and changes of a planner have in common."""
    _set_layouts(record, "input", inputs)
    _set_layouts(record, "output", outputs)
    set_array(record, "pins", [new("pin", pattern=p, layout=text) for p, text in (pins or {}).items()])
    set_array(record, "without", without)
    if memory is not None:
        record.memory_limit_bytes = parse_bytes(memory)
    _set_param_budget(record, param_budget)
    if time_limit is not None:
        record.time_limit_s = time_limit
    if progress is not None:
        record.progress = progress


P = ParamSpec("P")
T = TypeVar("T")


def _named(function: Callable[P, T]) -> Callable[P, T]:
    """Raises for an option that the function does not have, with a message about options instead of keyword arguments."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for name in options:
            if name not in known:
                alike = difflib.get_close_matches(name, known)
                raise TypeError(f"there is no option {name!r}" + (f"; did you mean {', '.join(alike)}?" if alike else f": there are {', '.join(known)}"))
        return function(*args, **options)

    return call


@_named
def compile_options(*, mesh: Mapping[str, int] | None, progress: Any, hardware: str | Mapping[str, Any] | None = None,
                    memory: Memory | None = None, entries: Sequence[str] = (), buckets: Mapping[str, Any] | None = None,
                    inputs: Layouts | None = None, outputs: Layouts | None = None, pins: Mapping[str, str] | None = None,
                    without: Sequence[str] = (), rules: str | None = None, grad_reduce_dtype: Any = None,
                    optimizer_factor: float | None = None, param_budget: str | float | None = None,
                    recompute: str | None = None, prefetch_bytes: Memory | None = None, prefetch_depth: int | None = None,
                    products_between_reductions: int | None = None, fuse_bytes: Memory | None = None, host_memory: Memory | None = None,
                    overlap: str | None = None, prefetch_scale: float | None = None, bounded_share: float | None = None,
                    time_limit: float | None = None, gap: float | None = None, threads: int | None = None, einsum: bool = True, keep_graph: bool = True, strided: bool = False,
                    lend_outputs: bool = False) -> Any:
    """A ``shw_compile_options`` from Python's arguments, which :func:`shardwise.compile` documents."""
    record = new("compile_options", rules=_choice("rules", rules, RULES), overlap=_choice("overlap", overlap, OVERLAPS),
                 optimizer_factor=optimizer_factor, recompute=recompute, prefetch_depth=prefetch_depth,
                 products_between_reductions=products_between_reductions, prefetch_scale=prefetch_scale,
                 bounded_share=bounded_share, gap=gap, num_threads=threads)
    if prefetch_bytes is not None:
        record.prefetch_bytes = parse_bytes(prefetch_bytes)
    if fuse_bytes is not None:
        record.fuse_bytes = parse_bytes(fuse_bytes)
    if host_memory is not None:
        record.host_memory_bytes = parse_bytes(host_memory)
    record.flags = ((0 if einsum else clib.SHW_COMPILE_NO_EINSUM) | (0 if keep_graph else clib.SHW_COMPILE_NO_GRAPH)
                    | (clib.SHW_COMPILE_STRIDED if strided else 0)
                    | (clib.SHW_COMPILE_LEND_OUTPUTS if lend_outputs else 0))
    set_array(record, "mesh_axes", list(axes_of(mesh)))
    if isinstance(hardware, str):
        record.hardware = hardware
    elif hardware is not None:
        record.hardware_description = json.dumps(dict(hardware)).encode()
    if grad_reduce_dtype is not None:
        record.grad_reduce_dtype = int(dtype_of(grad_reduce_dtype))
    set_array(record, "entries", entries)
    set_array(record, "buckets", list(_buckets(buckets or {})))
    _set_common(record, inputs=inputs, outputs=outputs, pins=pins, without=without, memory=memory, param_budget=param_budget,
                time_limit=time_limit, progress=progress)
    return record


def axes_of(mesh: Any) -> Any:
    if mesh is not None and not isinstance(mesh, Mapping):
        raise TypeError(f"mesh must be a dict of sizes by name, such as {{'dp': 2, 'tp': 4}}, not {mesh!r}")
    for name, size in (mesh or {}).items():
        if not isinstance(name, str) or not hasattr(size, "__index__"):
            raise TypeError(f"mesh: an axis is a name and a whole number of devices, not {name!r}: {size!r}")
        yield new("mesh_axis", name=name, size=int(size))


def _buckets(buckets: Mapping[str, Any]) -> Any:
    """``{"cache": [16, 64]}`` for every entry, or ``{"decode": {"cache": [16, 64]}}`` for one."""
    for name, value in buckets.items():
        for symbol, sizes in value.items() if isinstance(value, Mapping) else [(name, value)]:
            made = new("bucket_sizes", entry=name if isinstance(value, Mapping) else None, symbol=symbol)
            set_array(made, "sizes", sizes)
            yield made


@_named
def planner_changes(*, progress: Any, memory: Memory | None = None, inputs: Layouts | None = None, outputs: Layouts | None = None,
                    pins: Mapping[str, str] | None = None, without: Sequence[str] = (), placements: Mapping[str, Any] | None = None,
                    param_budget: str | float | None = None, time_limit: float | None = None) -> Any:
    """A ``shw_planner_changes`` from Python's arguments, which :meth:`Plan.what_if` documents."""
    record = new("planner_changes")
    if placements is not None:
        record.placements = json.dumps(placements).encode()
    _set_common(record, inputs=inputs, outputs=outputs, pins=pins, without=without, memory=memory, param_budget=param_budget,
                time_limit=time_limit, progress=progress)
    return record
