"""Reading literals."""

from __future__ import annotations

from fuseloom.frontends.mlir.cursor import Cursor, refuse
from fuseloom.frontends.mlir.syntax import Dense, Literal, Number, Resource, Sparse
from fuseloom.program.limits import MAX_NESTING, MAX_RANK

NUMBERS = ("int", "float", "hex")


class LiteralReader(Cursor):
    """Reads the values of constants."""

    def literal(self) -> Literal:
        token = self.token
        if token.kind in NUMBERS or self.sees("true", "false"):
            self.advance()
            return Number(token.text, token.place)
        if self.take("dense"):
            self.need("<")
            if self.take(">"):
                return Dense((), (0,), None, token.place)
            value = self._values()
            self.need(">")
            return value
        if self.take("sparse"):
            self.need("<")
            coordinates = self._values()
            self.need(",")
            values = self._values()
            self.need(">")
            return Sparse(coordinates, values, token.place)
        if self.take("dense_resource"):
            self.need("<")
            name = self.advance()
            if name.kind not in ("word", "string"):
                raise refuse(f"{name} is no name of a resource", "dense_resource<name>", name.place)
            self.need(">")
            return Resource(name.text.strip('"'), token.place)
        raise self.unexpected("a number, dense<...> or dense_resource<...>")

    def _values(self) -> Dense:
        start = self.token
        if start.kind == "string":
            self.advance()
            return Dense((), None, start.text[1:-1], start.place)
        numbers: list[Number] = []
        shape = self._nested(numbers, 0)
        return Dense(tuple(numbers), shape or None, None, start.place)

    def _nested(self, numbers: list[Number], depth: int) -> tuple[int, ...]:
        """Read a number, or a list of equally long lists; the shape."""
        token = self.token
        if not self.take("["):
            if token.kind not in NUMBERS and not self.sees("true", "false"):
                raise self.unexpected("a number or a list of numbers")
            self.advance()
            numbers.append(Number(token.text, token.place))
            return ()
        if depth == min(MAX_NESTING, MAX_RANK):
            raise refuse(f"lists are nested more than {depth} deep", "one list per dimension",
                   token.place)  # fmt: skip
        count, inner = 0, None
        for _ in self.listed("]"):
            place = self.place
            found = self._nested(numbers, depth + 1)
            if inner is not None and found != inner:
                raise refuse(
                    "the lists of a constant differ in length", "rows are equally long", place
                )
            inner = found
            count += 1
        return (count, *(inner or ()))
