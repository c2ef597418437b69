"""From program text to syntax trees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from engine.errors import FuseloomError, ParseError
from engine.program.formats import suggestion
from engine.program.limits import MAX_DIMENSION, MAX_NESTING, MAX_STATEMENTS, MAX_TEXT_CHARS
from engine.program.syntax import (
    Binary,
    BlockSyntax,
    Constant,
    DeclarationSyntax,
    Expression,
    Gather,
    LineSyntax,
    OptionSyntax,
    OutputsSyntax,
    Place,
    ProgramSyntax,
    Read,
    Reduce,
    ShapeSyntax,
    StatementSyntax,
    Unary,
    Word,
)
from engine.program.types import Op

FUNCTIONS = {
    op.value: op for op in (Op.RELU, Op.EXP, Op.LOG, Op.RSQRT, Op.SIGMOID, Op.GELU, Op.RESHAPE)
}
REDUCTIONS = {op.value: op for op in (Op.MAX, Op.SUM)}
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
            f"the program text has {len(text):,} characters, the limit is {MAX_TEXT_CHARS:,}",
            hint="data belong in tensors, not in the program text",
            line=1,
        )
    _check_count(text)
    try:
        tree = _parser().parse(text.removeprefix("\ufeff") + "\n")
    except UnexpectedInput as problem:
        raise _explained(problem) from None
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
            f"the program has {len(assign):,} statements, the limit is {MAX_STATEMENTS:,}",
            hint="split the program",
            line=assign[MAX_STATEMENTS],
        )


@cache
def _parser() -> Lark:
    grammar = files("engine.program").joinpath("grammar.lark").read_text(encoding="utf-8")
    # Building the trees while parsing keeps deep nesting off the Python stack.
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=_Builder())


def _place(token: Token) -> Place:
    return (token.line or 1, token.column or 1)


def _word(token: Token) -> Word:
    return Word(str(token), _place(token))


def _refuse(message: str, hint: str, place: Place) -> ParseError:
    return ParseError(message, hint=hint, line=place[0], column=place[1])


def _deeper(place: Place, *children: Expression) -> int:
    depth = 1 + max(child.depth for child in children)
    if depth > MAX_NESTING:
        raise _refuse(
            f"the expression is nested more than {MAX_NESTING} deep",
            "split it into several statements",
            place,
        )
    return depth


def _number(value: float, place: Place, depth: int = 1) -> Constant:
    if not math.isfinite(value):
        raise _refuse("a constant is too large for a number", "constants are finite", place)
    return Constant(value, place, depth)


def _integer(digits: str) -> int:
    # Python refuses to convert thousands of digits; past the limit the value is not needed.
    return int(digits) if len(digits) <= 12 else (-1 if digits[0] == "-" else MAX_DIMENSION + 1)


def _everywhere(term: float, operand: Expression, place: Place) -> Expression:
    """A constant in front of what is added to it or subtracted from it; 0 shifts nothing."""
    made = _unary(Op.SHIFT, term, operand, place)
    return replace(made, everywhere=term != 0) if isinstance(made, Unary) else made


def _unary(op: Op, constant: float | None, operand: Expression, place: Place) -> Expression:
    if constant is not None:
        _number(constant, place)
    return Unary(op, constant, operand, place, _deeper(place, operand))


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """Builds syntax trees bottom-up; arithmetic with constants becomes SCALE and SHIFT."""

    def start(self, name: Word | None, *lines: LineSyntax) -> ProgramSyntax:
        return ProgramSyntax(name, lines)

    def header(self, name: Token) -> Word:
        return _word(name)

    def declaration(self, name: Token, shape: ShapeSyntax) -> DeclarationSyntax:
        return DeclarationSyntax(_word(name), shape)

    def scalar(self) -> ShapeSyntax:
        return ShapeSyntax((), (), None, None)

    def stored(
        self,
        dimensions: Token,
        levels: tuple[Word, ...] | Word,
        order: tuple[Token, ...] | None,
        block: BlockSyntax | None,
    ) -> ShapeSyntax:
        sizes = tuple(_integer(size.strip()) for size in dimensions.split("x"))
        axes = tuple(_integer(str(axis)) for axis in order) if order else None
        where = _place(order[0]) if order else None
        return ShapeSyntax(sizes, levels, axes, _place(dimensions), where, block)

    def format_word(self, word: Token) -> Word:
        return _word(word)

    def format_levels(self, *words: Token) -> tuple[Word, ...]:
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

    def statement(self, target: Read, expression: Expression) -> StatementSyntax:
        if isinstance(expression, Constant):
            raise _refuse(
                "a statement must read a tensor, this one is only a number",
                "give the constant as a scalar input, e.g. 's: scalar'",
                expression.place,
            )
        return StatementSyntax(target, expression)

    def access(self, name: Token, indices: tuple[Word, ...] | None) -> Read:
        return Read(str(name), indices or (), _place(name))

    def brackets(self, *names: Token | None) -> tuple[Word, ...]:
        return tuple(_word(name) for name in names if name is not None)

    def number(self, digits: Token) -> Constant:
        return _number(float(digits), _place(digits))

    def parenthesised(self, inner: Expression) -> Expression:
        # Parentheses leave no node, but they count as nesting.
        return replace(inner, depth=_deeper(inner.place, inner))

    def negate(self, operand: Expression) -> Expression:
        if isinstance(operand, Constant):
            return _number(-operand.value, operand.place)
        return _unary(Op.SCALE, -1.0, operand, operand.place)

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
                raise _refuse("division by zero", "divide by a non-zero constant", right.place)
            case Constant(a), Constant(b):
                return _number(a / b, left.place)
            case _, Constant(divisor):
                return _unary(Op.SCALE, 1.0 / divisor, left, left.place)
            case Constant(), _:
                raise _refuse(
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
            raise _refuse(
                f"{name} does not say which index it reduces",
                f"name the index, e.g. {name}[m] S[i,m]",
                place,
            )
        if name in GATHERS:
            raise _refuse(f"{name} of one tensor", _GATHER_HINTS[str(name)], place)
        if name not in FUNCTIONS:
            raise _refuse(
                f"no function is called {str(name)!r}", suggestion(name, list(FUNCTIONS)), place
            )
        if isinstance(operand, Constant):
            raise _refuse(f"{name} of a number", "write the value itself", operand.place)
        return _unary(FUNCTIONS[name], None, operand, place)

    def reduce(self, name: Token, bound: tuple[Word, ...], operand: Expression) -> Expression:
        place = _place(name)
        if name in FUNCTIONS:
            raise _refuse(
                f"{name} reduces no index", f"write its argument in parentheses: {name}(...)", place
            )
        if name in GATHERS:
            raise _refuse(f"{name} of one tensor", _GATHER_HINTS[str(name)], place)
        if name not in REDUCTIONS:
            raise _refuse(
                f"no reduction is called {str(name)!r}",
                "put an operator between the two tensors, or reduce with max[...] or sum[...]",
                place,
            )
        if isinstance(operand, Constant):
            raise _refuse(f"{name} of a number", "write the value itself", operand.place)
        return Reduce(REDUCTIONS[name], bound, operand, place, _deeper(place, operand))

    def gather(
        self, name: Token, brackets: tuple[Word, ...] | None, *operands: Expression
    ) -> Expression:
        place = _place(name)
        if name not in GATHERS:
            raise _refuse(
                f"{str(name)!r} does not take several operands",
                f"known: {', '.join(GATHERS)}",
                place,
            )
        op = GATHERS[str(name)]
        if len(brackets or ()) != (op is Op.CONCAT):
            raise _refuse(
                f"{name} names {len(brackets or ())} indices in brackets",
                _GATHER_HINTS[str(name)],
                place,
            )
        for operand in operands:
            if isinstance(operand, Constant):
                raise _refuse(
                    f"an operand of {name} is only a number",
                    "declare a tensor that holds it",
                    operand.place,
                )
        axis = brackets[0] if brackets else None
        return Gather(op, axis, operands, place, _deeper(place, *operands))


_GATHER_HINTS = {
    "concat": "name the index along which to put the operands: concat[c](A[i,c], B[i,c])",
    "product": "give all factors: product(A[i,k], B[k,j], C[j,l])",
}

_PLAIN_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "a dimension number",
    "DIMENSIONS": "dimensions such as 34x16",
    "_NL": "the end of the line",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "LSQB": "'['",
    "RSQB": "']'",
    "LPAR": "'('",
    "RPAR": "')'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "STAR": "'*'",
    "SLASH": "'/'",
    "$END": "the end of the text",
}


def _plain(terminals: set[str]) -> str:
    if {"PLUS", "STAR", "MINUS", "SLASH"} <= terminals:
        terminals = terminals - {"PLUS", "STAR", "MINUS", "SLASH"} | {"an operator"}
    words = sorted(
        (_PLAIN_WORDS.get(t, t if " " in t else f"'{t.lower()}'") for t in terminals - {"COMMENT"}),
        key=lambda word: (word.startswith("'"), word),
    )
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _explained(problem: UnexpectedInput) -> ParseError:
    """A lark error in plain words."""
    if isinstance(problem, UnexpectedToken):
        found = f"{str(problem.token)[:40]!r} is not expected here"
        if problem.token.type in ("_NL", "$END"):
            found = "the line ends too early"
        expected = set(problem.accepts or problem.expected)
    elif isinstance(problem, UnexpectedCharacters):
        found = f"the character {problem.char!r} has no meaning here"
        expected = set(problem.allowed or ())
    else:
        found, expected = "the text ends too early", set()
    hint = f"here can stand {_plain(expected)}" if expected else "see the language reference"
    return _refuse(found, hint, (max(problem.line, 1), max(problem.column, 1)))
