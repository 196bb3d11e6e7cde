"""Converts operations of XLA to operations of the library, for jaxprs and StableHLO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ._value import Filled, Value, as_node, binary
from .dtypes import DType
from .errors import Unimplemented
from .graph import Graph
from .node import Node

FLOATS = (DType.f16, DType.bf16, DType.f32, DType.f64, DType.f8e4m3fn, DType.f8e5m2)
WHOLE = (DType.i8, DType.i16, DType.i32, DType.i64, DType.u8)


# ---- Elementwise -------------------------------------------------------------------------------------------


def divide(graph: Graph, a: Value, b: Value, dtype: DType) -> Any:
    if dtype not in FLOATS:
        raise Unimplemented(f"div of {dtype} is not supported: it rounds towards zero")
    return binary(graph, "div", a, b)


def extremum(graph: Graph, op: str, a: Value, b: Value) -> Any:
    """`op`: "maximum" or "minimum"."""
    if isinstance(a, Filled) and isinstance(b, Node):
        a, b = b, a
    if isinstance(a, Node) and isinstance(b, Filled):
        return graph.op("clamp", a, min=b.number) if op == "maximum" else graph.op("clamp", a, max=b.number)
    return graph.op(op, as_node(graph, a), as_node(graph, b))


def power(graph: Graph, x: Value, exponent: Value, dtype: DType) -> Any:
    """`x` to the power of `exponent`; `dtype`: of the result."""
    if isinstance(exponent, Filled):
        return graph.op("pow", as_node(graph, x), exponent.number)
    return graph.op("pow_tensor", as_node(graph, x), convert(graph, exponent, dtype))


def is_finite(graph: Graph, x: Value) -> Any:
    return graph.op("lt", graph.op("abs", as_node(graph, x)), math.inf)


def select(graph: Graph, which: Value, true: Value, false: Value) -> Any:
    if which.dtype is not DType.bool:
        raise Unimplemented("a choice by other than a truth value is not supported")
    shape = max(true.shape, false.shape, key=len)
    condition = as_node(graph, which)
    if len(condition.shape) < len(shape):  # one truth value for all elements
        condition = graph.op("expand", condition, list(shape))
    return graph.op("where", condition, as_node(graph, true), as_node(graph, false))


def convert(graph: Graph, x: Value, dtype: DType) -> Any:
    if isinstance(x, Node):
        return x if x.dtype is dtype else graph.op("convert_element_type", x, dtype=dtype)
    return Filled(int(x.number) if dtype in WHOLE else bool(x.number) if dtype is DType.bool else float(x.number), x.shape, dtype)


# ---- Shapes ------------------------------------------------------------------------------------------------


def reshape(graph: Graph, x: Value, shape: Sequence[int]) -> Any:
    return graph.op("view", x, list(shape)) if isinstance(x, Node) else Filled(x.number, tuple(shape), x.dtype)


def broadcast(graph: Graph, x: Value, shape: Sequence[int], places: Sequence[int]) -> Any:
    """`places`: for each dim of `x`, the number of the result's dim that it becomes."""
    shape = list(shape)
    if isinstance(x, Filled):
        return Filled(x.number, tuple(shape), x.dtype)
    aligned = [1] * len(shape)
    for place, size in zip(places, x.shape, strict=True):
        aligned[place] = int(size)
    made: Any = x if aligned == list(x.shape) else graph.op("view", x, aligned)
    return made if aligned == shape else graph.op("expand", made, shape)


def cut(graph: Graph, x: Value, starts: Sequence[int], ends: Sequence[int], steps: Sequence[int]) -> Any:
    made = as_node(graph, x)
    for dim, (start, end, step) in enumerate(zip(starts, ends, steps, strict=True)):
        if (start, end, step) != (0, int(made.shape[dim]), 1):
            made = graph.op("slice", made, dim, start, end, step)
    return made


def pad(graph: Graph, x: Value, fill: Value, low: Sequence[int], high: Sequence[int], inner: Sequence[int]) -> Any:
    if not isinstance(fill, Filled) or any(inner) or min((*low, *high), default=0) < 0:
        raise Unimplemented("pad with negative widths, between elements or with a number that is computed is not supported")
    flat = [width for pair in reversed(list(zip(low, high, strict=True))) for width in pair]
    return graph.op("constant_pad_nd", as_node(graph, x), flat, fill.number)


def iota(graph: Graph, shape: Sequence[int], dim: int, dtype: DType) -> Any:
    made = graph.op("iota", shape[dim], dtype=dtype)
    aligned = [size if i == dim else 1 for i, size in enumerate(shape)]
    return graph.op("expand", graph.op("view", made, aligned), list(shape)) if len(shape) > 1 else made


# ---- Reductions and products -------------------------------------------------------------------------------


def reduce(graph: Graph, op: str, x: Value, axes: Sequence[int], dtype: DType) -> Any:
    """`op`: "sum", "amax", "amin", "all" or "any"."""
    if not axes:
        return x
    node = as_node(graph, x)
    return graph.op(op, node, list(axes), dtype=dtype) if op == "sum" else graph.op(op, node, list(axes))


def contract(graph: Graph, a: Value, b: Value, summed: tuple[Sequence[int], Sequence[int]], batch: tuple[Sequence[int], Sequence[int]]) -> Any:
    """A product over the dims `summed` of both, for each index of the dims `batch`; the result has batch dims first, then those of a, then of b."""
    left, right = as_node(graph, a), as_node(graph, b)
    (summed_a, summed_b), (batch_a, batch_b) = summed, batch
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names_a = [next(letters) for _ in left.shape]
    names_b = [next(letters) for _ in right.shape]
    for i, j in zip((*summed_a, *batch_a), (*summed_b, *batch_b), strict=True):
        names_b[j] = names_a[i]
    made = [names_a[i] for i in batch_a]
    made += [name for i, name in enumerate(names_a) if i not in (*summed_a, *batch_a)]
    made += [name for j, name in enumerate(names_b) if j not in (*summed_b, *batch_b)]
    return graph.op("einsum", [left, right], equation=f"{''.join(names_a)},{''.join(names_b)}->{''.join(made)}")


# ---- Indices -----------------------------------------------------------------------------------------------


def _pattern(window: Sequence[int], dropped: Sequence[int], mapped: Sequence[int], batching: Sequence[int], rank: int, index_rank: int) -> str | None:
    """NumPy's indexing becomes one of two patterns: "rows" of a table, or elements "along" the last dim. Returns which one; None: neither."""
    if (tuple(dropped), tuple(mapped), tuple(batching)) == ((0,), (0,), ()) and tuple(window) == tuple(range(index_rank - 1, index_rank + rank - 2)):
        return "rows"
    if tuple(dropped) == tuple(mapped) == (rank - 1,) and tuple(batching) == tuple(range(rank - 1)) and not window and index_rank == rank + 1:
        return "along"
    return None


def _index_of(graph: Graph, indices: Value) -> Any:
    """Without the last dim, which has one index for the one dim that is indexed."""
    node = as_node(graph, indices)
    return graph.op("convert_element_type", graph.op("view", node, [int(size) for size in node.shape[:-1]]), dtype=DType.i64)


def gather(graph: Graph, x: Value, indices: Value, *, window: Sequence[int], dropped: Sequence[int], mapped: Sequence[int],
           batching: Sequence[int], sizes: Sequence[int]) -> Any:
    table = as_node(graph, x)
    pattern = _pattern(window, dropped, mapped, batching, len(table.shape), len(indices.shape))
    if pattern == "rows" and tuple(sizes) == (1, *table.shape[1:]) and len(sizes) == 2:
        return graph.op("embedding", table, _index_of(graph, indices))
    if pattern == "along":
        return graph.op("gather", table, _index_of(graph, indices), len(table.shape) - 1)
    raise Unimplemented(f"gather with window {tuple(window)}, dropped {tuple(dropped)}, mapped {tuple(mapped)}, batching {tuple(batching)}"
                        " is not supported: only rows of a matrix, and elements along the last dim, are")


def scatter_add(graph: Graph, x: Value, indices: Value, updates: Value, *, window: Sequence[int], dropped: Sequence[int], mapped: Sequence[int],
                batching: Sequence[int]) -> Any:
    rank = len(x.shape)
    pattern = _pattern(window, dropped, mapped, batching, rank, len(indices.shape))
    if pattern == "rows" and rank == 2:
        added = graph.op("embedding_dense_backward", as_node(graph, updates), _index_of(graph, indices), int(x.shape[0]))
        return added if isinstance(x, Filled) and x.number == 0 else binary(graph, "add", x, added)  # type: ignore[arg-type]
    if pattern == "along":
        return graph.op("scatter_add", as_node(graph, x), _index_of(graph, indices), as_node(graph, updates), rank - 1)
    raise Unimplemented(f"scatter-add with window {tuple(window)}, dropped {tuple(dropped)}, mapped {tuple(mapped)}, batching {tuple(batching)}"
                        " is not supported: only to rows of a matrix, and to elements along the last dim, is")
