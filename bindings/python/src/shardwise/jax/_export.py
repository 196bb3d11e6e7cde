"""Graphs of JAX's functions, from their jaxprs."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.extend.core as core

from .._value import Filled, Value, as_node
from ..dtypes import dtype_of
from ..errors import InvalidArgument, Unimplemented
from ..graph import Graph
from ..node import Node
from ._primitives import INLINED, PRIMITIVES, inner_jaxpr


class JaxGraph(Graph):
    """The graph of a function. :func:`shardwise.compile` plans it.

    Each leaf of the arguments is a port, named by its path: ``param.blocks.0.w`` in the parameters, ``input.1.images`` in other arguments.
    """

    _num_constants = 0
    _ports: list[str]
    _types: list[Any]
    _tree: Any
    _result_ports: list[str]
    _result_tree: Any

    def arguments(self, *args: Any) -> dict[str, Any]:
        """The arguments of a call of the function, by port.

        :raises InvalidArgument: the arguments have another structure, or other shapes or types, than those that the graph was made with
        """
        leaves, tree = jax.tree.flatten(args)
        if tree != self._tree:
            raise InvalidArgument(f"the arguments are {tree}; the graph was made with {self._tree}")
        for name, leaf, wanted in zip(self._ports, leaves, self._types, strict=True):
            if jax.typeof(leaf).shape != wanted.shape or jax.typeof(leaf).dtype != wanted.dtype:
                raise InvalidArgument(f"{name} is {jax.typeof(leaf)}; the graph was made with {wanted}")
        return dict(zip(self._ports, map(jax.numpy.asarray, leaves), strict=True))

    def results(self, outputs: Mapping[str, Any]) -> Any:
        """The results of a run in the structure that the function would return."""
        return jax.tree.unflatten(self._result_tree, [jax.dlpack.from_dlpack(outputs[port]) for port in self._result_ports])


def export(fn: Callable[..., Any], *args: Any, parameters: int | None = 0) -> JaxGraph:
    """The graph of a function, for :func:`shardwise.compile`.

    The function is traced with these arguments and does not run. If the second result has the structure of the parameters, it is taken for their
    gradients. This is so for every function that ``jax.value_and_grad`` made. Indices must be in bounds.

    :param args: arrays and structures of arrays
    :param parameters: number of the argument that has the parameters; None: there is none
    :raises Unimplemented: the function has primitives that the library does not know; the message lists all of them
    """
    closed, out = jax.make_jaxpr(fn, return_shape=True)(*args)
    check_primitives(closed.jaxpr)
    graph = JaxGraph()
    inputs = _add_inputs(graph, args, parameters)
    graph._types = [var.aval for var in closed.jaxpr.invars]
    constants = [_constant(graph, value) for value in closed.consts]
    made = Reader(graph).run(closed.jaxpr, constants + list(inputs))
    _add_outputs(graph, out, made, inputs, None if parameters is None else args[parameters], args, parameters)
    return graph


def check_primitives(jaxpr: core.Jaxpr) -> None:
    unknown: Counter[str] = Counter()

    def look(inner: core.Jaxpr) -> None:
        for eqn in inner.eqns:
            if eqn.primitive.name in INLINED:
                look(inner_jaxpr(eqn).jaxpr)
            elif eqn.primitive.name not in PRIMITIVES:
                unknown[eqn.primitive.name] += 1

    look(jaxpr)
    if unknown:
        listed = ", ".join(f"{name} ({times})" for name, times in sorted(unknown.items()))
        raise Unimplemented(f"the function has {len(unknown)} primitives that are not known: {listed}")


class Reader:
    """Adds the equations of a jaxpr to a graph."""

    def __init__(self, graph: JaxGraph) -> None:
        self.graph = graph

    def run(self, jaxpr: core.Jaxpr, inputs: Sequence[Value]) -> list[Value]:
        """The results of a jaxpr with these inputs, its constants first."""
        known: dict[Any, Value] = dict(zip([*jaxpr.constvars, *jaxpr.invars], inputs, strict=True))
        for eqn in jaxpr.eqns:
            operands = [_literal(var) if isinstance(var, core.Literal) else known[var] for var in eqn.invars]
            made = self._equation(eqn, operands)
            known |= zip(eqn.outvars, made, strict=True)
        return [_literal(var) if isinstance(var, core.Literal) else known[var] for var in jaxpr.outvars]

    def _equation(self, eqn: Any, operands: list[Value]) -> list[Value]:
        stack = str(eqn.source_info.name_stack)
        path = re.sub(r"\w+\(|\)", "", stack).replace("/", ".").strip(".")
        with contextlib.ExitStack() as places:
            if "transpose(" in stack:
                places.enter_context(self.graph.backward())
            if path:
                places.enter_context(self.graph.module(path))
            if eqn.primitive.name in INLINED:
                inner = inner_jaxpr(eqn)
                return self.run(inner.jaxpr, [_constant(self.graph, value) for value in inner.consts] + operands)
            made = PRIMITIVES[eqn.primitive.name](self.graph, eqn, *operands)
            values = made if isinstance(made, (list, tuple)) else [made]
            return [self._fitted(value, var.aval) for value, var in zip(values, eqn.outvars, strict=True)]

    def _fitted(self, value: Value, wanted: Any) -> Value:
        """Converts a value to the shape and dtype in the jaxpr. They differ for numbers, which have no shape to broadcast with, and for indices,
        which are i64 in the library."""
        if isinstance(value, Filled):
            return value
        if tuple(value.shape) != tuple(wanted.shape):
            value = self.graph.op("expand", value, list(wanted.shape))  # type: ignore[assignment]
        dtype = dtype_of(str(wanted.dtype))
        return value if value.dtype is dtype else self.graph.op("convert_element_type", value, dtype=dtype)  # type: ignore[return-value]


def _literal(var: Any) -> Filled:
    return Filled(var.val.item() if hasattr(var.val, "item") else var.val, tuple(var.aval.shape), dtype_of(str(var.aval.dtype)))


def _constant(graph: JaxGraph, value: Any) -> Any:
    graph._num_constants += 1
    return graph.constant(f"constant{graph._num_constants}", jax.numpy.asarray(value))


# ---- Ports -------------------------------------------------------------------------------------------------


def _add_inputs(graph: JaxGraph, args: tuple[Any, ...], parameters: int | None) -> list[Node]:
    nodes, graph._ports = [], []
    for position, arg in enumerate(args):
        for path, leaf in jax.tree_util.tree_leaves_with_path(arg):
            name, type_of = jax.tree_util.keystr(path, simple=True, separator="."), jax.typeof(leaf)
            if position == parameters:
                graph._ports.append(f"param.{name or 'parameters'}")
                nodes.append(graph.parameter(name or "parameters", type_of.shape, str(type_of.dtype)))
            else:
                full = f"{position}.{name}" if name else str(position)
                graph._ports.append(f"input.{full}")
                nodes.append(graph.input(full, type_of.shape, str(type_of.dtype), position=position))
    graph._tree = jax.tree.structure(args)
    return nodes


def _add_outputs(graph: JaxGraph, out: Any, made: list[Value], inputs: list[Node], parameters: Any, args: tuple[Any, ...],
                 position: int | None) -> None:
    """Results, and gradients of the parameters."""
    graph._result_tree, graph._result_ports = jax.tree.structure(out), []
    trained = jax.tree.leaves(parameters)
    tree: Any = jax.tree.structure(parameters)
    has_gradients = position is not None and isinstance(out, tuple) and len(out) == 2 and bool(tree == jax.tree.structure(out[1]))
    first = len(made) - len(trained) if has_gradients else len(made)
    before = len(jax.tree.leaves(args[:position]))
    for i, value in enumerate(made[:first]):
        graph.result(as_node(graph, value), str(i))
        graph._result_ports.append(f"output.{i}" if i else "output")
    for node, value, name in zip(inputs[before:], made[first:], graph._ports[before:], strict=False):
        graph.gradient(node, as_node(graph, value))
        graph._result_ports.append("grad." + name.removeprefix("param."))

