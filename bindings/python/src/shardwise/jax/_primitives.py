"""Converts the primitives of jaxprs to operations of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.extend.core as core

from .._lax import broadcast, contract, convert, cut, divide, extremum, gather, iota, is_finite, pad, power, reduce, reshape, scatter_add, select
from .._value import Value, as_node, binary
from ..dtypes import DType, dtype_of
from ..errors import Unimplemented
from ..graph import Graph

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
BINARY = {"add": "add", "atan2": "atan2", "add_any": "add", "sub": "sub", "mul": "mul", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
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
    return divide(graph, a, b, type_of(eqn))


@primitive("max", "min")
def _max(graph: Graph, eqn: Any, a: Value, b: Value) -> Any:
    return extremum(graph, "maximum" if eqn.primitive.name == "max" else "minimum", a, b)


@primitive("square")
def _square(graph: Graph, eqn: Any, x: Value) -> Any:
    return binary(graph, "mul", x, x)


@primitive("integer_pow")
def _integer_pow(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("pow", as_node(graph, x), eqn.params["y"])


@primitive("pow")
def _pow(graph: Graph, eqn: Any, x: Value, y: Value) -> Any:
    return power(graph, x, y, type_of(eqn))


@primitive("is_finite")
def _is_finite(graph: Graph, eqn: Any, x: Value) -> Any:
    return is_finite(graph, x)


@primitive("select_n")
def _select_n(graph: Graph, eqn: Any, which: Value, *cases: Value) -> Any:
    if len(cases) != 2:
        raise Unimplemented("select_n of other than two cases is not supported")
    return select(graph, which, cases[1], cases[0])


@primitive("convert_element_type")
def _convert(graph: Graph, eqn: Any, x: Value) -> Any:
    return convert(graph, x, type_of(eqn))


# ---- Shapes ------------------------------------------------------------------------------------------------


@primitive("reshape", "squeeze", "expand_dims")
def _reshape(graph: Graph, eqn: Any, x: Value) -> Any:
    if eqn.params.get("dimensions") is not None and eqn.primitive.name == "reshape":
        raise Unimplemented("reshape with a permutation is not supported")
    return reshape(graph, x, shape_of(eqn))


@primitive("broadcast_in_dim")
def _broadcast(graph: Graph, eqn: Any, x: Value, *sizes: Value) -> Any:
    return broadcast(graph, x, shape_of(eqn), eqn.params["broadcast_dimensions"])


@primitive("transpose")
def _transpose(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("permute", as_node(graph, x), list(eqn.params["permutation"]))


@primitive("slice")
def _slice(graph: Graph, eqn: Any, x: Value) -> Any:
    return cut(graph, x, eqn.params["start_indices"], eqn.params["limit_indices"], eqn.params["strides"] or [1] * len(shape_of(eqn)))


@primitive("concatenate")
def _concatenate(graph: Graph, eqn: Any, *parts: Value) -> Any:
    return graph.op("cat", [as_node(graph, part) for part in parts], eqn.params["dimension"])


@primitive("pad")
def _pad(graph: Graph, eqn: Any, x: Value, fill: Value) -> Any:
    widths = eqn.params["padding_config"]
    return pad(graph, x, fill, [low for low, _, _ in widths], [high for _, high, _ in widths], [inner for _, _, inner in widths])


@primitive("rev")
def _rev(graph: Graph, eqn: Any, x: Value) -> Any:
    return graph.op("flip", as_node(graph, x), list(eqn.params["dimensions"]))


@primitive("iota")
def _iota(graph: Graph, eqn: Any) -> Any:
    return iota(graph, shape_of(eqn), eqn.params["dimension"], type_of(eqn))


# ---- Reductions and products -------------------------------------------------------------------------------


@primitive("reduce_sum", "reduce_max", "reduce_min")
def _reduce(graph: Graph, eqn: Any, x: Value) -> Any:
    op = {"reduce_sum": "sum", "reduce_max": "amax", "reduce_min": "amin"}[eqn.primitive.name]
    return reduce(graph, op, x, eqn.params["axes"], type_of(eqn))


@primitive("cumsum")
def _cumsum(graph: Graph, eqn: Any, x: Value) -> Any:
    if eqn.params["reverse"]:
        raise Unimplemented("cumsum from the end is not supported")
    return graph.op("cumsum", as_node(graph, x), eqn.params["axis"], dtype=type_of(eqn))


@primitive("dot_general")
def _dot_general(graph: Graph, eqn: Any, a: Value, b: Value) -> Any:
    summed, batch = eqn.params["dimension_numbers"]
    return contract(graph, a, b, summed, batch)


# ---- Indices -----------------------------------------------------------------------------------------------


@primitive("gather")
def _gather(graph: Graph, eqn: Any, x: Value, indices: Value) -> Any:
    numbers = eqn.params["dimension_numbers"]
    return gather(graph, x, indices, window=numbers.offset_dims, dropped=numbers.collapsed_slice_dims, mapped=numbers.start_index_map,
                  batching=numbers.operand_batching_dims, sizes=eqn.params["slice_sizes"])


@primitive("scatter-add")
def _scatter_add(graph: Graph, eqn: Any, x: Value, indices: Value, updates: Value) -> Any:
    numbers = eqn.params["dimension_numbers"]
    return scatter_add(graph, x, indices, updates, window=numbers.update_window_dims, dropped=numbers.inserted_window_dims,
                       mapped=numbers.scatter_dims_to_operand_dims, batching=numbers.operand_batching_dims)
