"""Sizes that are known only at run time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class Dim:
    """A sum of integers and integers times symbols, such as ``2 * cache + 1``. ``Graph.symbol`` makes one."""

    __slots__ = ("constant", "factors")

    def __init__(self, factors: Mapping[str, int], constant: int = 0) -> None:
        if not isinstance(factors, Mapping):
            raise TypeError(f"a Dim is made of factors of symbols, not {factors!r}: Graph.symbol declares a symbol")
        self.factors = {name: factor for name, factor in factors.items() if factor}
        self.constant = constant

    @staticmethod
    def parse(text: str) -> Dim:
        """Reads an expression in the library's notation: ``"2*cache+-1"``.

        :raises ValueError: the text is not a sum of integers and integers times symbols
        """
        made = Dim({})
        for term in text.replace(" ", "").split("+"):
            factor, _, name = term.rpartition("*")
            if name.lstrip("-").isdigit() and not factor:
                made = made + int(name)
            elif name.isidentifier():
                made = made + Dim({name: int(factor) if factor else 1})
            else:
                raise ValueError(f"{text!r} is no sum of integers and integers times symbols")
        return made

    def at(self, sizes: Mapping[str, int]) -> int:
        """The value of the expression at these sizes of the symbols."""
        return self.constant + sum(factor * sizes[name] for name, factor in self.factors.items())

    def __add__(self, other: Dim | int) -> Dim:
        if isinstance(other, int):
            return Dim(self.factors, self.constant + other)
        if not isinstance(other, Dim):
            return NotImplemented
        names = [*self.factors, *(name for name in other.factors if name not in self.factors)]
        factors = {name: self.factors.get(name, 0) + other.factors.get(name, 0) for name in names}
        return Dim(factors, self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Dim:
        if not isinstance(factor, int):
            return NotImplemented
        return Dim({name: f * factor for name, f in self.factors.items()}, self.constant * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim | int) -> Dim:
        return self + -other

    def __rsub__(self, other: int) -> Dim:
        return -self + other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and (self.factors, self.constant) == (other.factors, other.constant)

    def __hash__(self) -> int:
        return hash((frozenset(self.factors.items()), self.constant))

    def __str__(self) -> str:
        terms = [name if factor == 1 else f"{factor}*{name}" for name, factor in self.factors.items()]
        if self.constant or not terms:
            terms.append(str(self.constant))
        return "+".join(terms)

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"


Size = int | Dim | str
"""A size of a dim: a number, an expression of symbols, or the text of one."""


def is_symbolic(sizes: Iterable[object]) -> bool:
    """Whether one of the sizes depends on a symbol."""
    return any(isinstance(size, (Dim, str)) for size in sizes)


def write_sizes(sizes: Iterable[Size]) -> str:
    """Writes sizes in the library's notation: ``"[1,2*cache]"``."""
    return "[" + ",".join(str(size).replace(" ", "") for size in sizes) + "]"


def parse_sizes(text: str) -> Sequence[Dim]:
    """Reads sizes in the library's notation: ``"[1,2*cache]"``."""
    inside = text.strip("[]")
    return [Dim.parse(part) for part in inside.split(",")] if inside else []
