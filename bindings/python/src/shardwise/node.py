"""Nodes of graphs, and their operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import ops
from .dtypes import DType

if TYPE_CHECKING:
    from .graph import Graph

Number = int | float


class Node:
    """A tensor of a graph under construction.

    It has ``dtype`` and ``shape``, the sizes of the whole tensor. A size that depends on symbols is given at their hints. Every operation whose first
    operand is a single tensor is a method: ``x.relu()``, ``x.sum(dims=[0])``. ``help(shardwise.ops.sum)`` shows the parameters.
    """

    __slots__ = ("dtype", "graph", "index", "num_results", "shape")

    def __init__(self, graph: Graph, index: int, shape: tuple[int, ...], dtype: DType | None, num_results: int) -> None:
        self.graph = graph
        self.index = index
        self.shape = shape
        self.dtype = dtype
        self.num_results = num_results

    def __repr__(self) -> str:
        return f"<%{self.index} {self.dtype}[{','.join(map(str, self.shape))}]>"

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return len(self.shape)

    def __getattr__(self, name: str) -> Any:
        op = ops.table().get(name)
        if op is None or not op.params or not op.params[0].is_operand or op.params[0].kind in ops.TENSORS:
            raise AttributeError(f"a node has no method {name!r}{ops.unknown(name)}")
        return lambda *args, **kwargs: self.graph.op(name, self, *args, **kwargs)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *ops.table()})

    def _op(self, name: str, *args: Any, **kwargs: Any) -> Node:
        made = self.graph.op(name, *args, **kwargs)
        assert isinstance(made, Node)
        return made

    # ---- Arithmetic ----

    def __add__(self, other: Node | Number) -> Node:
        return self._op("add", self, other)

    def __radd__(self, other: Number) -> Node:
        return self._op("add", self, other)

    def __sub__(self, other: Node | Number) -> Node:
        return self._op("sub", self, other)

    def __rsub__(self, other: Number) -> Node:
        return self._op("sub", other, self)

    def __mul__(self, other: Node | Number) -> Node:
        return self._op("mul", self, other)

    def __rmul__(self, other: Number) -> Node:
        return self._op("mul", self, other)

    def __truediv__(self, other: Node | Number) -> Node:
        return self._op("div", self, other)

    def __rtruediv__(self, other: Number) -> Node:
        return self._op("div", other, self)

    def __floordiv__(self, other: Node | Number) -> Node:
        return self._op("floor_divide", self, other)

    def __mod__(self, other: Node | Number) -> Node:
        return self._op("remainder", self, other)

    def __pow__(self, exponent: Node | Number) -> Node:
        return self._op("pow_tensor" if isinstance(exponent, Node) else "pow", self, exponent)

    def __rpow__(self, base: Number) -> Node:
        return self._op("pow_tensor", base, self)

    def __neg__(self) -> Node:
        return self._op("neg", self)

    def __abs__(self) -> Node:
        return self._op("abs", self)

    def __matmul__(self, other: Node) -> Node:
        """Matrix product: sums over the last dim of this node and the last but one of the other. The dims before these are batch dims; they must be
        equal in both, or absent in one."""
        if self.ndim == other.ndim == 2:
            return self._op("mm", self, other)
        if self.ndim == other.ndim == 3:
            return self._op("bmm", self, other)
        if self.ndim < 1 or other.ndim < 2:
            raise ValueError(f"@ needs matrices, not {self!r} and {other!r}")
        outer = [chr(ord("a") + d) for d in range(max(self.ndim, other.ndim) - 2)]
        left = "".join(outer[len(outer) - max(self.ndim - 2, 0):]) + ("xy" if self.ndim > 1 else "y")
        right = "".join(outer[len(outer) - (other.ndim - 2):]) + "yz"
        result = "".join(outer) + ("xz" if self.ndim > 1 else "z")
        return self._op("einsum", [self, other], equation=f"{left},{right}->{result}")

    # ---- Comparison: == and != compare objects, as for all of Python; eq() and ne() compare elements ----

    def __lt__(self, other: Node | Number) -> Node:
        return self._op("lt", self, other)

    def __le__(self, other: Node | Number) -> Node:
        return self._op("le", self, other)

    def __gt__(self, other: Node | Number) -> Node:
        return self._op("gt", self, other)

    def __ge__(self, other: Node | Number) -> Node:
        return self._op("ge", self, other)

    def __bool__(self) -> bool:
        raise TypeError("a node has no truth value: its elements are known only when the graph runs")

    # ---- Parts ----

    @property
    def T(self) -> Node:
        """The matrix transposed."""
        return self._op("t", self)

    def __getitem__(self, key: Any) -> Node:
        """An integer selects one index of a dim, a slice a range, None adds a dim, and ... leaves all other dims as they are."""
        keys: list[Any] = list(key) if isinstance(key, tuple) else [key]
        given = sum(k is not None and k is not Ellipsis for k in keys)
        if given > self.ndim:
            raise IndexError(f"{given} indices for {self!r}")
        fill = [slice(None)] * (self.ndim - given)
        at = keys.index(Ellipsis) if Ellipsis in keys else len(keys)
        node, dim = self, 0
        for k in keys[:at] + fill + keys[at + 1:]:
            if k is None:
                node, dim = node._op("unsqueeze", node, dim), dim + 1
            elif isinstance(k, slice):
                node, dim = node._slice(dim, k), dim + 1
            else:
                node = node._op("select", node, dim, k)
        return node

    def __iter__(self) -> Iterator[Node]:
        raise TypeError("a node is not iterated over: unbind() makes a node of each index")

    def _slice(self, dim: int, part: slice) -> Node:
        if part == slice(None):
            return self
        given = {"start": part.start, "end": part.stop, "step": part.step}
        return self._op("slice", self, dim, **{name: value for name, value in given.items() if value is not None})


class Nodes(Sequence[Node]):
    """The results of an operation that has several. Indexing adds a node for a result to the graph, once."""

    def __init__(self, tuple_node: Node) -> None:
        self._node = tuple_node
        self._taken: dict[int, Node] = {}

    def __len__(self) -> int:
        return self._node.num_results

    def __repr__(self) -> str:
        return f"<{len(self)} results of %{self._node.index}>"

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"the operation has {len(self)} results")
        if index not in self._taken:
            self._taken[index] = self._node._op("get_item", self._node, index)
        return self._taken[index]
