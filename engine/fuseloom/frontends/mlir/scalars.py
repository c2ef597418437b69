"""Reading values, and the regions of operations: arithmetic on single elements."""

from __future__ import annotations

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir.attributes import Reader
from fuseloom.frontends.mlir.cursor import integer, refuse
from fuseloom.frontends.mlir.syntax import (
    Argument,
    Literal,
    OperationLine,
    RegionBody,
    ResultNames,
    Scalar,
    Type,
    Typed,
    Use,
)
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.wording import counted

MAX_REGIONS = 6
"""Regions inside each other; a value may be computed twice for each."""
SPARSE = {
    "sparse_tensor.unary": ("present", "absent"),
    "sparse_tensor.binary": ("overlap", "left", "right"),
    "sparse_tensor.select": (),
    "sparse_tensor.reduce": (),
}
"""Operations of the sparse dialect in a region, and the names of their regions."""


class ScalarReader(Reader):
    """Reads values, and regions of operations on single elements."""

    def _results(self) -> tuple[ResultNames, ...]:
        found: list[ResultNames] = []
        while self.token.kind == "ssa":
            name = self.advance()
            count = 1
            if self.take(":"):
                count = integer(self.kind("int", "the number of results").text)
                if not 1 <= count <= 100:
                    raise refuse(
                        f"{counted(count, 'result')} of one operation", "1 to 100", name.place
                    )
            found.append(ResultNames(name.text[1:], count, name.place))
            if not self.take(","):
                self.need("=", "'=' and an operation")
                return tuple(found)
        if found:
            raise self.unexpected("a value's name, e.g. %0")
        return ()

    def _typed_literal(self) -> tuple[Literal, Type]:
        boolean = self.sees("true", "false")
        literal = self.literal()
        if boolean and not self.sees(":"):
            return literal, Type("i1", place=literal.place)
        self.need(":", "':' and the constant's type")
        return literal, self.type()

    def use(self) -> Use:
        name = self.kind("ssa", "a value, e.g. %0")
        number = 0
        if self.token.kind == "hash" and self.token.text[1:].isdigit():
            number = integer(self.advance().text[1:])
        return Use(name.text[1:], number, name.place)

    def _uses(self, opening: str, closing: str) -> tuple[Use, ...]:
        self.need(opening)
        return tuple(self.use() for _ in self.listed(closing))

    def _typed_list(self, closing: str | None) -> tuple[Typed, ...]:
        """``%a, %b : type, type``, up to a closing sign if there is one."""
        if closing and self.take(closing):
            return ()
        place = self.place
        uses = [self.use()]
        while self.take(","):
            uses.append(self.use())
        self.need(":", "',' or ':' and the types")
        types = [self.type()]
        while self.take(","):
            types.append(self.type())
        if closing:
            self.need(closing, f"',' or '{closing}'")
        if len(uses) != len(types):
            raise refuse(
                f"{counted(len(uses), 'value')} but {counted(len(types), 'type')}",
                "one type per value",
                place,
            )
        return tuple(Typed(u, t) for u, t in zip(uses, types, strict=True))

    # Regions.

    def region(
        self,
        ending: str = "linalg.yield",
        depth: int = 0,
        arguments: tuple[Argument, ...] = (),
    ) -> RegionBody:
        """``{ ^bb0(...): ... }`` up to the operation that yields."""
        if depth > MAX_REGIONS:
            raise refuse(
                f"regions are nested more than {MAX_REGIONS} deep",
                "split the operation",
                self.place,
            )
        start = self.need("{", "the region '{ ^bb0(...): ... }'")
        if self.token.kind == "block":
            self.advance()
            if self.take("("):
                arguments = tuple(self._argument() for _ in self.listed(")"))
            self.need(":")
        lines: list[OperationLine] = []
        while not self.take(ending):
            if self.token.kind == "end" or self.sees("}"):
                raise self.unexpected(f"an operation or {ending}")
            lines.append(self._line(depth))
        yields = self._typed_list(None) if self.token.kind == "ssa" else ()
        self.skip_location()
        self.need("}", f"'}}' after {ending}")
        return RegionBody(arguments, tuple(lines), tuple(y.use for y in yields), start.place)

    def _line(self, depth: int) -> OperationLine:
        results = self._results()
        token = self.kind("word", "an operation on numbers, or linalg.yield")
        start = self.at
        try:
            scalar = self.scalar(token, depth)
        except ParseError:
            if token.text.startswith(("arith.", "math.", "linalg.", "sparse_tensor.")):
                raise
            self.at = start  # an error only where its value is yielded
            self.skip_operation()
            scalar = Scalar(token.text, ())
        self.skip_location()
        return OperationLine(tuple(r.name for r in results), scalar, token.place)

    def scalar(self, token: Token, depth: int = 0) -> Scalar:
        """Read the rest of an operation on numbers, after its name."""
        if token.text == "arith.constant":
            self.skip_dictionary()
            literal, type_ = self._typed_literal()
            return Scalar(token.text, (), literal=literal, type=type_)
        if token.text == "linalg.index":
            number = integer(self.kind("int", "the number of an index").text)
            return Scalar(token.text, (), type=self._scalar_types()[1], number=number)
        if token.text in SPARSE:
            return self._sparse(token, depth)
        predicate: str | None = None
        if self.token.kind in ("word", "string") and not self.sees("fastmath", "loc", "overflow"):
            predicate = self.advance().text.strip('"')
            self.need(",")
        operands = self._operands()
        while self.take("fastmath", "overflow"):
            self.skip_group()
        places: tuple[Use, ...] = ()
        if token.text == "tensor.extract":
            places = self._uses("[", "]")
        source, type_ = self._scalar_types()
        return Scalar(token.text, operands, predicate, None, type_, source, places=places)

    def _operands(self) -> tuple[Use, ...]:
        operands: list[Use] = []
        while self.token.kind == "ssa":
            operands.append(self.use())
            if not self.take(","):
                break
        return tuple(operands)

    def _sparse(self, token: Token, depth: int) -> Scalar:
        """``sparse_tensor.unary %a : f64 to f64 present = { ... } absent = { ... }``."""
        operands = self._operands()
        source, type_ = self._scalar_types()
        names = SPARSE[token.text]
        if not names:
            regions: tuple[tuple[str, RegionBody | str | None], ...] = (
                ("region", self.region("sparse_tensor.yield", depth + 1)),
            )
            return Scalar(token.text, operands, None, None, type_, source, regions=regions)
        found: list[tuple[str, RegionBody | str | None]] = []
        while self.sees(*names):
            name = self.advance().text
            self.need("=")
            body: RegionBody | str | None = None
            if self.take("identity"):
                body = "identity"
            elif self.tokens[self.at + 1].text == "}":
                self.skip_group()
            else:
                body = self.region("sparse_tensor.yield", depth + 1)
            found.append((name, body))
        return Scalar(token.text, operands, None, None, type_, source, regions=tuple(found))

    def _scalar_types(self) -> tuple[Type, Type]:
        """The first and the last of the types of an operation, behind its attributes."""
        self.skip_dictionary()
        self.need(":", "':' and a type")
        first = last = self.type()
        while self.take(",", "to"):
            last = self.type()
        return first, last

    def _argument(self) -> Argument:
        name = self.kind("ssa", "a value's name, e.g. %0")
        self.need(":", "':' and a type")
        type_ = self.type()
        self.skip_location()
        return Argument(name.text[1:], type_, name.place)

    def _result_types(self) -> tuple[Type, ...]:
        if not self.take("("):
            return (self.type(),)
        return self.type_list()
