"""Values while a program of JAX or StableHLO is read: nodes of the graph, or numbers that need none."""

from __future__ import annotations

import dataclasses
from typing import Any

from .dtypes import DType
from .graph import Graph
from .node import Node


@dataclasses.dataclass(frozen=True)
class Filled:
    """A tensor with the same number everywhere. Most operations take it as that number."""

    number: int | float | bool
    shape: tuple[int, ...]
    dtype: DType


Value = Node | Filled


def as_node(graph: Graph, value: Value) -> Any:
    """The value as an operand that must be a tensor."""
    if isinstance(value, Node):
        return value
    return graph.op("full", list(value.shape), fill_value=value.number, dtype=value.dtype)


def binary(graph: Graph, op: str, left: Value, right: Value) -> Any:
    """An elementwise operation, of which one operand may be a number."""
    if isinstance(left, Node) and isinstance(right, Filled):
        return graph.op(op, left, right.number)
    if isinstance(left, Filled) and isinstance(right, Node):
        return graph.op(op, left.number, right)
    return graph.op(op, as_node(graph, left), as_node(graph, right))
