"""Annotations read from text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, TypeAlias

from lark import Lark, Token, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive

from fuseloom.calls.language.annotation import Annotation, Interval, Subset
from fuseloom.calls.polynomials import DataField, Division, Polynomial, Symbol
from fuseloom.errors import FuseloomError, ParseError, shortened

MOST_CHARACTERS = 20_000
MOST_DIGITS = 18
MOST_TERMS = 200
MOST_FACTORS = 16
MOST_DIVISIONS = 16

_Placed: TypeAlias = tuple[Token, Subset]
"""A subset, and its place in the text."""


def read_annotation(text: str, source: str | None = None) -> Annotation:
    """Read an annotation.

    Parameters
    ----------
    text : str
        Declarations ``NAME: Symbolic``, loops ``for x in [START, END, STEP] {...}`` in each
        other, and ``produces {OUT {...}} when consumes {IN {...}, ...}``.
    source : str, optional
        What the text is called in errors.

    Raises
    ------
    ParseError
        Of text that is no annotation, a name with two meanings, a loop whose bounds read a
        variable of a loop, or an expression that is too long.

    Examples
    --------
    >>> made = read_annotation("produces { s { start: 0, len: 1 } } when consumes { }")
    >>> made.produces.data, made.consumes
    ('s', ())
    """
    if len(text) > MOST_CHARACTERS:
        raise ParseError(f"an annotation has at most {MOST_CHARACTERS:,} characters", source=source)
    try:
        annotation: Annotation = _AnnotationBuilder().transform(_grammar().parse(text))
    except UnexpectedInput as problem:
        raise _syntax_error(problem, text, source) from None
    except VisitError as wrapped:
        if not isinstance(wrapped.orig_exc, FuseloomError):
            raise
        wrapped.orig_exc.source = source
        raise wrapped.orig_exc from None
    return annotation


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    text = resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", start="annotation", propagate_positions=True)


def _syntax_error(problem: UnexpectedInput, text: str, source: str | None) -> ParseError:
    line, column = problem.line, problem.column
    match problem:
        case UnexpectedCharacters():
            found = repr(text.split("\n")[line - 1][column - 1 : column])
        case UnexpectedToken(token=token) if token.type == "$END":
            found, line, column = "the end", text.count("\n") + 1, len(text.split("\n")[-1]) + 1
        case UnexpectedToken(token=token):
            found = shortened(repr(str(token)), 40)
        case _:
            found = "this"
    return ParseError(
        f"{found} does not fit here",
        hint=f"expected {_expected(problem)}" if _expected(problem) else None,
        line=line, column=column, source=source,
    )  # fmt: skip


_TERMINALS = {
    "NAME": "a name", "NUMBER": "an integer", "LBRACE": "'{'", "RBRACE": "'}'", "LSQB": "'['",
    "RSQB": "']'", "COMMA": "','", "COLON": "':'", "DOT": "'.'", "LPAR": "'('", "RPAR": "')'",
    "PLUS": "'+'", "MINUS": "'-'", "STAR": "'*'", "SLASH": "'/'", "PERCENT": "'%'",
}  # fmt: skip


def _expected(problem: UnexpectedInput) -> str:
    names = getattr(problem, "accepts", None) or getattr(problem, "allowed", None) or ()
    words = [_TERMINALS.get(x, f"'{x.lower()}'") for x in sorted(names) if x not in ("$END", "WS")]
    return " or ".join(words[:6])


class _AnnotationBuilder(Transformer_NonRecursive[Token, Any]):  # nested texts end recursion
    """From the syntax tree to an annotation."""

    @v_args(inline=True)
    def annotation(self, *parts: Any) -> Annotation:
        *declared, body = parts
        loops: list[tuple[Token, Interval]] = []
        while len(body) == 3:
            name, interval, body = body
            loops.append((name, interval))
        produces, consumes = body
        _verify_names([*declared, *(name for name, _ in loops)], produces, consumes)
        _verify_bounds(loops)
        return Annotation(
            tuple(map(str, declared)),
            tuple(interval for _, interval in loops),
            produces[1],
            tuple(subset for _, subset in consumes),
        )

    @v_args(inline=True)
    def declaration(self, name: Token) -> Token:
        return name

    @v_args(inline=True)
    def loop(self, name: Token, start: Any, end: Any, step: Any, body: Any) -> Any:
        return name, Interval(str(name), start, end, step), body

    @v_args(inline=True)
    def fire(self, produces: _Placed, *consumes: _Placed | None) -> Any:
        return produces, tuple(x for x in consumes if x is not None)

    @v_args(inline=True)
    def subset(self, name: Token, *fields: Any) -> _Placed:
        named: dict[str, Polynomial] = {}
        for field in fields:
            if field is None:
                continue
            word, value = field
            if word in named:
                raise _fault(word, f"{name} has the field {word} twice")
            named[str(word)] = value
        return name, Subset(str(name), tuple(named.items()))

    @v_args(inline=True)
    def field(self, name: Token, value: Polynomial) -> Any:
        return name, value

    @v_args(inline=True)
    def number(self, digits: Token) -> Polynomial:
        return Polynomial.of(_integer(digits))

    @v_args(inline=True)
    def variable(self, name: Token) -> Polynomial:
        return Polynomial.of(Symbol(str(name)))

    @v_args(inline=True)
    def data_field(self, data: Token, name: Token) -> Polynomial:
        return Polynomial.of(DataField(str(data), str(name)))

    @v_args(meta=True, inline=True)
    def add(self, meta: Meta, left: Polynomial, right: Polynomial) -> Polynomial:
        return _limited(left + right, meta)

    @v_args(meta=True, inline=True)
    def subtract(self, meta: Meta, left: Polynomial, right: Polynomial) -> Polynomial:
        return _limited(left - right, meta)

    @v_args(meta=True, inline=True)
    def multiply(self, meta: Meta, left: Polynomial, right: Polynomial) -> Polynomial:
        if len(left.terms) * len(right.terms) > MOST_TERMS:
            raise _fault(meta, "an expression is too long when it is multiplied out")
        return _limited(left * right, meta)

    @v_args(meta=True, inline=True)
    def divide(self, meta: Meta, value: Polynomial, divisor: Token) -> Polynomial:
        return _limited(value // _divisor(divisor), meta)

    @v_args(meta=True, inline=True)
    def remainder(self, meta: Meta, value: Polynomial, divisor: Token) -> Polynomial:
        return _limited(value % _divisor(divisor), meta)

    @v_args(inline=True)
    def negate(self, value: Polynomial) -> Polynomial:
        return -value


def _fault(at: Token | Meta, message: str, hint: str | None = None) -> ParseError:
    return ParseError(message, hint=hint, line=at.line, column=at.column)


def _limited(value: Polynomial, meta: Meta) -> Polynomial:
    """An expression that is not too long to be computed with."""
    if len(value.terms) > MOST_TERMS:
        raise _fault(meta, f"an expression has at most {MOST_TERMS} terms")
    if any(abs(factor) >= 10**MOST_DIGITS for factor in value.terms.values()):
        raise _fault(meta, f"an expression has a number of more than {MOST_DIGITS} digits")
    if any(len(monomial) > MOST_FACTORS for monomial in value.terms):
        raise _fault(meta, f"a product has at most {MOST_FACTORS} variables")
    if _nesting(value) > MOST_DIVISIONS:
        raise _fault(meta, f"at most {MOST_DIVISIONS} divisions are in each other")
    return value


def _nesting(value: Polynomial) -> int:
    """The number of divisions that are in each other."""
    inside = [x.dividend for monomial in value.terms for x in monomial if isinstance(x, Division)]
    return max((1 + _nesting(x) for x in inside), default=0)


def _integer(digits: Token) -> int:
    if len(digits) > MOST_DIGITS:
        raise _fault(digits, f"{shortened(str(digits), 30)} is too large")
    return int(digits)


def _divisor(digits: Token) -> int:
    if not _integer(digits):
        raise _fault(digits, "nothing is divided by 0", "divisors are positive numbers")
    return _integer(digits)


def _verify_names(variables: list[Token], produces: _Placed, consumes: Sequence[_Placed]) -> None:
    """Refuse names with two meanings."""
    declared: set[str] = set()
    for name in variables:
        if str(name) in declared:
            raise _fault(name, f"{name} is declared twice")
        declared.add(str(name))
    for name, _ in (produces, *consumes):
        if str(name) in declared:
            raise _fault(name, f"{name} is a variable and a data structure")
    for name, subset in consumes:
        if subset.data == produces[1].data:
            raise _fault(
                name, f"{name} is produced and consumed", "a call writes into an output of its own"
            )


def _verify_bounds(loops: Sequence[tuple[Token, Interval]]) -> None:
    """Refuse bounds that are not the same for all parts."""
    variables = {loop.variable for _, loop in loops}
    for name, loop in loops:
        for value in (loop.start, loop.end, loop.step):
            for atom in value.atoms():
                if isinstance(atom, Symbol) and atom.name in variables:
                    raise _fault(
                        name,
                        f"the loop over {name} reads {atom}",
                        "bounds are fields, numbers and arguments",
                    )
