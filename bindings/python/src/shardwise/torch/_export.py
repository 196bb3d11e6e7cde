"""Graphs of PyTorch's modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch.utils import _pytree as pytree
from torch.utils.dlpack import from_dlpack

from .._compile import load_graph
from ..errors import InvalidArgument
from ..graph import Graph
from ._capture import Capture, capture
from ._fx_json import Writer, results_of

Inputs: TypeAlias = torch.Tensor | Sequence[Any] | Mapping[str, Any]
"""Arguments of a module: one tensor, a sequence of them, or a dict by keyword."""


class TorchGraph(Graph):
    """The graph of a module. :func:`shardwise.compile` plans it.

    Ports of parameters and buffers are named after the module: ``param.layers.0.weight``, ``buffer.bn.running_mean``. ``input.N`` is number `N` of
    all tensors and numbers in the arguments. ``output.N`` is number `N` of those in the results (``output`` for the first).
    """

    module: torch.nn.Module
    fx_json: bytes
    """The joint graph as JSON, which ``shardwise import --from fx-json`` reads, too."""

    def _describe(self, module: torch.nn.Module, captured: Capture, writer: Writer) -> None:
        self.module = module
        self._in_spec = captured.in_spec
        self._out_spec = captured.out_spec
        self._constants = writer.constants
        self._results = _results(captured)
        self._arguments = captured.leaves
        self._state_names = [(f"param.{n.meta['desc'].target}", n.meta["desc"].target) for n in _placeholders(captured, "ParamAOTInput")]
        self._state_names += [(f"buffer.{n.meta['desc'].target}", n.meta["desc"].target) for n in _placeholders(captured, "BufferAOTInput")]
        self._tangents = [f"tangent.{n.meta['desc'].output.idx}" for n in _placeholders(captured, "TangentAOTInput")]

    @property
    def tangents(self) -> list[str]:
        """The tangent ports: one for each result that autograd can differentiate."""
        return list(self._tangents)

    def state(self) -> dict[str, torch.Tensor]:
        """Parameters and buffers of the module as they are now, by port, and tensors that the program makes from numbers."""
        found = {port: _attribute(self.module, name) for port, name in self._state_names}
        return found | {f"buffer.{name}": value for name, value in self._constants.items()}

    def arguments(self, *args: Any, **kwargs: Any) -> dict[str, torch.Tensor]:
        """The tensors among the arguments of a call, by port.

        :raises InvalidArgument: the arguments have other shapes, types or values than those that the graph was made with
        """
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._in_spec:
            raise InvalidArgument(f"the arguments are {spec}; the graph was made with {self._in_spec}")
        found = {}
        for i, (leaf, wanted) in enumerate(zip(leaves, self._arguments, strict=True)):
            if isinstance(wanted, torch.Tensor):
                if not isinstance(leaf, torch.Tensor) or leaf.shape != wanted.shape or leaf.dtype != wanted.dtype:
                    raise InvalidArgument(f"argument {i} is {_kind(leaf)}; the graph was made with {_kind(wanted)}")
                found[f"input.{i}"] = leaf
            elif wanted != leaf:
                raise InvalidArgument(f"argument {i} is {leaf!r}; the graph was made with {wanted!r}")
        return found

    def apply_updates(self, outputs: Mapping[str, Any], arguments: Mapping[str, torch.Tensor]) -> None:
        """Copies new values from a run into the tensors that the module changes, such as running statistics.

        :param outputs: the outputs of the run, by port
        :param arguments: the result of :meth:`arguments`; the module may change arguments too
        """
        targets = self.state() | dict(arguments)
        with torch.no_grad():
            for port, new in outputs.items():
                if port.startswith("update.") and new is not None:
                    targets[self._updated(port)].copy_(as_torch(new))

    @staticmethod
    def _updated(port: str) -> str:
        """The port of the tensor that an update changes. The name of an update of a parameter does not contain "param."."""
        name = port.removeprefix("update.")
        return name if name.startswith(("buffer.", "input.")) else f"param.{name}"

    def results(self, outputs: Mapping[str, Any], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """The results of a run in the structure that the module would return.

        :param outputs: the outputs of the run, by port
        :param args, kwargs: the arguments of the call, some of which the module may return as they are
        """
        given = pytree.tree_leaves((args, dict(kwargs or {})))
        leaves = []
        for kind, value in self._results:
            if kind == "port":
                leaves.append(as_torch(outputs[value]))
            elif kind == "argument":
                leaves.append(given[value])
            else:
                leaves.append(_attribute(self.module, value) if kind == "state" else value)
        return pytree.tree_unflatten(leaves, self._out_spec)


def export(module: torch.nn.Module, inputs: Inputs, training: bool = True) -> TorchGraph:
    """The graph of a module, for :func:`shardwise.compile`.

    The module is traced with these inputs and does not run. The graph is made for the shapes of these inputs, and for the numbers among them.
    ``module.training`` decides whether dropout and batch statistics are on, as in PyTorch. Tensors on the device ``meta`` have no values and give
    the same graph as tensors on the CPU. Use them to plan a model that is too large for this machine.

    :param inputs: a tensor, a sequence of positional arguments, or a dict of keyword arguments; tensors on the CPU or on ``meta``
    :param training: True: the joint graph of the forward and backward pass, with a tangent for each result, and a gradient for each parameter and
        each input that requires one; False: the forward pass alone
    :raises Unimplemented: the module cannot be traced as one graph, or has operations that the library does not have; the message lists all of them
    """
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if isinstance(inputs, Mapping):
        return export_call(module, (), inputs, training=training)
    return export_call(module, tuple(inputs), {}, training=training)


def export_call(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, training: bool) -> TorchGraph:
    """As :func:`export`, with the positional and keyword arguments of a call."""
    captured = capture(module, args, kwargs, training=training)
    writer = Writer(captured)
    written = writer.written()
    graph = TorchGraph.from_bytes(load_graph(written).to_bytes())
    graph.fx_json = written
    graph._describe(module, captured, writer)
    return graph


def _placeholders(captured: Capture, kind: str) -> Iterator[torch.fx.Node]:
    for node in captured.joint.graph.nodes:
        if node.op == "placeholder" and type(node.meta["desc"]).__name__ == kind:
            yield node


def _results(captured: Capture) -> list[tuple[str, Any]]:
    """The source of each result: a port, an argument, a tensor of the module, or a constant."""
    output = captured.joint.graph.output_node()
    found = []
    for value, desc in zip(results_of(output), output.meta["desc"], strict=True):
        if type(desc).__name__ != "PlainAOTOutput":
            continue
        if not isinstance(value, torch.fx.Node):
            found.append(("constant", value))
        elif value.op != "placeholder":
            found.append(("port", f"output.{desc.idx}" if desc.idx else "output"))
        else:
            given = value.meta["desc"]
            found.append(("argument", given.idx) if type(given).__name__ == "PlainAOTInput" else ("state", given.target))
    return found


def _attribute(module: torch.nn.Module, name: str) -> torch.Tensor:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    assert isinstance(found, torch.Tensor)
    return found


def as_torch(value: Any) -> torch.Tensor:
    """A result of a run, without a copy."""
    return value if isinstance(value, torch.Tensor) else from_dlpack(value)


def _kind(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
