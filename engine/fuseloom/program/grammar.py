"""From program text to syntax trees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError

from fuseloom.errors import FuseloomError, ParseError
from fuseloom.program.formats import suggestion
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.limits import MAX_DIMENSION, MAX_NESTING, MAX_STATEMENTS, MAX_TEXT_CHARS
from fuseloom.program.positions import Positions, entry_at, plain_indices, refused_target, total
from fuseloom.program.syntax import (
    Binary,
    BlockSyntax,
    ComputedAccess,
    Constant,
    DeclarationSyntax,
    Expression,
    Gather,
    Identifier,
    IndexSyntax,
    LineSyntax,
    ListSyntax,
    MadeSyntax,
    NonzeroExpression,
    OptionSyntax,
    OutputsSyntax,
    Position,
    ProgramSyntax,
    Read,
    Reduce,
    ShapeSyntax,
    SourcePlace,
    StatementSyntax,
    Unary,
)
from fuseloom.program.unexpected import explained, refuse
from fuseloom.wording import counted

CALLED = {op.value: op for op in (*FUNCTIONS, Op.RESHAPE)}
NONZERO = "nonzero"
REDUCTIONS = {"max": Op.MAX, "min": Op.MAX, "sum": Op.SUM}
EXTREMES = ("max", "min")  # of several operands, too; a minimum is the maximum of what is negated
GATHERS = {"concat": Op.CONCAT, "product": Op.MUL}


def parse_syntax(text: str) -> ProgramSyntax:
    """Read program text.

    Raises
    ------
    ParseError
        The text does not follow the grammar, is too long or nested too deeply.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ParseError(
            f"the program text has {counted(len(text), 'character')}, the limit is "
            f"{MAX_TEXT_CHARS:,}",
            hint="data belong in tensors, not in the program text",
            line=1,
        )
    _check_count(text)
    try:
        tree = _parser().parse(text.removeprefix("\ufeff") + "\n")
    except UnexpectedInput as problem:
        raise explained(problem) from None
    except VisitError as problem:
        if isinstance(problem.orig_exc, FuseloomError):
            raise problem.orig_exc from None
        raise
    return cast(ProgramSyntax, tree)


def _check_count(text: str) -> None:
    """Refuse too many statements before trees are made of them."""
    assign = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if "=" in line and "=" in line.partition("#")[0].partition("//")[0]
    ]
    if len(assign) > MAX_STATEMENTS:
        raise ParseError(
            f"the program has {counted(len(assign), 'statement')}, the limit is {MAX_STATEMENTS:,}",
            hint="split the program",
            line=assign[MAX_STATEMENTS],
        )


@cache
def _parser() -> Lark:
    grammar = files("fuseloom.program").joinpath("grammar.lark").read_text(encoding="utf-8")
    # Building the trees while parsing keeps deep nesting off the Python stack.
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=_SyntaxTreeBuilder())


def _place(token: Token) -> SourcePlace:
    return (token.line or 1, token.column or 1)


def _word(token: Token) -> Identifier:
    return Identifier(str(token), _place(token))


def _deeper(place: SourcePlace, *children: Expression) -> int:
    depth = 1 + max(child.depth for child in children)
    if depth > MAX_NESTING:
        raise refuse(
            f"the expression is nested more than {MAX_NESTING} deep",
            "split it into several statements",
            place,
        )
    return depth


def _number(value: float, place: SourcePlace, depth: int = 1) -> Constant:
    if not math.isfinite(value):
        raise refuse("a constant is too large for a number", "constants are finite", place)
    return Constant(value, place, depth)


def _integer(digits: str) -> int:
    # Python refuses to convert thousands of digits; past the limit the value is not needed.
    return int(digits) if len(digits) <= 12 else (-1 if digits[0] == "-" else MAX_DIMENSION + 1)


def _everywhere(term: float, operand: Expression, place: SourcePlace) -> Expression:
    """A constant in front of what is added to it or subtracted from it; 0 shifts nothing."""
    made = _unary(Op.SHIFT, term, operand, place)
    return replace(made, everywhere=term != 0) if isinstance(made, Unary) else made


def _unary(op: Op, constant: float | None, operand: Expression, place: SourcePlace) -> Expression:
    if constant is not None:
        _number(constant, place)
    return Unary(op, constant, operand, place, _deeper(place, operand))


@v_args(inline=True)
class _SyntaxTreeBuilder(Transformer[Token, Any]):
    """Builds syntax trees bottom-up; arithmetic with constants becomes SCALE and SHIFT."""

    def start(self, name: Identifier | None, *lines: LineSyntax) -> ProgramSyntax:
        return ProgramSyntax(name, lines)

    def header(self, name: Token) -> Identifier:
        return _word(name)

    def declaration(
        self, name: Token, shape: ShapeSyntax | tuple[int, ...] | int
    ) -> DeclarationSyntax | ListSyntax | IndexSyntax:
        if isinstance(shape, tuple):
            return ListSyntax(_word(name), shape)
        if isinstance(shape, int):
            return IndexSyntax(_word(name), shape)
        return DeclarationSyntax(_word(name), shape)

    def made(
        self,
        name: Token,
        indices: Positions,
        shape: ShapeSyntax | tuple[int, ...] | int,
        target: Token,
        position: Identifier | Position,
    ) -> MadeSyntax:
        if not isinstance(shape, ShapeSyntax):
            raise refuse(
                f"{name} has indices, and so is a tensor",
                f"say how it is stored, e.g. {name}[i,j]: 8x8 csr where j = i",
                _place(name),
            )
        words = plain_indices(indices, f"the declaration of {name}")
        if isinstance(position, Identifier):
            position = Position(((1, position),), 0, position.place)
        return MadeSyntax(_word(name), words, shape, _word(target), position)

    def listed(self, entries: tuple[int, ...]) -> tuple[int, ...]:
        return entries

    def sized(self, size: Token) -> int:
        return _integer(str(size))

    def entries(self, *entries: int) -> tuple[int, ...]:
        return entries

    def entry(self, minus: Token | None, digits: Token) -> int:
        return -_integer(str(digits)) if minus else _integer(str(digits))

    def scalar(self) -> ShapeSyntax:
        return ShapeSyntax((), (), None, None)

    def stored(
        self,
        dimensions: Token,
        levels: tuple[Identifier, ...] | Identifier,
        order: tuple[Token, ...] | None,
        block: BlockSyntax | None,
    ) -> ShapeSyntax:
        sizes = tuple(_integer(size.strip()) for size in dimensions.split("x"))
        axes = tuple(_integer(str(axis)) for axis in order) if order else None
        where = _place(order[0]) if order else None
        return ShapeSyntax(sizes, levels, axes, _place(dimensions), where, block)

    def format_word(self, word: Token) -> Identifier:
        return _word(word)

    def format_levels(self, *words: Token) -> tuple[Identifier, ...]:
        return tuple(_word(word) for word in words)

    def order(self, *axes: Token) -> tuple[Token, ...]:
        return axes

    def block(self, edge: Token, axes: tuple[int, ...] | None) -> BlockSyntax:
        return BlockSyntax(_integer(str(edge)), axes or (), _place(edge))

    def axes(self, *axes: Token) -> tuple[int, ...]:
        return tuple(_integer(str(axis)) for axis in axes)

    def option(self, name: Token, value: Token) -> OptionSyntax:
        return OptionSyntax(_word(name), _word(value))

    def outputs(self, *names: Token) -> OutputsSyntax:
        return OutputsSyntax(tuple(_word(name) for name in names))

    def statement(self, target: Read | ComputedAccess, expression: Expression) -> StatementSyntax:
        if isinstance(target, ComputedAccess):
            raise refused_target(target)
        if isinstance(expression, Constant):
            raise refuse(
                "a statement must read a tensor, this one is only a number",
                "give the constant as a scalar input, e.g. 's: scalar'",
                expression.place,
            )
        return StatementSyntax(target, expression)

    def update(self, target: Read | ComputedAccess, expression: Expression) -> StatementSyntax:
        return replace(self.statement(target, expression), adds=True)

    def access(self, name: Token, indices: Positions | None) -> Read | ComputedAccess:
        positions = indices or ()
        words = tuple(x for x in positions if isinstance(x, Identifier))
        if len(words) == len(positions) == len({x.text for x in words}):
            return Read(str(name), words, _place(name))
        return ComputedAccess(str(name), positions, _place(name))

    def brackets(self, *positions: Identifier | Position | None) -> Positions:
        return tuple(x for x in positions if x is not None)

    def position(self, *terms: Position) -> Identifier | Position:
        return total(terms)

    def more(self, term: Position) -> Position:
        return term

    def less(self, term: Position) -> Position:
        if term.entries is not None:
            raise refuse(
                "an entry of a list is an index by itself", "negate no entries", term.place
            )
        terms = tuple((-coefficient, word) for coefficient, word in term.terms)
        return Position(terms, -term.offset, term.place)

    def index(self, name: Token) -> Position:
        return Position(((1, _word(name)),), 0, _place(name))

    def whole(self, digits: Token) -> Position:
        return Position((), _integer(str(digits)), _place(digits))

    def multiple(self, left: Token, right: Token) -> Position:
        name, digits = (left, right) if left.type == "NAME" else (right, left)
        return Position(((_integer(str(digits)), _word(name)),), 0, _place(left))

    def entry_of(self, name: Token, at: Identifier | Position) -> Position:
        return entry_at(_word(name), at, _place(name))

    def entry_here(self, entries: tuple[int, ...], at: Identifier | Position) -> Position:
        return entry_at(entries, at, at.place)

    def number(self, digits: Token) -> Constant:
        return _number(float(digits), _place(digits))

    def parenthesised(self, inner: Expression) -> Expression:
        # Parentheses leave no node, but they count as nesting.
        return replace(inner, depth=_deeper(inner.place, inner))

    def negate(self, operand: Expression) -> Expression:
        return _negated(operand)

    def mul(self, left: Expression, right: Expression) -> Expression:
        match left, right:
            case Constant(a), Constant(b):
                return _number(a * b, left.place)
            case (Constant(factor), operand) | (operand, Constant(factor)):
                return _unary(Op.SCALE, factor, operand, left.place)
        return Binary(Op.MUL, left, right, left.place, _deeper(left.place, left, right))

    def div(self, left: Expression, right: Expression) -> Expression:
        match left, right:
            case _, Constant(0.0):
                raise refuse("division by zero", "divide by a non-zero constant", right.place)
            case Constant(a), Constant(b):
                return _number(a / b, left.place)
            case _, Constant(divisor):
                return _unary(Op.SCALE, 1.0 / divisor, left, left.place)
            case Constant(), _:
                raise refuse(
                    "a number cannot be divided by a tensor",
                    "declare a scalar input that holds the number and divide that",
                    left.place,
                )
        return Binary(Op.DIV, left, right, left.place, _deeper(left.place, left, right))

    def add(self, left: Expression, right: Expression) -> Expression:
        match left, right:
            case Constant(a), Constant(b):
                return _number(a + b, left.place)
            case operand, Constant(term):
                return _unary(Op.SHIFT, term, operand, left.place)
            case Constant(term), operand:
                return _everywhere(term, operand, left.place)
        return Binary(Op.ADD, left, right, left.place, _deeper(left.place, left, right))

    def sub(self, left: Expression, right: Expression) -> Expression:
        match left, right:
            case Constant(a), Constant(b):
                return _number(a - b, left.place)
            case operand, Constant(term):
                return _unary(Op.SHIFT, -term, operand, left.place)
            case Constant(term), operand:
                negated = _unary(Op.SCALE, -1.0, operand, operand.place)
                return _everywhere(term, negated, left.place)
        return Binary(Op.SUB, left, right, left.place, _deeper(left.place, left, right))

    def call(self, name: Token, operand: Expression) -> Expression:
        place = _place(name)
        if name in REDUCTIONS:
            raise refuse(
                f"{name} does not say which index it reduces",
                f"name the index, e.g. {name}[m] S[i,m]",
                place,
            )
        if name in GATHERS:
            raise refuse(f"{name} of one tensor", _GATHER_HINTS[str(name)], place)
        if name not in CALLED and name != NONZERO:
            raise refuse(
                f"no function is called {str(name)!r}",
                suggestion(name, [*CALLED, NONZERO]),
                place,
            )
        if isinstance(operand, Constant):
            raise refuse(f"{name} of a number", "write the value itself", operand.place)
        if name == NONZERO:
            return NonzeroExpression(operand, place, _deeper(place, operand))
        return _unary(CALLED[name], None, operand, place)

    def reduce(self, name: Token, indices: Positions, operand: Expression) -> Expression:
        place = _place(name)
        bound = plain_indices(indices, f"{name}[...]")
        if name in CALLED or name == NONZERO:
            raise refuse(
                f"{name} reduces no index", f"write its argument in parentheses: {name}(...)", place
            )
        if name in GATHERS:
            raise refuse(f"{name} of one tensor", _GATHER_HINTS[str(name)], place)
        if name not in REDUCTIONS:
            raise refuse(
                f"no reduction is called {str(name)!r}",
                "put an operator between the two tensors, or reduce with max[...] or sum[...]",
                place,
            )
        if isinstance(operand, Constant):
            raise refuse(f"{name} of a number", "write the value itself", operand.place)
        least = name == "min"
        taken = _negated(operand) if least else operand
        made = Reduce(REDUCTIONS[name], bound, taken, place, _deeper(place, taken), str(name))
        return _negated(made) if least else made

    def gather(self, name: Token, indices: Positions | None, *operands: Expression) -> Expression:
        place = _place(name)
        brackets = None if indices is None else plain_indices(indices, f"{name}[...]")
        if name in EXTREMES:
            return _extreme(str(name), brackets, operands, place)
        if name not in GATHERS:
            raise refuse(
                f"{str(name)!r} does not take several operands",
                f"known: {', '.join((*GATHERS, *EXTREMES))}",
                place,
            )
        op = GATHERS[str(name)]
        if len(brackets or ()) != (op is Op.CONCAT):
            raise refuse(
                f"{name} names {counted(len(brackets or ()), 'index', 'indices')} in brackets",
                _GATHER_HINTS[str(name)],
                place,
            )
        for operand in operands:
            if isinstance(operand, Constant):
                raise refuse(
                    f"an operand of {name} is only a number",
                    "declare a tensor that holds it",
                    operand.place,
                )
        axis = brackets[0] if brackets else None
        return Gather(op, axis, operands, place, _deeper(place, *operands))


def _negated(operand: Expression) -> Expression:
    if isinstance(operand, Constant):
        return _number(-operand.value, operand.place)
    return _unary(Op.SCALE, -1.0, operand, operand.place)


def _extreme(
    name: str,
    brackets: tuple[Identifier, ...] | None,
    operands: tuple[Expression, ...],
    place: SourcePlace,
) -> Expression:
    """The largest or least of several operands; numbers act on the elements that there are."""
    if brackets is not None:
        raise refuse(
            f"{name}[...] reduces one operand, here are {len(operands)}",
            f"write {name}({name}[{', '.join(x.text for x in brackets) or 'j'}] A, ...), or no "
            "brackets: " + f"{name}(A[i,j], B[i,j])",
            place,
        )
    least = name == "min"
    numbers = [x.value for x in operands if isinstance(x, Constant)]
    rest = [x for x in operands if not isinstance(x, Constant)]
    if not rest:
        return _number(min(numbers) if least else max(numbers), place)
    made, *more = map(_negated, rest) if least else rest
    for other in more:
        made = Binary(Op.MAXIMUM, made, other, place, _deeper(place, made, other), name)
    if numbers:
        bound = -min(numbers) if least else max(numbers)
        op, constant = (Op.AT_LEAST, bound) if bound else (Op.RELU, None)
        made = _unary(op, constant, made, place)
    return _negated(made) if least else made


_GATHER_HINTS = {
    "concat": "name the index along which to put the operands: concat[c](A[i,c], B[i,c])",
    "product": "give all factors: product(A[i,k], B[k,j], C[j,l])",
}
