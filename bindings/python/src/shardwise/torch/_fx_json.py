"""A joint graph as JSON (ap-graph-1), which the C library imports: it alone knows what operations mean."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import torch

from ..errors import Unimplemented
from ._capture import Capture

DESCRIBED = {"ParamAOTInput": ("target",), "BufferAOTInput": ("target",), "PlainAOTInput": ("idx",), "TangentAOTInput": ("output",),
             "PlainAOTOutput": ("idx",), "GradAOTOutput": ("grad_of",), "InputMutationAOTOutput": ("mutated_input",)}


class Writer:
    """Writes the nodes, and finds the tensors that the graph carries with it."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.constants: dict[str, torch.Tensor] = {}

    def written(self) -> bytes:
        nodes = [self._node(node) for node in self.capture.joint.graph.nodes if not self._is_number(node)]
        return json.dumps({"format": "ap-graph-1", "nodes": nodes}, separators=(",", ":")).encode()

    @staticmethod
    def _is_number(node: torch.fx.Node) -> bool:
        """An argument that is no tensor: its value was traced."""
        return node.op == "placeholder" and not isinstance(node.meta.get("val"), torch.Tensor)

    def _node(self, node: torch.fx.Node) -> dict[str, Any]:
        if node.op == "output":
            return self._output(node)
        row: dict[str, Any] = {"name": node.name, "op": node.op, "target": str(node.target), "args": self._argument(list(node.args)),
                               "kwargs": {key: self._argument(value) for key, value in node.kwargs.items()}, "val": _value(node.meta.get("val"))}
        if node.op == "placeholder":
            row["desc"] = _descriptor(node.meta["desc"])
        elif node.op == "get_attr":
            row |= self._constant(node)
        return row | self._origin(node)

    def _origin(self, node: torch.fx.Node) -> dict[str, Any]:
        """What is known of the place in the program that a node comes from."""
        meta = node.meta
        is_backward = meta.get("partitioner_tag") == "is_backward" or node.name.startswith("tangents")
        row: dict[str, Any] = {"phase": "backward" if is_backward else "forward"}
        path = self._module_path(meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack") or {})
        policy = getattr(meta.get("recompute"), "name", None)
        wanted = {"module_path": path, "recompute": policy, "ac_graph_id": meta.get("ac_graph_id"), "seq_nr": meta.get("seq_nr"),
                  "stack_trace": _last_frame(meta.get("stack_trace") or "")}
        return row | {key: value for key, value in wanted.items() if value is not None and value != ""}

    def _module_path(self, stack: dict[str, Any]) -> str:
        """The qualified name of the innermost module that is not the whole."""
        for key, (path, _) in reversed(stack.items()):
            found = self.capture.module_names.get(key.partition("@")[0])
            if found is None:
                found = re.sub(r"\['?(\w+)'?\]", r".\1", re.sub(r"^L\['\w+'\]\.?", "", path))
            if found:
                return found
        return ""

    def _constant(self, node: torch.fx.Node) -> dict[str, Any]:
        """A tensor that the program makes from numbers: a buffer of its own."""
        value: Any = self.capture.joint
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            raise Unimplemented(f"node '{node.name}': {type(value).__name__} as an operand is not supported")
        self.constants[str(node.target)] = value
        return {"op": "placeholder", "val": _value(value), "desc": {"cls": "BufferAOTInput", "target": str(node.target)}}

    def _output(self, node: torch.fx.Node) -> dict[str, Any]:
        flat, described = results_of(node), node.meta["desc"]  # numbers and arguments that are returned are no part of the graph
        kept = [(value, desc) for value, desc in zip(flat, described, strict=True) if isinstance(value, torch.fx.Node)
                and not (type(desc).__name__ == "PlainAOTOutput" and value.op == "placeholder")]
        return {"name": node.name, "op": "output", "target": "output", "args": [[self._argument(value) for value, _ in kept]], "kwargs": {},
                "val": None, "desc": [_descriptor(desc) for _, desc in kept]}

    def _argument(self, value: Any) -> Any:
        match value:
            case torch.fx.Node():
                return value.meta["val"] if self._is_number(value) else {"n": value.name}
            case list() | tuple():
                return [self._argument(item) for item in value]
            case float() if not math.isfinite(value):
                return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
            case None | bool() | int() | float() | str():
                return value
            case torch.dtype():
                return {"dtype": str(value).removeprefix("torch.")}
            case torch.memory_format():
                return {"memory_format": str(value)}
            case torch.device() | torch.layout():
                return {"device" if isinstance(value, torch.device) else "layout": str(value)}
        raise Unimplemented(f"an argument of the type {type(value).__name__} is not supported")


def _last_frame(trace: str) -> str:
    """The line of the program: the frames around it would be most of the bytes."""
    return trace[max(trace.rfind('File "'), 0):]


def results_of(output: torch.fx.Node) -> Sequence[Any]:
    """What the output node of a joint graph returns."""
    found = output.args[0]
    assert isinstance(found, (list, tuple))
    return found


def _value(value: Any) -> Any:
    """Type of a node's value: of a tensor, or of each of a tuple."""
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value if isinstance(value, (bool, int, float)) else None
    sizes, steps = list(value.shape), list(value.stride())
    if not all(type(number) is int for number in sizes + steps):
        raise Unimplemented(f"a tensor of the symbolic shape {sizes}: only sizes that are numbers are supported")
    return {"shape": sizes, "stride": steps, "dtype": str(value.dtype).removeprefix("torch."), "device": str(value.device)}


def _descriptor(desc: Any) -> Any:
    kind = type(desc).__name__
    if kind not in DESCRIBED:
        raise Unimplemented(f"AOTAutograd's descriptor {desc!r} is not supported")
    fields = {name: getattr(desc, name) for name in DESCRIBED[kind]}
    return {"cls": kind} | {name: value if isinstance(value, (str, int)) else _descriptor(value) for name, value in fields.items()}
