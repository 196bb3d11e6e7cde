"""What the primitives of jaxprs are in the library's operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.extend.core as core

from ..dtypes import DType, dtype_of
from ..errors import Unimplemented
from ..graph import Graph
from ..node import Node
from ._value import Filled, Value, as_node, binary

INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr",
           "custom_vjp_call": "call_jaxpr", "checkpoint": "jaxpr", "remat2": "jaxpr"}
"""Calls of other jaxprs, and the parameter that has them."""
PRIMITIVES: dict[str, Callable[..., Any]] = {}


def inner_jaxpr(eqn: Any) -> core.ClosedJaxpr:
    """The jaxpr that an equation calls."""
    inner = eqn.params[INLINED[eqn.primitive.name]]
    return inner if isinstance(inner, core.ClosedJaxpr) else core.ClosedJaxpr(inner, [])


def primitive(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            PRIMITIVES[name] = function
        return function

    return add


def shape_of(eqn: Any) -> list[int]:
    return list(eqn.outvars[0].aval.shape)


def type_of(eqn: Any) -> DType:
    return dtype_of(str(eqn.outvars[0].aval.dtype))


# ---- Elementwise -------------------------------------------------------------------------------------------

UNARY = {"neg": "neg", "exp": "exp", "log": "log", "log1p": "log1p", "expm1": "expm1", "tanh": "tanh", "sin": "sin", "cos": "cos", "sqrt": "sqrt",
         "rsqrt": "rsqrt", "abs": "abs", "sign": "sign", "floor": "floor", "ceil": "ceil", "erf": "erf", "logistic": "sigmoid"}
BINARY = {"add": "add", "add_any": "add", "sub": "sub", "mul": "mul", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
LOGICAL = {"and": ("logical_and", "bitwise_and"), "or": ("logical_or", "bitwise_or")}

for _name, _op in UNARY.items():
    PRIMITIVES[_name] = lambda graph, eqn, x, op=_op: graph.op(op, as_node(graph, x))
for _name, _op in BINARY.items():
    PRIMITIVES[_name] = lambda graph, eqn, a, b, op=_op: binary(graph, op, a, b)
for _name, _ops in LOGICAL.items():
    PRIMITIVES[_name] = lambda graph, eqn, a, b, ops=_ops: graph.op(ops[type_of(eqn) is not DType.bool], as_node(graph, a), as_node(graph, b))


@primitive("not")
def _not(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("logical_not" if type_of(eqn) is DType.bool else "bitwise_not", as_node(graph, x))


@primitive("stop_gradient", "copy", "copy_p", "optimization_barrier")
def _same(graph: Graph, eqn: Any, *values: Value) -> Any:
    return values


@primitive("div")
def _div(graph: Graph, eqn: Any, a: Value, b: Value) -> Any:
    if type_of(eqn) not in (DType.f16, DType.bf16, DType.f32, DType.f64):
        raise Unimplemented(f"div of {type_of(eqn)} is not supported: it rounds towards zero")
    return binary(graph, "div", a, b)


@primitive("max", "min")
def _max(graph: Graph, eqn: Any, a: Value, b: Value) -> Any:
    op = "maximum" if eqn.primitive.name == "max" else "minimum"
    if isinstance(a, Filled) and isinstance(b, Node):
        a, b = b, a
    if isinstance(a, Node) and isinstance(b, Filled):
        return graph.op("clamp", a, min=b.number) if op == "maximum" else graph.op("clamp", a, max=b.number)
    return graph.op(op, as_node(graph, a), as_node(graph, b))


@primitive("square")
def _square(graph: Graph, eqn: Any, x: Value) -> Any:
    return binary(graph, "mul", x, x)


@primitive("integer_pow")
def _integer_pow(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("pow", as_node(graph, x), eqn.params["y"])


@primitive("pow")
def _pow(graph: Graph, eqn: Any, x: Value, y: Value) -> Any:
    if not isinstance(y, Filled):
        raise Unimplemented("pow with a tensor as exponent is not supported")
    return graph.op("pow", as_node(graph, x), y.number)


@primitive("is_finite")
def _is_finite(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("lt", graph.op("abs", as_node(graph, x)), math.inf)


@primitive("select_n")
def _select_n(graph: Graph, eqn: Any, which: Value, *cases: Value) -> Any:
    if len(cases) != 2 or not isinstance(which, Node) or which.dtype is not DType.bool:
        raise Unimplemented("select_n of other than two cases by a truth value is not supported")
    return graph.op("where", which, as_node(graph, cases[1]), as_node(graph, cases[0]))


@primitive("convert_element_type")
def _convert(graph: Graph, eqn: Any, x: Value) -> Any:
    dtype = type_of(eqn)
    if isinstance(x, Node):
        return x if x.dtype is dtype else graph.op("convert_element_type", x, dtype=dtype)
    is_whole = dtype in (DType.i8, DType.i16, DType.i32, DType.i64, DType.u8)
    return Filled(int(x.number) if is_whole else bool(x.number) if dtype is DType.bool else float(x.number), x.shape, dtype)


# ---- Shapes ------------------------------------------------------------------------------------------------


@primitive("reshape", "squeeze", "expand_dims")
def _reshape(graph: Graph, eqn: Any, x: Value) -> Any:
    if eqn.params.get("dimensions") is not None and eqn.primitive.name == "reshape":
        raise Unimplemented("reshape with a permutation is not supported")
    return graph.op("view", x, shape_of(eqn)) if isinstance(x, Node) else Filled(x.number, tuple(shape_of(eqn)), x.dtype)


@primitive("broadcast_in_dim")
def _broadcast(graph: Graph, eqn: Any, x: Value, *sizes: Value) -> Any:
    shape, places = shape_of(eqn), eqn.params["broadcast_dimensions"]
    if isinstance(x, Filled):
        return Filled(x.number, tuple(shape), x.dtype)
    aligned = [1] * len(shape)
    for place, size in zip(places, x.shape, strict=True):
        aligned[place] = int(size)
    made: Any = x if aligned == list(x.shape) else graph.op("view", x, aligned)
    return made if aligned == shape else graph.op("expand", made, shape)


@primitive("transpose")
def _transpose(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("permute", as_node(graph, x), list(eqn.params["permutation"]))


@primitive("slice")
def _slice(graph: Graph, eqn: Any, x: Value) -> Any:
    made = as_node(graph, x)
    steps = eqn.params["strides"] or [1] * len(shape_of(eqn))
    for dim, (start, end, step) in enumerate(zip(eqn.params["start_indices"], eqn.params["limit_indices"], steps, strict=True)):
        if (start, end, step) != (0, int(made.shape[dim]), 1):
            made = graph.op("slice", made, dim, start, end, step)
    return made


@primitive("concatenate")
def _concatenate(graph: Graph, eqn: Any, *parts: Value) -> Any:
    return graph.op("cat", [as_node(graph, part) for part in parts], eqn.params["dimension"])


@primitive("pad")
def _pad(graph: Graph, eqn: Any, x: Value, fill: Value) -> Any:
    widths = eqn.params["padding_config"]
    if not isinstance(fill, Filled) or any(low < 0 or high < 0 or inner for low, high, inner in widths):
        raise Unimplemented("pad with negative widths, between elements or with a number that is computed is not supported")
    flat = [width for low, high, _ in reversed(widths) for width in (low, high)]
    return graph.op("constant_pad_nd", as_node(graph, x), flat, fill.number)


@primitive("rev")
def _rev(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("flip", as_node(graph, x), list(eqn.params["dimensions"]))


@primitive("iota")
def _iota(graph: Graph, eqn: Any) -> Any:
    shape, dim = shape_of(eqn), eqn.params["dimension"]
    made = graph.op("iota", shape[dim], dtype=type_of(eqn))
    aligned = [size if i == dim else 1 for i, size in enumerate(shape)]
    return graph.op("expand", graph.op("view", made, aligned), shape) if len(shape) > 1 else made


# ---- Reductions and products -------------------------------------------------------------------------------


@primitive("reduce_sum", "reduce_max", "reduce_min")
def _reduce(graph: Graph, eqn: Any, x: Value) -> Any:
    op = {"reduce_sum": "sum", "reduce_max": "amax", "reduce_min": "amin"}[eqn.primitive.name]
    if not eqn.params["axes"]:
        return x
    node, axes = as_node(graph, x), list(eqn.params["axes"])
    return graph.op(op, node, axes, dtype=type_of(eqn)) if op == "sum" else graph.op(op, node, axes)


@primitive("cumsum")
def _cumsum(graph: Graph, eqn: Any, x: Value) -> Any:
    if eqn.params["reverse"]:
        raise Unimplemented("cumsum from the end is not supported")
    return graph.op("cumsum", as_node(graph, x), eqn.params["axis"], dtype=type_of(eqn))


@primitive("dot_general")
def _dot_general(graph: Graph, eqn: Any, a: Value, b: Value) -> Any:
    left, right = as_node(graph, a), as_node(graph, b)
    (contract_a, contract_b), (batch_a, batch_b) = eqn.params["dimension_numbers"]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names_a = [next(letters) for _ in left.shape]
    names_b = [next(letters) for _ in right.shape]
    for i, j in zip((*contract_a, *batch_a), (*contract_b, *batch_b), strict=True):
        names_b[j] = names_a[i]
    made = [names_a[i] for i in batch_a]
    made += [name for i, name in enumerate(names_a) if i not in (*contract_a, *batch_a)]
    made += [name for j, name in enumerate(names_b) if j not in (*contract_b, *batch_b)]
    return graph.op("einsum", [left, right], equation=f"{''.join(names_a)},{''.join(names_b)}->{''.join(made)}")


# ---- Indices -----------------------------------------------------------------------------------------------


def _pattern(numbers: Any, window: Sequence[int], dropped: Sequence[int], mapped: Sequence[int], rank: int, index_rank: int) -> str | None:
    """Which of the two patterns that NumPy's indexing becomes: "rows" of a table, or elements "along" the last dim."""
    batching = tuple(numbers.operand_batching_dims)
    if (tuple(dropped), tuple(mapped), batching) == ((0,), (0,), ()) and tuple(window) == tuple(range(index_rank - 1, index_rank + rank - 2)):
        return "rows"
    if tuple(dropped) == tuple(mapped) == (rank - 1,) and batching == tuple(range(rank - 1)) and not window and index_rank == rank + 1:
        return "along"
    return None


def _index_of(graph: Graph, indices: Value) -> Any:
    """Without the last dim, which has one index for the one dim that is indexed."""
    node = as_node(graph, indices)
    return graph.op("convert_element_type", graph.op("view", node, [int(size) for size in node.shape[:-1]]), dtype=DType.i64)


@primitive("gather")
def _gather(graph: Graph, eqn: Any, x: Value, indices: Value) -> Any:
    table, numbers, sizes = as_node(graph, x), eqn.params["dimension_numbers"], tuple(eqn.params["slice_sizes"])
    pattern = _pattern(numbers, numbers.offset_dims, numbers.collapsed_slice_dims, numbers.start_index_map, len(table.shape), len(indices.shape))
    if pattern == "rows" and sizes == (1, *table.shape[1:]) and len(sizes) == 2:
        return graph.op("embedding", table, _index_of(graph, indices))
    if pattern == "along":
        return graph.op("gather", table, _index_of(graph, indices), len(table.shape) - 1)
    raise Unimplemented(f"gather with {numbers} is not supported: only rows of a matrix, and elements along the last dim, are")


@primitive("scatter-add")
def _scatter_add(graph: Graph, eqn: Any, x: Value, indices: Value, updates: Value) -> Any:
    numbers, rank = eqn.params["dimension_numbers"], len(x.shape)
    pattern = _pattern(numbers, numbers.update_window_dims, numbers.inserted_window_dims, numbers.scatter_dims_to_operand_dims, rank,
                       len(indices.shape))
    if pattern == "rows" and rank == 2:
        added = graph.op("embedding_dense_backward", as_node(graph, updates), _index_of(graph, indices), int(x.shape[0]))
        return added if isinstance(x, Filled) and x.number == 0 else binary(graph, "add", x, added)  # type: ignore[arg-type]
    if pattern == "along":
        return graph.op("scatter_add", as_node(graph, x), _index_of(graph, indices), as_node(graph, updates), rank - 1)
    raise Unimplemented(f"scatter-add with {numbers} is not supported: only to rows of a matrix, and to elements along the last dim, is")
