"""Converts operations of StableHLO to operations of the library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo as dialect

from .._bits import NAMES
from .._lax import WHOLE, broadcast, contract, convert, cut, divide, extremum, gather, iota, is_finite, pad, power, reduce, reshape, scatter_add, select
from .._value import Filled, Value, as_node, binary
from ..dtypes import DType, dtype_of
from ..errors import Unimplemented
from ..graph import Graph

OPERATIONS: dict[str, Callable[..., Any]] = {}
DTYPES = {"i1": "bool", "si8": "i8", "si16": "i16", "si32": "i32", "si64": "i64", "ui8": "u8", "complex<f32>": "c64", "f8E4M3FN": "f8e4m3fn",
          "f8E5M2": "f8e5m2"}


def operation(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            OPERATIONS[name] = function
        return function

    return add


def type_of(value: Any) -> tuple[list[int], DType]:
    """Shape and dtype of a value of MLIR."""
    if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
        raise Unimplemented(f"values of type {value.type} are not supported: only tensors of static shape are")
    element = str(value.type.element_type)
    try:
        return list(value.type.shape), dtype_of(DTYPES.get(element, element))
    except (TypeError, ValueError):
        raise Unimplemented(f"elements of type {element} are not supported") from None


def numbers(op: Any, name: str) -> list[int]:
    """An attribute that is an array of integers."""
    return list(op.attributes[name])


def _shape(op: Any) -> list[int]:
    return type_of(op.results[0])[0]


def _dtype(op: Any) -> DType:
    return type_of(op.results[0])[1]


# ---- Elementwise -------------------------------------------------------------------------------------------

UNARY = {"negate": "neg", "exponential": "exp", "log": "log", "log_plus_one": "log1p", "exponential_minus_one": "expm1", "tanh": "tanh", "sine": "sin",
         "cosine": "cos", "sqrt": "sqrt", "rsqrt": "rsqrt", "abs": "abs", "sign": "sign", "floor": "floor", "ceil": "ceil", "logistic": "sigmoid",
         "round_nearest_even": "round"}
BINARY = {"add": "add", "atan2": "atan2", "subtract": "sub", "multiply": "mul"}
LOGICAL = {"and": ("logical_and", "bitwise_and"), "or": ("logical_or", "bitwise_or")}
COMPARISONS = {"EQ": "eq", "NE": "ne", "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}

for _name, _op in UNARY.items():
    OPERATIONS[f"stablehlo.{_name}"] = lambda graph, op, x, name=_op: graph.op(name, as_node(graph, x))
for _name, _op in BINARY.items():
    OPERATIONS[f"stablehlo.{_name}"] = lambda graph, op, a, b, name=_op: binary(graph, name, a, b)
for _name, _ops in LOGICAL.items():
    OPERATIONS[f"stablehlo.{_name}"] = lambda graph, op, a, b, names=_ops: graph.op(
        names[_dtype(op) is not DType.bool], as_node(graph, a), as_node(graph, b))
OPERATIONS["chlo.erf"] = lambda graph, op, x: graph.op("erf", as_node(graph, x))
OPERATIONS["chlo.square"] = lambda graph, op, x: binary(graph, "mul", x, x)


@operation("stablehlo.constant")
def _constant(graph: Graph, op: Any) -> Any:
    shape, dtype = type_of(op.results[0])
    values = op.attributes["value"]
    if not values.is_splat:
        if dtype in NAMES:  # MLIR's binding does not tell them
            raise Unimplemented(f"constants in {dtype} with several values are not supported")
        graph._num_constants += 1  # type: ignore[attr-defined]
        return graph.constant(f"constant{graph._num_constants}", np.array(values).reshape(shape), dtype)  # type: ignore[attr-defined]
    number = values.get_splat_value().value
    return Filled(bool(number) if dtype is DType.bool else number, tuple(shape), dtype)


@operation("stablehlo.optimization_barrier")
def _same(graph: Graph, op: Any, *values: Value) -> Any:
    return values


@operation("stablehlo.not")
def _not(graph: Graph, op: Any, x: Value) -> Any:
    return graph.op("logical_not" if _dtype(op) is DType.bool else "bitwise_not", as_node(graph, x))


@operation("stablehlo.divide")
def _divide(graph: Graph, op: Any, a: Value, b: Value) -> Any:
    return divide(graph, a, b, _dtype(op))


@operation("stablehlo.maximum", "stablehlo.minimum")
def _extremum(graph: Graph, op: Any, a: Value, b: Value) -> Any:
    return extremum(graph, op.name.removeprefix("stablehlo."), a, b)


@operation("stablehlo.power")
def _power(graph: Graph, op: Any, x: Value, y: Value) -> Any:
    return power(graph, x, y, _dtype(op))


@operation("stablehlo.compare")
def _compare(graph: Graph, op: Any, a: Value, b: Value) -> Any:
    if "compare_type" in op.attributes and dialect.ComparisonTypeAttr(op.attributes["compare_type"]).value == "TOTALORDER":
        raise Unimplemented("compare by the total order of floating point is not supported")
    direction = dialect.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
    return binary(graph, COMPARISONS[direction], a, b)


@operation("stablehlo.is_finite")
def _is_finite(graph: Graph, op: Any, x: Value) -> Any:
    return is_finite(graph, x)


@operation("stablehlo.select")
def _select(graph: Graph, op: Any, which: Value, true: Value, false: Value) -> Any:
    return select(graph, which, true, false)


@operation("stablehlo.clamp")
def _clamp(graph: Graph, op: Any, low: Value, x: Value, high: Value) -> Any:
    if not isinstance(low, Filled) or not isinstance(high, Filled):
        raise Unimplemented("clamp with limits that are computed is not supported")
    return graph.op("clamp", as_node(graph, x), min=low.number, max=high.number)


@operation("stablehlo.convert")
def _convert(graph: Graph, op: Any, x: Value) -> Any:
    return convert(graph, x, _dtype(op))


# ---- Shapes ------------------------------------------------------------------------------------------------


@operation("stablehlo.reshape")
def _reshape(graph: Graph, op: Any, x: Value) -> Any:
    return reshape(graph, x, _shape(op))


@operation("stablehlo.broadcast_in_dim")
def _broadcast(graph: Graph, op: Any, x: Value) -> Any:
    return broadcast(graph, x, _shape(op), numbers(op, "broadcast_dimensions"))


@operation("stablehlo.transpose")
def _transpose(graph: Graph, op: Any, x: Value) -> Any:
    return graph.op("permute", as_node(graph, x), numbers(op, "permutation"))


@operation("stablehlo.slice")
def _slice(graph: Graph, op: Any, x: Value) -> Any:
    return cut(graph, x, numbers(op, "start_indices"), numbers(op, "limit_indices"), numbers(op, "strides"))


@operation("stablehlo.concatenate")
def _concatenate(graph: Graph, op: Any, *parts: Value) -> Any:
    return graph.op("cat", [as_node(graph, part) for part in parts], op.attributes["dimension"].value)


@operation("stablehlo.pad")
def _pad(graph: Graph, op: Any, x: Value, fill: Value) -> Any:
    return pad(graph, x, fill, numbers(op, "edge_padding_low"), numbers(op, "edge_padding_high"), numbers(op, "interior_padding"))


@operation("stablehlo.reverse")
def _reverse(graph: Graph, op: Any, x: Value) -> Any:
    return graph.op("flip", as_node(graph, x), numbers(op, "dimensions"))


@operation("stablehlo.iota")
def _iota(graph: Graph, op: Any) -> Any:
    return iota(graph, _shape(op), op.attributes["iota_dimension"].value, _dtype(op))


# ---- Reductions and products -------------------------------------------------------------------------------

REDUCTIONS = {"stablehlo.add": "sum", "stablehlo.maximum": "amax", "stablehlo.minimum": "amin", "stablehlo.and": "all", "stablehlo.or": "any"}
START = {"sum": 0, "amax": -math.inf, "amin": math.inf, "all": True, "any": False}


def _body(op: Any) -> str:
    """The one operation of the function that a reduction or scatter applies; "" if there are more."""
    names = [inner.operation.name for inner in op.regions[0].blocks[0].operations]
    return names[0] if len(names) == 2 else ""


@operation("stablehlo.reduce")
def _reduce(graph: Graph, op: Any, *operands: Value) -> Any:
    name = REDUCTIONS.get(_body(op), "")
    if len(operands) != 2 or not name or (name in ("all", "any")) != (_dtype(op) is DType.bool):
        raise Unimplemented("reduce by other than a sum, maximum, minimum, and, or of one tensor is not supported")
    start = operands[1]
    if not isinstance(start, Filled) or (start.number != START[name] and not _is_least(name, start)):
        raise Unimplemented(f"reduce with the start {start} is not supported")
    return reduce(graph, name, operands[0], numbers(op, "dimensions"), _dtype(op))


def _is_least(name: str, start: Filled) -> bool:
    """Whether a maximum of integers starts with the least one, or a minimum with the largest."""
    if name not in ("amax", "amin") or start.dtype not in WHOLE:
        return False
    bits, signed = 8 * start.dtype.itemsize, start.dtype is not DType.u8
    least, largest = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return start.number == (least if name == "amax" else largest)


@operation("stablehlo.dot_general")
def _dot_general(graph: Graph, op: Any, a: Value, b: Value) -> Any:
    dims = dialect.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    return contract(graph, a, b, (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions),
                    (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions))


# ---- Indices -----------------------------------------------------------------------------------------------


def _check_index_dim(position: int, indices: Value, index_batching: Sequence[int], batching: Sequence[int]) -> None:
    if position != len(indices.shape) - 1 or list(index_batching) != list(batching):
        raise Unimplemented("indices along other than the last dim, or batched along other dims than the operand, are not supported")


@operation("stablehlo.gather")
def _gather(graph: Graph, op: Any, x: Value, indices: Value) -> Any:
    dims = dialect.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    _check_index_dim(dims.index_vector_dim, indices, dims.start_indices_batching_dims, dims.operand_batching_dims)
    return gather(graph, x, indices, window=dims.offset_dims, dropped=dims.collapsed_slice_dims, mapped=dims.start_index_map,
                  batching=dims.operand_batching_dims, sizes=numbers(op, "slice_sizes"))


@operation("stablehlo.scatter")
def _scatter(graph: Graph, op: Any, *operands: Value) -> Any:
    if len(operands) != 3 or _body(op) != "stablehlo.add":
        raise Unimplemented("scatter other than additions to one tensor is not supported")
    dims = dialect.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    x, indices, updates = operands
    _check_index_dim(dims.index_vector_dim, indices, dims.scatter_indices_batching_dims, dims.input_batching_dims)
    return scatter_add(graph, x, indices, updates, window=dims.update_window_dims, dropped=dims.inserted_window_dims,
                       mapped=dims.scattered_dims_to_operand_dims, batching=dims.input_batching_dims)
