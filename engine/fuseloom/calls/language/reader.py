"""Annotations read from text."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from fuseloom.calls.language.annotation import Annotation, Interval, Subset
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.errors import FuseloomError, ParseError, shortened

MOST_CHARACTERS = 20_000
MOST_DIGITS = 18


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
        Of text that is no annotation, a name with two meanings, or a variable that nothing
        declares twice.

    Examples
    --------
    >>> made = read_annotation("produces { s { start: 0, len: 1 } } when consumes { }")
    >>> made.produces.data, made.consumes
    ('s', ())
    """
    if len(text) > MOST_CHARACTERS:
        raise ParseError(f"an annotation has at most {MOST_CHARACTERS:,} characters", source=source)
    try:
        annotation: Annotation = _Builder().transform(_grammar().parse(text))
        _verify(annotation, text)
    except UnexpectedInput as problem:
        raise _syntax_error(problem, text, source) from None
    except VisitError as wrapped:
        if not isinstance(wrapped.orig_exc, FuseloomError):
            raise
        wrapped.orig_exc.source = source
        raise wrapped.orig_exc from None
    except ParseError as error:
        error.source = error.source or source
        raise
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


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """From the syntax tree to an annotation."""

    def annotation(self, *parts: Any) -> Annotation:
        *declared, body = parts
        intervals: list[Interval] = []
        while isinstance(body, tuple) and isinstance(body[0], Interval):
            intervals.append(body[0])
            body = body[1]
        produces, consumes = body
        return Annotation(tuple(map(str, declared)), tuple(intervals), produces, consumes)

    def declaration(self, name: Token) -> Token:
        return name

    def loop(self, name: Token, start: Any, end: Any, step: Any, body: Any) -> Any:
        return Interval(str(name), start, end, step), body

    def fire(self, produces: Subset, *consumes: Subset | None) -> Any:
        return produces, tuple(x for x in consumes if x is not None)

    def subset(self, name: Token, *fields: Any) -> Subset:
        named: dict[str, Polynomial] = {}
        for field in fields:
            if field is None:
                continue
            word, value = field
            if word in named:
                raise _fault(word, f"{name} has the field {word} twice")
            named[str(word)] = value
        return Subset(str(name), tuple(named.items()))

    def field(self, name: Token, value: Polynomial) -> Any:
        return name, value

    def add(self, left: Polynomial, right: Polynomial) -> Polynomial:
        return left + right

    def subtract(self, left: Polynomial, right: Polynomial) -> Polynomial:
        return left - right

    def multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        return left * right

    def divide(self, value: Polynomial, divisor: Token) -> Polynomial:
        return value // _divisor(divisor)

    def remainder(self, value: Polynomial, divisor: Token) -> Polynomial:
        return value % _divisor(divisor)

    def negate(self, value: Polynomial) -> Polynomial:
        return -value

    def number(self, digits: Token) -> Polynomial:
        return Polynomial.of(_integer(digits))

    def variable(self, name: Token) -> Polynomial:
        return Polynomial.of(Symbol(str(name)))

    def data_field(self, data: Token, name: Token) -> Polynomial:
        return Polynomial.of(DataField(str(data), str(name)))


def _fault(at: Token, message: str, hint: str | None = None) -> ParseError:
    return ParseError(message, hint=hint, line=at.line, column=at.column)


def _integer(digits: Token) -> int:
    if len(digits) > MOST_DIGITS:
        raise _fault(digits, f"{shortened(str(digits), 30)} is too large")
    return int(digits)


def _divisor(digits: Token) -> int:
    if not _integer(digits):
        raise _fault(digits, "nothing is divided by 0", "divisors are positive numbers")
    return _integer(digits)


def _verify(annotation: Annotation, text: str) -> None:
    """Refuse names with two meanings, and loops that read what is not there yet."""
    declared: set[str] = set()
    for name in (*annotation.symbolic, *(loop.variable for loop in annotation.intervals)):
        if name in declared:
            raise _at(text, name, f"{name} is declared twice")
        declared.add(name)
    data = [annotation.produces.data, *(subset.data for subset in annotation.consumes)]
    for name in data:
        if name in declared:
            raise _at(text, name, f"{name} is a variable and a data structure")
    if data.count(data[0]) > 1:
        raise _at(text, data[0], f"{data[0]} is produced and consumed",
                  "a call writes into an output of its own")  # fmt: skip
    inner = {loop.variable for loop in annotation.intervals}
    for loop in annotation.intervals:
        for value in (loop.start, loop.end, loop.step):
            for atom in value.atoms():
                if isinstance(atom, Symbol) and atom.name in inner:
                    raise _at(
                        text, loop.variable, f"the loop over {loop.variable} reads {atom.name}",
                        "bounds are fields, numbers and arguments",
                    )  # fmt: skip


def _at(text: str, word: str, message: str, hint: str | None = None) -> ParseError:
    """An error at the last place of a word."""
    place = max(text.rfind(word), 0)
    line = text.count("\n", 0, place) + 1
    return ParseError(message, hint=hint, line=line, column=place - text.rfind("\n", 0, place))
