"""Graphs of programs in StableHLO."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo as dialect
from jax.interpreters.mlir import make_ir_context

from .._value import Filled, Value, as_node
from ..errors import InvalidArgument, Unimplemented
from ..graph import Graph
from ..node import Node
from ._operations import OPERATIONS, type_of

CALL, RETURNS = "func.call", ("func.return", "stablehlo.return")


class StableHloGraph(Graph):
    """The graph of a program. :func:`shardwise.compile` plans it.

    ``argument_ports`` and ``result_ports`` are the names of the ports, in the order of the program's arguments and results.
    """

    _num_constants = 0
    argument_ports: list[str]
    result_ports: list[str]


def load(source: str | bytes, *, parameters: str | Collection[int] = (), gradients: str | None = None) -> StableHloGraph:
    """The graph of a program: of its function ``main``.

    Ports have the names of the program's arguments and results. The argument ``params['w'][0]`` is the port ``input.params.w.0``. An argument without
    a name is the port ``input.<position>``. Indices must be in bounds.

    :param source: text, or bytecode such as ``jax.export.export(…)(…).mlir_module_serialized``
    :param parameters: the arguments that are parameters: a common prefix of their names, ``"params"``, or their positions. The prefix is left out of
        the ports' names: ``param.w.0``
    :param gradients: a common prefix of the names of the results that are gradients: ``"result[1]"``. The rest of each name is that of the parameter
    :raises InvalidArgument: `source` is not StableHLO, or has no function ``main``; or a gradient does not belong to a parameter
    :raises Unimplemented: the program has operations that the library does not know; the message lists all of them
    """
    with make_ir_context() as context:
        module = _module(context, source)  # holds what is read
        functions = _functions(module)
        main = functions.get("main")
        if main is None:
            raise InvalidArgument(f"the program has no function 'main', but {', '.join(functions) or 'none'}")
        _check_operations(functions.values())
        return _graph(functions, main, parameters, gradients)


def _module(context: Any, source: str | bytes) -> Any:
    try:
        if isinstance(source, str) or not source.startswith(b"ML\xefR"):
            return ir.Module.parse(source)
        return dialect.deserialize_portable_artifact(context, source)
    except (ir.MLIRError, ValueError) as error:
        raise InvalidArgument(f"this is no StableHLO: {error}") from None


def _functions(module: Any) -> dict[str, Any]:
    return {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations if op.operation.name == "func.func"}


def _operations(function: Any) -> Iterator[Any]:
    for block in function.regions[0].blocks:
        for op in block.operations:
            yield op.operation


def _full_name(op: Any) -> str:
    """The name of an operation; for a custom call, followed by its target's name."""
    return f"{op.name} {op.attributes['call_target_name']}" if op.name == "stablehlo.custom_call" else str(op.name)


def _check_operations(functions: Collection[Any]) -> None:
    known = {CALL, *RETURNS, *OPERATIONS}
    names = Counter(_full_name(op) for function in functions for op in _operations(function) if op.name not in known)
    unknown = dict(sorted(names.items()))
    if unknown:
        listed = ", ".join(f"{name} ({times})" for name, times in unknown.items())
        raise Unimplemented(f"the program has {len(unknown)} operations that are not known: {listed}")


# ---- Names -------------------------------------------------------------------------------------------------


def _path(name: str) -> str:
    """``params['w'][0].x`` as ``params.w.0.x``."""
    return ".".join(re.findall(r"[^\[\]'\".]+", name))


def _argument_names(main: Any) -> list[str]:
    """The names of the arguments, from locations such as ``loc("params['w']")``; "" for other locations, and for names that occur twice."""
    names = []
    for argument in main.regions[0].blocks[0].arguments:
        location = argument.location
        name = location.name_str if isinstance(location, ir.NameLoc) else ""
        names.append(_path(name))
    return [name if names.count(name) == 1 else "" for name in names]


def _result_names(main: Any) -> list[str]:
    count = len(ir.FunctionType(main.attributes["function_type"].value).results)
    attributes = list(main.attributes["res_attrs"]) if "res_attrs" in main.attributes else []
    found = [str(row["jax.result_info"]).strip('"') if "jax.result_info" in row else "" for row in map(ir.DictAttr, attributes)]
    return [_path(name) for name in (found or [""] * count)]


def _below(name: str, prefix: str) -> str | None:
    """The part of a path after a prefix; None: the path does not begin with it."""
    path = _path(prefix)
    return "" if name == path else name.removeprefix(path + ".") if name.startswith(path + ".") else None


# ---- The graph ---------------------------------------------------------------------------------------------


def _graph(functions: dict[str, Any], main: Any, parameters: str | Collection[int], gradients: str | None) -> StableHloGraph:
    graph = StableHloGraph()
    arguments = main.regions[0].blocks[0].arguments
    nodes, trained, graph.argument_ports = [], {}, []
    for position, (argument, name) in enumerate(zip(arguments, _argument_names(main), strict=True)):
        shape, dtype = type_of(argument)
        rest = _below(name, parameters) if isinstance(parameters, str) else name if position in parameters else None
        if rest is None:
            nodes.append(graph.input(name or str(position), shape, dtype, position=position))
            graph.argument_ports.append(f"input.{name or position}")
        else:
            nodes.append(graph.parameter(rest or str(position), shape, dtype))
            graph.argument_ports.append(f"param.{rest or position}")
            trained[rest] = nodes[-1]
    made = _Reader(graph, functions).run(main, nodes)
    graph.result_ports = [_add_output(graph, as_node(graph, value), i, name, trained, gradients)
                          for i, (value, name) in enumerate(zip(made, _result_names(main), strict=True))]
    return graph


def _add_output(graph: StableHloGraph, node: Node, position: int, name: str, trained: dict[str, Node], gradients: str | None) -> str:
    of = None if gradients is None else _below(name, gradients)
    if of is None:
        graph.result(node, name or None)
        return f"output.{name}" if name else f"output.{position}" if position else "output"
    if of not in trained:
        raise InvalidArgument(f"result {name} would be the gradient of a parameter '{of}', which there is not: {', '.join(trained) or 'none'}")
    graph.gradient(trained[of], node)
    return f"grad.{of or next(i for i, n in enumerate(trained.values()) if n is trained[of])}"


class _Reader:
    """Adds the operations of functions to a graph; calls are inlined."""

    def __init__(self, graph: StableHloGraph, functions: dict[str, Any]) -> None:
        self.graph = graph
        self.functions = functions

    def run(self, function: Any, inputs: Sequence[Value]) -> list[Value]:
        """The results of a function with these inputs."""
        (block,) = function.regions[0].blocks
        known: dict[Any, Value] = dict(zip(block.arguments, inputs, strict=True))
        for op in _operations(function):
            operands = [known[value] for value in op.operands]
            if op.name in RETURNS:
                return operands
            with self._place(str(op.location)):
                known |= zip(op.results, self._operation(op, operands), strict=True)
        raise InvalidArgument("a function does not return")

    def _operation(self, op: Any, operands: list[Value]) -> Sequence[Value]:
        if op.name == CALL:
            return self.run(self.functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value], operands)
        made = OPERATIONS[op.name](self.graph, op, *operands)
        values = made if isinstance(made, (list, tuple)) else [made]
        return [self._fitted(value, result) for value, result in zip(values, op.results, strict=True)]

    def _fitted(self, value: Value, result: Any) -> Value:
        """Converts a value to the dtype in the program. It differs for indices, which some operations of the library give in i64."""
        dtype = type_of(result)[1]
        if isinstance(value, Filled) or value.dtype is dtype:
            return value
        return self.graph.op("convert_element_type", value, dtype=dtype)  # type: ignore[return-value]

    @contextlib.contextmanager
    def _place(self, location: str) -> Iterator[None]:
        """Module and phase, if the location is one of JAX: ``loc("jit(f)/transpose(jvp(attention))/mul"…)``."""
        found = re.match(r'loc\("([^"]*)/[^"/]*"', location)
        stack = found[1] if found else ""
        parts = re.sub(r"jit\([^)]*\)/?|\w+\(|\)", "", stack).split("/")
        path = ".".join(part for part in parts if re.fullmatch(r"[\w.-]+", part))  # less equations of einsum
        with contextlib.ExitStack() as places:
            if "transpose(" in stack:
                places.enter_context(self.graph.backward())
            if path:
                places.enter_context(self.graph.module(path))
            yield
