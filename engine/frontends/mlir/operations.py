"""Reading operations and the regions of ``linalg.generic``."""

from __future__ import annotations

from engine.frontends.mlir.attributes import Reader
from engine.frontends.mlir.cursor import generic_form, integer, refuse
from engine.frontends.mlir.named import NAMED
from engine.frontends.mlir.syntax import (
    Argument,
    Body,
    Call,
    Cast,
    Concat,
    Constant,
    Dim,
    Empty,
    Linalg,
    Line,
    Literal,
    Operation,
    Region,
    Reshape,
    Results,
    Return,
    Scalar,
    Trait,
    Type,
    Typed,
    Use,
)
from engine.program.formats import suggestion
from engine.program.syntax import Place

_CASTS = ("tensor.cast", "sparse_tensor.convert", "sparse_tensor.reinterpret_map")
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
OPERATIONS = (
    "arith.constant", "tensor.empty", "bufferization.alloc_tensor", "tensor.concat",
    "tensor.reshape", "tensor.dim",
    "linalg.generic", *NAMED, *_RESHAPES, *_CASTS, "call", "func.call", "return", "func.return",
)  # fmt: skip


class OperationReader(Reader):
    """Reads operations, inside and outside of regions."""

    def _operation(self) -> Operation:
        results = self._results()
        token = self.token
        if token.kind == "string":
            raise generic_form(self.place)
        if token.kind != "word":
            raise self.unexpected("the name of an operation")
        self.advance()
        body = self._body(token.text, token.place)
        self.skip_location()
        return Operation(results, body, token.place)

    def _results(self) -> tuple[Results, ...]:
        found: list[Results] = []
        while self.token.kind == "ssa":
            name = self.advance()
            count = 1
            if self.take(":"):
                count = integer(self.kind("int", "the number of results").text)
                if not 1 <= count <= 100:
                    raise refuse(f"{count} results of one operation", "1 to 100", name.place)
            found.append(Results(name.text[1:], count, name.place))
            if not self.take(","):
                self.need("=", "'=' and an operation")
                return tuple(found)
        if found:
            raise self.unexpected("a value's name, e.g. %0")
        return ()

    def _body(self, op: str, place: Place) -> Body:
        if op == "linalg.generic" or op in NAMED:
            return self._linalg(op, place)
        if op in _RESHAPES:
            return self._grouped_reshape()
        if op in _CASTS:
            self.skip_dictionary()
            use = self.use()
            self.need(":", "':' and a type")
            source = self.type()
            self.need("to")
            return Cast(Typed(use, source), self.type())
        match op:
            case "arith.constant":
                self.skip_dictionary()
                literal, type_ = self._typed_literal()
                return Constant(literal, type_)
            case "tensor.empty" | "bufferization.alloc_tensor":
                sizes = self._uses("(", ")")
                self.need(":", "':' and a type")
                return Empty(sizes, self.type())
            case "tensor.concat":
                return self._concat()
            case "tensor.reshape":
                return self._reshape()
            case "tensor.dim":
                operand = self.use()
                self.need(",")
                number = self.use()
                self.need(":", "':' and a type")
                self.type()
                return Dim(operand, number)
            case "call" | "func.call":
                callee = self.kind("symbol", "the function's name").text[1:].strip('"')
                operands = self._uses("(", ")")
                self.skip_dictionary()
                self.need(":", "':' and the function's type")
                self.need("(")
                self.type_list()
                self.need("->")
                return Call(callee, operands, self._result_types())
            case "return" | "func.return":
                return Return(self._typed_list(None) if self.token.kind == "ssa" else ())
        raise refuse(
            f"the operation {op} is outside the subset",
            suggestion(op, OPERATIONS),
            place,
        )

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
        found: list[Use] = []
        while not self.take(closing):
            if found:
                self.need(",", f"',' or '{closing}'")
            found.append(self.use())
        return tuple(found)

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
            raise refuse(f"{len(uses)} values but {len(types)} types", "one type per value", place)
        return tuple(Typed(u, t) for u, t in zip(uses, types, strict=True))

    def _linalg(self, op: str, place: Place) -> Linalg:
        """Everything after the operation's name; attributes may stand before and after."""
        trait = Trait(None, None, place)
        permutation: tuple[int, ...] | None = None
        ins: tuple[Typed, ...] = ()
        outs: tuple[Typed, ...] = ()
        while True:
            if self.token.kind == "hash":
                name = self.advance()
                alias = self.resolve(name)
                if not isinstance(alias, Trait):
                    raise refuse(f"{name.text} is no trait", "a dictionary with indexing_maps",
                           name.place)  # fmt: skip
                trait = _merged(trait, alias)
            elif self.sees("{") and not (op == "linalg.generic" and outs):
                trait = _merged(trait, self.trait())
            elif self.take("ins"):
                self.need("(")
                ins = self._typed_list(")")
            elif self.take("outs"):
                self.need("(")
                outs = self._typed_list(")")
            elif self.take("attrs"):
                self.need("=")
                trait = _merged(trait, self.trait())
            elif self.take("indexing_maps"):
                self.need("=")
                trait = _merged(trait, Trait(self.maps(), None, trait.place))
            elif self.take("permutation", "dimensions"):
                self.need("=")
                permutation = self._numbers()
            else:
                break
        if not outs:
            raise self.unexpected("ins(...) or outs(...)")
        region = self._region() if op == "linalg.generic" else None
        types = self._result_types() if self.take("->") else ()
        return Linalg(op, trait, ins, outs, region, types, permutation)

    def _numbers(self) -> tuple[int, ...]:
        self.need("[")
        found: list[int] = []
        while not self.take("]"):
            if found:
                self.need(",", "',' or ']'")
            found.append(integer(self.kind("int", "a dimension's number").text))
        return tuple(found)

    def _concat(self) -> Concat:
        self.need("dim")
        self.need("(")
        axis = integer(self.kind("int", "a dimension's number").text)
        self.need(")")
        uses = [self.use()]
        while self.take(","):
            uses.append(self.use())
        self.need(":", "':' and the operation's type")
        self.need("(")
        types = self.type_list()
        if len(uses) != len(types):
            raise refuse(f"{len(uses)} values but {len(types)} types", "one type per value",
                   uses[0].place)  # fmt: skip
        self.need("->")
        operands = tuple(Typed(u, t) for u, t in zip(uses, types, strict=True))
        return Concat(axis, operands, self.type())

    def _grouped_reshape(self) -> Reshape:
        use = self.use()
        self.need("[")
        groups: list[tuple[int, ...]] = []
        while not self.take("]"):
            if groups:
                self.need(",", "',' or ']'")
            groups.append(self._numbers())
        if self.take("output_shape"):
            if not self.sees("["):
                raise self.unexpected("'['")
            self.skip_group()
        self.need(":", "':' and a type")
        source = self.type()
        self.need("into")
        return Reshape(Typed(use, source), tuple(groups), self.type())

    def _reshape(self) -> Reshape:
        use = self.use()
        self._uses("(", ")")
        self.need(":", "':' and the operation's type")
        self.need("(")
        types = self.type_list()
        if not types:
            raise self.unexpected("the types of the operands")
        self.need("->")
        return Reshape(Typed(use, types[0]), None, self.type())

    # Regions.

    def _region(self) -> Region:
        start = self.need("{", "the region '{ ^bb0(...): ... }'")
        arguments: list[Argument] = []
        if self.token.kind == "block":
            self.advance()
            self.need("(")
            while not self.take(")"):
                if arguments:
                    self.need(",", "',' or ')'")
                arguments.append(self._argument())
            self.need(":")
        lines: list[Line] = []
        while not self.take("linalg.yield"):
            if self.token.kind == "end" or self.sees("}"):
                raise self.unexpected("an operation or linalg.yield")
            lines.append(self._line())
        yields = self._typed_list(None) if self.token.kind == "ssa" else ()
        self.skip_location()
        self.need("}", "'}' after linalg.yield")
        return Region(tuple(arguments), tuple(lines), tuple(y.use for y in yields), start.place)

    def _line(self) -> Line:
        results = self._results()
        token = self.kind("word", "an operation on numbers, or linalg.yield")
        literal: Literal | None = None
        type_: Type | None = None
        predicate: str | None = None
        operands: list[Use] = []
        if token.text == "arith.constant":
            self.skip_dictionary()
            literal, type_ = self._typed_literal()
        elif token.text == "linalg.index":
            self.kind("int", "the number of an index")
            self._scalar_types()
        else:
            if self.token.kind == "word" and not self.sees("fastmath", "loc"):
                predicate = self.advance().text
                self.need(",")
            while self.token.kind == "ssa":
                operands.append(self.use())
                if not self.take(","):
                    break
            if self.take("fastmath"):
                self.skip_group()
            self.skip_dictionary()
            self._scalar_types()
        self.skip_location()
        scalar = Scalar(token.text, tuple(operands), predicate, literal, type_)
        names = tuple(r.name for r in results)
        return Line(names, scalar, token.place)

    def _scalar_types(self) -> None:
        self.need(":", "':' and a type")
        self.type()
        while self.take(",", "to"):
            self.type()

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


def _merged(first: Trait, second: Trait) -> Trait:
    return Trait(
        first.maps if second.maps is None else second.maps,
        first.iterators if second.iterators is None else second.iterators,
        second.place if second.maps is not None else first.place,
    )
