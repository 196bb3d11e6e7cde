"""Graphs, which are built by calls or loaded."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from . import ops
from ._native import NONE, as_dict, clib, context, new, set_array
from ._source import caller
from ._tensor import tensor
from .dtypes import DType, DTypeLike, dtype_of
from .errors import Error
from .node import Node, Nodes
from .symbols import Dim, Size, is_symbolic, write_sizes

ROLES = {"parameter": clib.SHW_ROLE_PARAMETER, "buffer": clib.SHW_ROLE_BUFFER, "input": clib.SHW_ROLE_INPUT,
         "tangent": clib.SHW_ROLE_TANGENT, "seed": clib.SHW_ROLE_SEED, "optimizer_state": clib.SHW_ROLE_OPTIMIZER_STATE}
RECOMPUTE = {"must_save": clib.SHW_RECOMPUTE_MUST_SAVE, "prefer_save": clib.SHW_RECOMPUTE_PREFER_SAVE,
             "prefer_recompute": clib.SHW_RECOMPUTE_PREFER_RECOMPUTE, "must_recompute": clib.SHW_RECOMPUTE_MUST_RECOMPUTE}


class Output:
    """An output of a graph, for :meth:`Graph.entry`."""

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph = graph
        self.index = index


class Graph:
    """A tensor program: inputs, operations, outputs.

    Nodes have operators, and the operations of the library as methods; :mod:`shardwise.ops` has the operations as functions. Result types are
    inferred at once. If the operands of an operation do not fit, the line that adds it raises::

        graph = sw.Graph()
        x = graph.input("x", (64, 128))
        w = graph.parameter("w", (128, 512))
        graph.result((x @ w).relu(), "y")

    Use a graph from one thread at a time.

    :param source_lines: True: the graph stores file and line of each node, so that other programs can show them too. False: only this object knows
        the lines, and equal graphs have equal bytes wherever they are built
    """

    def __init__(self, *, source_lines: bool = False) -> None:
        self._builder: Any = clib.shw_builder_create(context())
        self._bytes: bytes | None = None
        self._store_lines = source_lines
        self._lines: list[str] = []
        self._phase = 0
        self._module = ""
        self._recompute = 0

    @classmethod
    def from_bytes(cls, data: Any) -> Self:
        """Reads a graph from the bytes of ``to_bytes()``. It can be planned and shown, but nothing can be added to it.

        :raises InvalidArgument: the bytes are not a graph
        """
        summary = new("graph_summary")
        clib.shw_graph_get_summary(data, summary)
        graph = cls.__new__(cls)
        Graph.__init__(graph)
        graph._builder = None
        graph._bytes = bytes(data)
        return graph

    # ---- Inputs ----

    def input(self, name: str | None = None, shape: Sequence[Size] = (), dtype: DTypeLike = DType.f32, *, role: str = "input",
              position: int = 0, state: bool = False) -> Node:
        """Adds an input of the graph.

        :param name: used in runs, pins and messages: the port is ``input.<name>``. None: the position is used
        :param shape: sizes of the whole tensor, over all ranks; expressions of symbols for sizes that are known only at run time
        :param dtype: type of the elements
        :param role: "input", "parameter", "buffer", "tangent", "seed" or "optimizer_state"
        :param position: number of the argument of the model; for a tangent, number of the output that it belongs to
        :param state: True: the executor keeps the tensor between runs, and runs do not take it as an input
        :raises InvalidArgument: name, shape or role do not fit
        """
        if role not in ROLES:
            raise ValueError(f"role {role!r} is none of {', '.join(ROLES)}")
        record = new("builder_input", role=ROLES[role], name=name, position=position, dtype=int(dtype_of(dtype)))
        if state:
            record.storage = clib.SHW_STORAGE_STATE
        if is_symbolic(shape):
            record.symbolic_dims = write_sizes(shape)
        elif shape:
            record.dims = [int(size) for size in shape]  # type: ignore[arg-type]
            record.rank = len(shape)
        return self._added(lambda builder, options: clib.shw_builder_add_input(builder, record, options), name=None)

    def parameter(self, name: str, shape: Sequence[int], dtype: DTypeLike = DType.f32, *, state: bool = False) -> Node:
        """Adds a parameter: a tensor of the model that is trained. The port is ``param.<name>``. Arguments are as for :meth:`input`."""
        return self.input(name, shape, dtype, role="parameter", state=state)

    def buffer(self, name: str, shape: Sequence[int], dtype: DTypeLike = DType.f32, *, state: bool = False) -> Node:
        """Adds a buffer: a tensor of the model that is not trained. The port is ``buffer.<name>``. Arguments are as for :meth:`input`."""
        return self.input(name, shape, dtype, role="buffer", state=state)

    def tangent(self, shape: Sequence[Size], dtype: DTypeLike = DType.f32, *, of: int = 0) -> Node:
        """Adds a tangent: the gradient of result number `of`, which the caller passes to each run. The port is ``tangent.<of>``."""
        return self.input(None, shape, dtype, role="tangent", position=of)

    def constant(self, name: str, value: Any, dtype: DTypeLike | None = None) -> Node:
        """Adds a small tensor that is known now. The graph and its plans hold its values.

        :param name: unique among the constants
        :param value: as for :func:`shardwise.tensor`; at most 1 MiB
        """
        values = tensor(value, dtype)
        return self._added(lambda builder, options: clib.shw_builder_add_constant(builder, name, values, options), name=None)

    def symbol(self, name: str, *, minimum: int = 0, maximum: int, divisor: int = 1, hint: int = 0) -> Dim:
        """Adds a size that is known only at run time.

        :param minimum: smallest size
        :param maximum: largest size
        :param divisor: every size is a multiple of it
        :param hint: a typical size, for planning; 0: `maximum`
        :return: an expression, for shapes and attributes
        """
        record = new("symbol", name=name, minimum=minimum, maximum=maximum, divisor=divisor, hint=hint)
        clib.shw_builder_add_symbol(self._open(), record)
        return Dim({name: 1})

    # ---- Operations ----

    def op(self, op_name: str, *args: Any, name: str | None = None, **kwargs: Any) -> Node | Nodes:
        """Adds an operation by its name: ``graph.op("mm", a, b)``.

        :param name: name of the node, for messages and pins; None: "%" and its number
        :return: the node; for an operation with several results, :class:`Nodes`
        :raises InvalidArgument: the operands or attributes do not fit; the message has the line that made this call
        :raises NotFound: there is no such operation; the message offers names like it
        """
        call = ops.bind(ops.find(op_name), Node, args, kwargs)
        self._check_operands(op_name, args, kwargs)
        node = self._added(
            lambda builder, options: clib.shw_builder_add_node(builder, op_name, call.operands, call.attrs, options), name=name)
        return Nodes(node) if node.num_results > 1 else node

    def _check_operands(self, op_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        flat = [v for value in (*args, *kwargs.values()) for v in (value if isinstance(value, (list, tuple)) else (value,))]
        if any(isinstance(v, Node) and v.graph is not self for v in flat):
            raise ValueError(f"{op_name}: an operand is a node of another graph")

    def _added(self, add: Any, name: str | None) -> Node:
        builder, line = self._open(), caller()
        options = None
        if name or self._phase or self._module or self._recompute or self._store_lines:
            options = new("node_options", name=name, phase=self._phase, recompute=self._recompute,
                          module_path=self._module or None, source=line if self._store_lines else None)
        try:
            index = add(builder, options)
        except Error as error:
            error.message += f"\n  at {line}"
            raise
        self._lines.append(line)
        row = new("result_type")
        clib.shw_builder_get_type(builder, index, 0, row)
        return Node(self, index, tuple(row.dims), DType(row.dtype) if row.present else None, row.num_results)

    @contextlib.contextmanager
    def backward(self) -> Iterator[None]:
        """A context manager. Nodes that are added inside belong to the backward pass."""
        before, self._phase = self._phase, clib.SHW_PHASE_BACKWARD
        try:
            yield
        finally:
            self._phase = before

    @contextlib.contextmanager
    def module(self, name: str) -> Iterator[None]:
        """A context manager. Nodes that are added inside belong to this module, for reports and pins. Nested names are joined by dots."""
        before = self._module
        self._module = f"{before}.{name}" if before else name
        try:
            yield
        finally:
            self._module = before

    @contextlib.contextmanager
    def recompute(self, wish: str) -> Iterator[None]:
        """A context manager. It tags the nodes that are added inside for activation checkpointing: "must_save", "prefer_save", "prefer_recompute"
        or "must_recompute"."""
        if wish not in RECOMPUTE:
            raise ValueError(f"{wish!r} is none of {', '.join(RECOMPUTE)}")
        before, self._recompute = self._recompute, RECOMPUTE[wish]
        try:
            yield
        finally:
            self._recompute = before

    # ---- Outputs and entries ----

    def _output(self, **fields: Any) -> Output:
        record = new("builder_output")
        record.node = record.of_input = NONE
        for field, value in fields.items():
            if value is not None:
                setattr(record, field, value)
        try:
            return Output(self, clib.shw_builder_add_output(self._open(), record))
        except Error as error:
            error.message += f"\n  at {caller()}"
            raise

    def result(self, node: Node, name: str | None = None) -> Output:
        """Adds a result. The port is ``output.<name>``; without a name, ``output`` or ``output.<position>``."""
        return self._output(role=clib.SHW_ROLE_RESULT, node=node.index, name=name)

    def gradient(self, of: Node, node: Node | None) -> Output:
        """Adds the gradient of an input as an output. The port is ``grad.<name>``.

        :param of: the input
        :param node: its gradient; None: the input has no gradient
        """
        return self._output(role=clib.SHW_ROLE_GRADIENT, node=None if node is None else node.index, of_input=of.index)

    def update(self, of: Node, node: Node, *, in_place: bool = False) -> Output:
        """Adds the new value of an input as an output. The new value of state overwrites the tensor that the executor keeps. The port is
        ``update.<name>``.

        :param of: the input
        :param node: its new value
        :param in_place: the new value overwrites the memory of the input; always the case for state
        """
        return self._output(role=clib.SHW_ROLE_UPDATE, node=node.index, of_input=of.index, in_place=int(in_place))

    def entry(self, name: str, outputs: Sequence[Output], *, weight: float = 1.0, after: Sequence[int] = ()) -> int:
        """Adds an entry, a way to run the graph. It computes these outputs, from the inputs that they need. A graph without entries gets one, "step",
        with all outputs.

        :param weight: how often the entry is called, relative to other entries
        :param after: entries that must run before it in the same session, by the numbers that this method returned
        :return: the number of the entry
        """
        record = new("builder_entry", name=name, weight=weight)
        set_array(record, "outputs", sorted(output.index for output in outputs))
        set_array(record, "after", after)
        number: int = clib.shw_builder_add_entry(self._open(), record)
        return number

    # ---- The whole ----

    def _open(self) -> Any:
        if self._builder is None:
            raise ValueError("a graph that was loaded cannot be added to")
        return self._builder

    def to_bytes(self) -> bytes:
        """The graph as a FlatBuffer, the content of a .swgraph file. :func:`shardwise.compile` takes it.

        :raises InvalidArgument: the graph as a whole is malformed
        """
        if self._bytes is not None:
            return self._bytes
        data: bytes = clib.shw_builder_finish(self._builder)
        return data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_bytes()`` to a file."""
        with open(path, "wb") as file:
            file.write(self.to_bytes())

    def summary(self) -> dict[str, Any]:
        """The numbers of nodes, parameters and outputs, and ``parameter_bytes``, the bytes of all whole parameters."""
        row = new("graph_summary")
        clib.shw_graph_get_summary(self.to_bytes(), row)
        return as_dict(row)

    def line_of(self, node_index: int) -> str | None:
        """File and line of the Python code that added a node; None: not known."""
        return self._lines[node_index] if 0 <= node_index < len(self._lines) else None

    def __str__(self) -> str:
        text: bytes = clib.shw_graph_to_text(context(), self.to_bytes())
        return text.decode()

    def __repr__(self) -> str:
        try:
            row = self.summary()
        except Error as error:
            return f"<shardwise.Graph, not complete: {error.message}>"
        return f"<shardwise.Graph of {row['num_nodes']} nodes, {row['num_parameters']} parameters>"
