"""Reading affine maps, and the aliases that stand for attributes."""

from __future__ import annotations

from typing import TypeAlias

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir.cursor import integer, refuse
from fuseloom.frontends.mlir.literals import LiteralReader
from fuseloom.frontends.mlir.syntax import AffineMap, Result, SparseEncoding, Sum, Trait, Type
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.program.formats import suggestion
from fuseloom.program.limits import MAX_NESTING
from fuseloom.wording import counted

Alias: TypeAlias = AffineMap | tuple[AffineMap, ...] | SparseEncoding | Trait | FuseloomError | None
"""The meaning of a ``#name``.

It is None for an attribute the subset has no use for, an error for one that cannot be read, which
counts where the alias is used.
"""

DIVISIONS = ("floordiv", "ceildiv", "mod")


class MapReader(LiteralReader):
    """Reads affine maps, and knows the aliases defined so far."""

    def __init__(self, text: str, line: int = 1) -> None:
        super().__init__(text, line)
        self.aliases: dict[str, Alias] = {}
        self.types: dict[str, Type | FuseloomError] = {}

    def resolve(self, name: Token) -> Alias:
        if name.text not in self.aliases:
            known = [alias for alias, value in self.aliases.items() if value is not None]
            hint = suggestion(name.text, known) if known else "define it at the top of the file"
            raise refuse(f"{name.text} is not defined", hint, name.place)
        found = self.aliases[name.text]
        if isinstance(found, FuseloomError):
            raise found
        return found

    def map(self) -> AffineMap:
        """An affine map whose results are sums of dimensions, or an alias of one."""
        if self.token.kind == "hash":
            name = self.advance()
            found = self.resolve(name)
            if not isinstance(found, AffineMap):
                raise refuse(f"{name.text} is no affine map", "write affine_map<...>", name.place)
            return found
        start = self.need("affine_map", "affine_map<...> or its alias")
        self.need("<")
        dims = self.dims()
        if self.sees("["):
            raise refuse("a map with symbols", "only dimensions can be results", self.place)
        self.need("->")
        self.need("(")
        results = tuple(_result(self.sum(dims)) for _ in self.listed(")"))
        self.need(">")
        return AffineMap(dims, results, start.place)

    def dims(self) -> tuple[str, ...]:
        """``(d0, d1)``: the dimensions of a map."""
        self.need("(")
        return self.distinct(self.words(")", "the name of a dimension"))

    def distinct(self, names: tuple[Token, ...]) -> tuple[str, ...]:
        """Names of dimensions, each of which stands once."""
        dims = tuple(name.text for name in names)
        if len(dims) > MAX_NESTING:
            raise refuse(
                f"a map of {counted(len(dims), 'dimension')}, the limit is {MAX_NESTING}",
                "split the operation",
                names[0].place,
            )
        for n, name in enumerate(names):
            if name.text in dims[:n]:
                raise refuse(f"dimension {name.text} is named twice", "name it once", name.place)
        return dims

    def sum(self, dims: tuple[str, ...], depth: int = 0) -> Sum:
        """``2 * d0 + d1 - 1``."""
        if depth > MAX_NESTING:
            raise refuse("brackets are nested too deep", "write the sum without them", self.place)
        found = self._product(dims, depth)
        while True:
            if self.take("+"):
                found = _plus(found, self._product(dims, depth), 1)
            elif self.take("-"):
                found = _plus(found, self._product(dims, depth), -1)
            elif self.token.kind == "int" and self.token.text.startswith("-"):
                found = _plus(found, self._product(dims, depth), 1)  # i -1
            else:
                return found

    def _product(self, dims: tuple[str, ...], depth: int) -> Sum:
        found = self._factor(dims, depth)
        while True:
            place = self.place
            if self.sees(*DIVISIONS):
                raise refuse(
                    f"a result of a map with {self.token.text}",
                    "results are sums of dimensions, e.g. 2 * d0 + d1 - 1; expand_shape splits "
                    "a dimension",
                    place,
                )
            if not self.take("*"):
                return found
            other = self._factor(dims, depth)
            if found.terms and other.terms:
                raise refuse("a product of dimensions", "one factor is a number", place)
            number, sum_ = (found, other) if not found.terms else (other, found)
            found = _times(sum_, number.offset)

    def _factor(self, dims: tuple[str, ...], depth: int) -> Sum:
        if self.take("("):
            found = self.sum(dims, depth + 1)
            self.need(")")
            return found
        if self.take("-"):
            if depth > MAX_NESTING:
                raise refuse("too many signs", "write one", self.place)
            return _times(self._factor(dims, depth + 1), -1)
        token = self.token
        if token.kind == "int":
            self.advance()
            return Sum((), integer(token.text))
        if token.kind != "word":
            raise self.unexpected("a dimension or a number")
        self.advance()
        if token.text not in dims:
            known = ", ".join(dims) or "none"
            raise refuse(f"the map has no dimension {token.text}", f"it has: {known}", token.place)
        return Sum(((1, token.text),))


def _result(found: Sum) -> Result:
    if not found.terms and found.offset == 0:
        return None
    if len(found.terms) == 1 and found.terms[0][0] == 1 and found.offset == 0:
        return found.terms[0][1]
    return found


def _plus(a: Sum, b: Sum, sign: int) -> Sum:
    found = {x: c for c, x in a.terms}
    for c, x in b.terms:
        found[x] = found.get(x, 0) + sign * c
    return Sum(tuple((c, x) for x, c in found.items() if c), a.offset + sign * b.offset)


def _times(a: Sum, factor: int) -> Sum:
    return Sum(tuple((c * factor, x) for c, x in a.terms if factor), a.offset * factor)
