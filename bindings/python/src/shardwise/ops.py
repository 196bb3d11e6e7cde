"""The operations of graphs, as functions of nodes: ``ops.mm(a, b)``.

``dir(shardwise.ops)`` lists them. ``help(shardwise.ops.mm)`` and ``inspect.signature`` show the parameters. Most operations have the name, the
operands and the meaning of an ATen core operator of PyTorch. Reductions take ``dims``, one or several. The functions are made from the library's
own table.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._native import clib, new
from .dtypes import dtype_of
from .symbols import Dim, is_symbolic, write_sizes

if TYPE_CHECKING:
    from .node import Node, Nodes

TENSORS = (clib.SHW_PARAM_TENSORS, clib.SHW_PARAM_OPTIONAL_TENSORS)
OPERANDS = (clib.SHW_PARAM_TENSOR, clib.SHW_PARAM_OPTIONAL_TENSOR, clib.SHW_PARAM_TENSOR_OR_NUMBER, *TENSORS)
TYPES = {
    clib.SHW_PARAM_TENSOR: "Node", clib.SHW_PARAM_OPTIONAL_TENSOR: "Node | None",
    clib.SHW_PARAM_TENSOR_OR_NUMBER: "Node | int | float", clib.SHW_PARAM_TENSORS: "Sequence[Node]",
    clib.SHW_PARAM_OPTIONAL_TENSORS: "Sequence[Node | None]", clib.SHW_PARAM_INT: "int | Dim", clib.SHW_PARAM_FLOAT: "float",
    clib.SHW_PARAM_NUMBER: "int | float", clib.SHW_PARAM_BOOL: "bool", clib.SHW_PARAM_INTS: "int | Dim | Sequence[int | Dim]",
    clib.SHW_PARAM_DTYPE: "DTypeLike", clib.SHW_PARAM_STRING: "str",
}


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter of an operation, from the library's table."""

    name: str
    kind: int
    required: bool
    default: str | None

    @property
    def is_operand(self) -> bool:
        """Whether the parameter takes nodes."""
        return self.kind in OPERANDS

    @property
    def type(self) -> str:
        """The types that the parameter takes, as an annotation."""
        text = TYPES.get(self.kind, "object")
        return text if self.required or self.default is not None or "None" in text else text + " | None"


@dataclasses.dataclass(frozen=True)
class Op:
    """An operation of the library."""

    name: str
    params: tuple[Param, ...]

    def signature(self) -> inspect.Signature:
        """The operation's signature as a Python function."""
        made: list[inspect.Parameter] = []
        optional = False
        for p in self.params:
            optional = optional or not p.required
            kind = inspect.Parameter.KEYWORD_ONLY if optional and p.required else inspect.Parameter.POSITIONAL_OR_KEYWORD
            if made and made[-1].kind is inspect.Parameter.KEYWORD_ONLY:
                kind = inspect.Parameter.KEYWORD_ONLY
            default = inspect.Parameter.empty if p.required else _Shown(p.default or "None")
            made.append(inspect.Parameter(p.name, kind, default=default, annotation=p.type))
        return inspect.Signature(made, return_annotation="Node")


class _Shown:
    """A default value as the library writes it."""

    def __init__(self, text: str) -> None:
        self.text = {"true": "True", "false": "False"}.get(text, text)

    def __repr__(self) -> str:
        return self.text


@functools.cache
def table() -> dict[str, Op]:
    """All operations by name."""
    made = {}
    for number in range(clib.shw_op_count()):
        params = []
        for index in range(clib.shw_op_num_params(number)):
            row = new("op_param")
            clib.shw_op_get_param(number, index, row)
            params.append(Param(row.name, row.kind, bool(row.required), row.default_value))
        name = clib.shw_op_name(number)
        made[name] = Op(name, tuple(params))
    return made


def find(name: str) -> Op:
    """The operation with this name.

    :raises NotFound: there is no such operation; the message offers names like it
    """
    op = table().get(name)
    if op is None:
        clib.shw_op_find(name)  # raises
        raise LookupError(name)
    return op


ELSEWHERE = {
    "arange": "iota", "astype": "convert_element_type", "concat": "cat", "concatenate": "cat", "contiguous": "clone", "conv2d": "convolution",
    "cross_entropy": "log_softmax, nll_loss_forward", "divide": "div", "dropout": "native_dropout", "flatten": "view", "layer_norm": "native_layer_norm",
    "matmul": "@, mm, bmm, einsum", "multiply": "mul", "negative": "neg", "nll_loss": "nll_loss_forward", "one_hot": "iota, eq", "ones": "full",
    "ones_like": "full_like", "power": "pow", "reshape": "view", "scaled_dot_product_attention": "sdpa", "sdpa_math": "sdpa", "std": "var, sqrt",
    "subtract": "sub", "swapaxes": "transpose", "to": "convert_element_type", "zeros": "full", "zeros_like": "full_like",
}
"""Names of operations in other libraries, and the names of these operations here."""


def unknown(name: str) -> str:
    """For messages about an unknown operation: "; did you mean softmax?", or how to list all operations."""
    if name in ELSEWHERE:
        return f"; here that is {ELSEWHERE[name]}"
    try:
        clib.shw_op_find(name)
    except LookupError as error:
        _, found, names = str(error).partition("; did you mean")
        if found:
            return found + names
    return ": dir(shardwise.ops) lists all"


# ---- A call: operands and attributes from Python's arguments -----------------------------------------------


@dataclasses.dataclass
class Call:
    """The arguments of ``shw_builder_add_node``."""

    operands: list[int | None]
    attrs: list[tuple[str, int, Any]]


def bind(op: Op, node_type: type, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    """Converts Python's arguments to operands and attributes.

    :raises TypeError: an argument is missing, is unknown, or has a wrong type
    """
    given = _assign(op, node_type, list(args), kwargs)
    call = Call([], [])
    for param in op.params:
        value = given.get(param.name)
        if param.kind in TENSORS:
            call.operands += [_operand(op, param, node_type, v) for v in value or ()]
        elif param.is_operand:
            is_number = value is not None and not isinstance(value, node_type)
            if is_number and param.kind == clib.SHW_PARAM_TENSOR_OR_NUMBER:
                call.attrs.append(_number(op, param, value))
                value = None
            call.operands.append(_operand(op, param, node_type, value))
        elif value is not None:
            call.attrs.append(_attribute(op, param, value))
    while call.operands and call.operands[-1] is None:
        call.operands.pop()
    return call


def _assign(op: Op, node_type: type, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for param in op.params:
        if not args:
            break
        if param.kind in TENSORS and (isinstance(args[0], node_type) or args[0] is None):
            count = next((i for i, a in enumerate(args) if a is not None and not isinstance(a, node_type)), len(args))
            given[param.name], args = args[:count], args[count:]
        else:
            given[param.name] = args.pop(0)
    if args:
        raise TypeError(f"{op.name}{op.signature()} takes no {len(args)} further arguments")
    names = {param.name for param in op.params}
    for name, value in kwargs.items():
        if name not in names:
            like = "; did you mean dims?" if name in ("dim", "axis", "axes") and "dims" in names else ""
            like = "; did you mean dim?" if name in ("axis", "dims") and "dim" in names else like
            raise TypeError(f"{op.name}{op.signature()} has no parameter {name!r}{like}")
        if name in given:
            raise TypeError(f"{op.name}: {name!r} is given twice")
        given[name] = value
    for param in op.params:
        if param.required and given.get(param.name) is None:
            raise TypeError(f"{op.name}{op.signature()}: {param.name!r} is missing")
    return given


def _operand(op: Op, param: Param, node_type: type, value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, node_type):
        raise TypeError(f"{op.name}: {param.name} must be a node, not {_shown(value)}")
    index: int = value.index  # type: ignore[attr-defined]
    return index


def _number(op: Op, param: Param, value: Any) -> tuple[str, int, Any]:
    if isinstance(value, bool):
        return param.name, clib.SHW_ATTR_KIND_BOOL, value
    if isinstance(value, int):
        return param.name, clib.SHW_ATTR_KIND_INT, value
    if isinstance(value, float):
        return param.name, clib.SHW_ATTR_KIND_FLOAT, value
    raise TypeError(f"{op.name}: {param.name} must be {param.type}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value as text for a message; an array by its shape."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"an array with the shape {tuple(value.shape)}: Graph.constant adds one that is known now, Graph.input one of each run"
    return repr(value)


def _attribute(op: Op, param: Param, value: Any) -> tuple[str, int, Any]:
    kind = param.kind
    if kind == clib.SHW_PARAM_DTYPE:
        return param.name, clib.SHW_ATTR_KIND_DTYPE, int(dtype_of(value))
    if kind == clib.SHW_PARAM_BOOL and isinstance(value, (bool, int)):
        return param.name, clib.SHW_ATTR_KIND_BOOL, bool(value)
    if kind == clib.SHW_PARAM_STRING and isinstance(value, str):
        return param.name, clib.SHW_ATTR_KIND_STRING, value
    if kind == clib.SHW_PARAM_INTS and isinstance(value, (int, Dim)) and not isinstance(value, bool):
        value = [value]
    if kind == clib.SHW_PARAM_INTS and isinstance(value, (list, tuple)):
        if is_symbolic(value):
            return param.name, clib.SHW_ATTR_KIND_EXPR, write_sizes(value)
        return param.name, clib.SHW_ATTR_KIND_INTS, clib.pack_int64s(value)
    if kind == clib.SHW_PARAM_INT and isinstance(value, (Dim, str)):
        return param.name, clib.SHW_ATTR_KIND_EXPR, str(value)
    if kind == clib.SHW_PARAM_FLOAT and isinstance(value, (int, float)):
        return param.name, clib.SHW_ATTR_KIND_FLOAT, float(value)
    if kind == clib.SHW_PARAM_NUMBER and isinstance(value, str):  # one for each alternative: "8e12 | 9e12"
        return param.name, clib.SHW_ATTR_KIND_STRING, value
    if kind in (clib.SHW_PARAM_INT, clib.SHW_PARAM_NUMBER):
        if kind == clib.SHW_PARAM_INT and not isinstance(value, int):
            raise TypeError(f"{op.name}: {param.name} must be an int, not {value!r}")
        return _number(op, param, value)
    raise TypeError(f"{op.name}: {param.name} must be {param.type}, not {value!r}")


# ---- The functions of this module --------------------------------------------------------------------------


def _graph_of(values: Sequence[Any]) -> Any:
    from .node import Node

    for value in values:
        if isinstance(value, Node):
            return value.graph
        if isinstance(value, (list, tuple)):
            found = _graph_of(value)
            if found is not None:
                return found
    return None


@functools.cache
def function(name: str) -> Callable[..., Node | Nodes]:
    """The operation with this name, as a function of nodes.

    :raises NotFound: there is no such operation
    """
    op = find(name)

    def call(*args: Any, **kwargs: Any) -> Node | Nodes:
        graph = kwargs.pop("graph", None) or _graph_of([*args, *kwargs.values()])
        if graph is None:
            raise TypeError(f"{name}: without a node among the arguments it needs graph=")
        made: Node | Nodes = graph.op(name, *args, **kwargs)
        return made

    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = (f"Adds the operation ``{name}`` to the graph of its operands.\n\n"
                    "Also takes ``name=``, the node's name in messages and pins; and ``graph=``, needed where there is no operand.\n\n"
                    ":raises InvalidArgument: the operands or attributes do not fit; the message names the line that called")
    call.__signature__ = op.signature()  # type: ignore[attr-defined]
    return call


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in table():
        raise AttributeError(f"there is no operation {name!r}{unknown(name)}")
    return function(name)


def __dir__() -> list[str]:
    return sorted(table())


