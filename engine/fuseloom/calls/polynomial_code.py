"""Integer expressions as code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuseloom.calls.polynomials import Atom, DataField, Division, Extreme, Polynomial, Symbol


def variable_name(atom: Symbol | DataField) -> str:
    """The variable that holds a symbol, or a field of a data structure.

    Examples
    --------
    >>> variable_name(DataField("out", "rows"))
    'out_rows'
    """
    return atom.name if isinstance(atom, Symbol) else f"{atom.data}_{atom.name}"


@dataclass(frozen=True)
class IntegerDialect:
    """The signs of a language.

    Attributes
    ----------
    quotient, remainder : str
        Operators on integers that are not negative.
    extreme : callable
        Gives the call of the smallest or largest of several texts.
    variable : callable
        Gives the name of what holds a symbol, or a field.
    """

    quotient: str
    remainder: str
    extreme: Callable[[bool, list[str]], str]
    variable: Callable[[Symbol | DataField], str] = variable_name


def _python_extreme(largest: bool, values: list[str]) -> str:
    return f"{'max' if largest else 'min'}({', '.join(values)})"


def _cpp_extreme(largest: bool, values: list[str]) -> str:
    return f"std::{'max' if largest else 'min'}<int64_t>({{{', '.join(values)}}})"


PYTHON = IntegerDialect("//", "%", _python_extreme)
CPP = IntegerDialect("/", "%", _cpp_extreme)


def code_of(value: Polynomial, dialect: IntegerDialect = PYTHON) -> str:
    """An expression as code.

    Examples
    --------
    >>> x = Polynomial.of("x")
    >>> code_of((x + 1) // 2 - 3 * x), code_of(x % 4, CPP)
    ('((x + 1) // 2) - 3*x', 'x % 4')
    """
    text = ""
    for monomial, factor in value.signed_terms():
        size = abs(factor)
        factors = [str(size)] if size != 1 or not monomial else []
        alone = len(value.terms) == 1 and len(monomial) == 1 and factor == 1
        factors += [_atom(atom, dialect, alone) for atom in monomial]
        part = "*".join(factors)
        if text:
            text += f" {'-' if factor < 0 else '+'} {part}"
        else:
            text = f"-{part}" if factor < 0 else part
    return text or "0"


def _atom(atom: Atom, dialect: IntegerDialect, alone: bool) -> str:
    match atom:
        case Division(dividend, divisor, remainder):
            inner = code_of(dividend, dialect)
            enclosed = inner if dividend.is_atom else f"({inner})"
            sign = dialect.remainder if remainder else dialect.quotient
            text = f"{enclosed} {sign} {divisor}"
            return text if alone else f"({text})"
        case Extreme(largest, values):
            return dialect.extreme(largest, sorted(code_of(x, dialect) for x in values))
    return dialect.variable(atom)
