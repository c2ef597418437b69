"""Reading operations of linalg."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.frontends.mlir.cursor import integer, refuse
from fuseloom.frontends.mlir.named import NAMED, SOFTMAX
from fuseloom.frontends.mlir.scalars import ScalarReader
from fuseloom.frontends.mlir.syntax import (
    Argument,
    Linalg,
    OperationLine,
    RegionBody,
    Scalar,
    Trait,
    Type,
    Typed,
    Use,
)
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.program.formats import suggestion
from fuseloom.program.syntax import SourcePlace

SHORT = ("linalg.map", "linalg.reduce")
"""Operations that apply an operation on numbers."""
ELEMENTWISE = "linalg.elementwise"
"""An operation that says of which kind it is."""
DEFAULTS = {"linalg.elemwise_unary": "exp", "linalg.elemwise_binary": "add"}
"""Older ones, and what they are where they do not say it."""
_SIGNED = {"max_signed": "max", "min_signed": "min"}


class LinalgReader(ScalarReader):
    """Reads operations of linalg."""

    def _linalg(self, op: str, place: SourcePlace) -> Linalg:
        """Everything after the operation's name; attributes may stand before and after."""
        trait = Trait(None, None, place)
        self.lists = {}
        self.function, self.unsigned = None, False
        short: Token | None = None
        kind: str | None = None
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
            elif self.sees("{") and op in SHORT and not ins:
                short = self._short()
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
            elif self.sees("permutation", "dimensions"):
                name = self.advance()
                self.need("=")
                self.lists[name.text] = self._numbers()
            elif op == SOFTMAX and self.take("dimension"):
                self.need("(")
                number = self.kind("int", "a dimension's number")
                self.lists["dimension"] = (integer(number.text),)
                self.need(")")
            elif op == ELEMENTWISE and self.take("kind"):
                self.need("=")
                self.kind("hash", "#linalg.elementwise_kind<...>")
                kind = self._kind()
            elif op == ELEMENTWISE and self.sees("<"):
                kind = self._kind()
            else:
                break
        if not outs:
            raise self.unexpected("ins(...) or outs(...)")
        if op in DEFAULTS:
            said: str | None = self.function
            op = self._called(DEFAULTS[op] if said is None else said, place)
        if op == ELEMENTWISE:
            if kind is None:
                raise refuse("no kind of operation", "kind=#linalg.elementwise_kind<add>", place)
            op = kind
        numbers = tuple(self.lists.items())
        region: RegionBody | None = None
        if op == "linalg.generic":
            region = self.region()
        elif op in SHORT:
            region = self._applied(op, short, ins, outs)
        types = self._result_types() if self.take("->") else ()
        return Linalg(op, trait, ins, outs, region, types, numbers, self.unsigned)

    def _kind(self) -> str:
        """``<add>``, as the name of the operation it is."""
        start = self.need("<")
        word = self.kind("word", "the name of an operation").text
        self.need(">")
        return self._called(word, start.place)

    def _called(self, word: str, place: SourcePlace) -> str:
        """The operation of linalg that does this to each element."""
        op = f"linalg.{_SIGNED.get(word, word)}"
        if op not in NAMED:
            raise refuse(
                f"{word} of each element is outside the subset"[:100], suggestion(op, NAMED), place
            )
        return op

    def _short(self) -> Token:
        """``{ arith.addf }``: the operation that a map or a reduction applies."""
        self.need("{")
        name = self.kind("word", "an operation on numbers")
        self.skip_dictionary()
        self.need("}")
        return name

    def _applied(
        self, op: str, short: Token | None, ins: tuple[Typed, ...], outs: tuple[Typed, ...]
    ) -> RegionBody:
        """The region of a map or a reduction, with an argument for each input and output."""
        place = self.place
        count = len(ins) if op == "linalg.map" else len(ins) + len(outs)
        if short is None:
            self.need("(")
            arguments = [self._argument() for _ in self.listed(")")]
            found = self.region(arguments=tuple(arguments))
        else:
            types = [t.type for t in (*ins, *outs)][:count]
            arguments = [
                Argument(f"in{n}", Type(t.element, place=place), place) for n, t in enumerate(types)
            ]
            uses = tuple(Use(a.name, 0, place) for a in arguments)
            scalar = Scalar(short.text, uses, type=arguments[-1].type if arguments else None)
            line = OperationLine(("applied",), scalar, short.place)
            found = RegionBody(tuple(arguments), (line,), (Use("applied", 0, place),), place)
        missing = [t.type for t in (*ins, *outs)][len(found.arguments) :]
        more = [
            Argument(f"out{n}.", Type(t.element, place=place), place) for n, t in enumerate(missing)
        ]
        return replace(found, arguments=(*found.arguments, *more))

    def _numbers(self) -> tuple[int, ...]:
        self.need("[")
        return tuple(
            integer(self.kind("int", "a dimension's number").text) for _ in self.listed("]")
        )


def _merged(first: Trait, second: Trait) -> Trait:
    return Trait(
        first.maps if second.maps is None else second.maps,
        first.iterators if second.iterators is None else second.iterators,
        second.place if second.maps is not None else first.place,
    )
