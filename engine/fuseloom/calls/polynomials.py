"""Integer expressions of annotations in a normal form: sums of products, quotients, minima."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

from fuseloom.errors import ProgramError


@dataclass(frozen=True, order=True)
class Symbol:
    """A variable: of a loop, a size of tiles, an integer argument.

    Attributes
    ----------
    name : str
    """

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, order=True)
class DataField:
    """A field of a data structure, such as ``out.rows``.

    Attributes
    ----------
    data, name : str
    """

    data: str
    name: str

    def __str__(self) -> str:
        return f"{self.data}.{self.name}"


@dataclass(frozen=True)
class Division:
    """A quotient, rounded down, or its remainder, by a positive number.

    Attributes
    ----------
    dividend : Polynomial
    divisor : int
    remainder : bool
    """

    dividend: Polynomial
    divisor: int
    remainder: bool = False

    def __str__(self) -> str:
        inner = str(self.dividend)
        enclosed = inner if self.dividend.is_atom else f"({inner})"
        return f"{enclosed} {'%' if self.remainder else '/'} {self.divisor}"


@dataclass(frozen=True)
class Extreme:
    """The smallest or the largest of several values.

    Attributes
    ----------
    largest : bool
    values : frozenset of Polynomial
    """

    largest: bool
    values: frozenset[Polynomial]

    def __str__(self) -> str:
        return f"{'max' if self.largest else 'min'}({', '.join(sorted(map(str, self.values)))})"


Atom: TypeAlias = Symbol | DataField | Division | Extreme
Monomial: TypeAlias = tuple[Atom, ...]
Substitution: TypeAlias = Callable[["Symbol | DataField"], "Polynomial | None"]


def _key(monomial: Monomial) -> tuple[int, tuple[str, ...]]:
    return -len(monomial), tuple(map(str, monomial))


class Polynomial:
    """A sum of products of atoms, each times an integer; those with equal terms are equal.

    Parameters
    ----------
    terms : mapping
        Products of atoms to their factors; those with a factor of 0 are left out.

    Notes
    -----
    Sums of products that have the same value have the same terms. Quotients, remainders and
    extremes are atoms: ``5*x / 4`` and ``x + x / 4`` have the same value and different terms.

    Examples
    --------
    >>> x, n = Polynomial.of("x"), Polynomial.of("n")
    >>> str(2 * x + n - x - x), str((4 * x + 8) // 4), str(x * n + 1)
    ('n', 'x + 2', 'n*x + 1')
    """

    __slots__ = ("__dict__", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = ((m, factor) for m, factor in terms.items() if factor)
        self.terms = dict(sorted(kept, key=lambda term: _key(term[0])))

    @classmethod
    def of(cls, value: Atom | str | int) -> Polynomial:
        """A number, a variable of a name, or an atom.

        Examples
        --------
        >>> str(Polynomial.of(DataField("out", "len")))
        'out.len'
        """
        if isinstance(value, int):
            return cls({(): value})
        return cls({(Symbol(value) if isinstance(value, str) else value,): 1})

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self.terms.items()))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    @property
    def number(self) -> int | None:
        """Its value, if it is a number."""
        if not self.terms:
            return 0
        return self.terms[()] if list(self.terms) == [()] else None

    @property
    def is_atom(self) -> bool:
        """Whether it is one atom, or a number that is not negative."""
        if self.number is not None:
            return self.number >= 0
        return len(self.terms) == 1 and all(
            len(m) == 1 and factor == 1 and not isinstance(m[0], Division)
            for m, factor in self.terms.items()
        )

    @property
    def symbol(self) -> str | None:
        """The name of the variable that it is; None if it is something else."""
        for monomial, factor in self.terms.items():
            if len(self.terms) == 1 and factor == 1 and len(monomial) == 1:
                (atom,) = monomial
                return atom.name if isinstance(atom, Symbol) else None
        return None

    def atoms(self) -> Iterator[Symbol | DataField]:
        """The variables and fields in it, those within quotients and minima, too.

        Examples
        --------
        >>> sorted(x.name for x in (Polynomial.of("x") // 2 + Polynomial.of("y")).atoms())
        ['x', 'y']
        """
        for monomial in self.terms:
            for atom in monomial:
                match atom:
                    case Division(dividend):
                        yield from dividend.atoms()
                    case Extreme(_, values):
                        for value in values:
                            yield from value.atoms()
                    case _:
                        yield atom

    def __add__(self, other: Polynomial | int) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in _made(other).terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -_made(other)

    def __rsub__(self, other: int) -> Polynomial:
        return -self + other

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in _made(other).terms.items():
                monomial = tuple(sorted((*left, *right), key=str))
                terms[monomial] = terms.get(monomial, 0) + a * b
        return Polynomial(terms)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Polynomial:
        """The quotient by a positive number, rounded down."""
        whole, rest = self._divided(divisor)
        number = rest.number
        if number is not None:
            return whole + number // divisor
        return whole + Polynomial.of(Division(rest, divisor))

    def __mod__(self, divisor: int) -> Polynomial:
        """The remainder of the division by a positive number, from 0 on."""
        _, rest = self._divided(divisor)
        number = rest.number
        if number is not None:
            return Polynomial.of(number % divisor)
        return Polynomial.of(Division(rest, divisor, remainder=True))

    def _divided(self, divisor: int) -> tuple[Polynomial, Polynomial]:
        """The terms that a number divides, divided, and the others."""
        if divisor < 1:
            raise ProgramError(f"{self} is divided by {divisor}; divisors are positive")
        whole = {m: a // divisor for m, a in self.terms.items() if a % divisor == 0}
        rest = {m: a for m, a in self.terms.items() if a % divisor}
        return Polynomial(whole), Polynomial(rest)

    def substituted(self, values: Substitution) -> Polynomial:
        """The expression with others in place of variables and fields.

        Parameters
        ----------
        values : callable
            Gives what stands for a variable or a field; None where it stays.

        Examples
        --------
        >>> x = Polynomial.of("x")
        >>> str((x * x + 1).substituted(lambda atom: Polynomial.of("y") + 2))
        'y*y + 4*y + 5'
        """
        total = Polynomial({})
        for monomial, factor in self.terms.items():
            product = Polynomial.of(factor)
            for atom in monomial:
                product = product * _replaced(atom, values)
            total = total + product
        return total

    def with_variables(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """The expression with others in place of variables of some names.

        Examples
        --------
        >>> str((Polynomial.of("x") + 1).with_variables({"x": Polynomial.of("y") * 2}))
        '2*y + 1'
        """
        return self.substituted(
            lambda atom: values.get(atom.name) if isinstance(atom, Symbol) else None
        )

    def evaluate(self, values: Mapping[Symbol | DataField, int]) -> int:
        """Its value.

        Parameters
        ----------
        values : mapping
            Of its variables and fields.

        Raises
        ------
        KeyError
            If one has no value.

        Examples
        --------
        >>> (Polynomial.of("x") // 4).evaluate({Symbol("x"): 11})
        2
        """
        return sum(
            factor * prod(_value(atom, values) for atom in monomial)
            for monomial, factor in self.terms.items()
        )

    def signed_terms(self) -> list[tuple[Monomial, int]]:
        """Products and their factors, those that are added before those that are subtracted."""
        return sorted(self.terms.items(), key=lambda term: term[1] < 0)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for monomial, factor in self.signed_terms():
            sign, size = ("-", -factor) if factor < 0 else ("+", factor)
            factors = [str(size)] if size != 1 or not monomial else []
            alone = len(monomial) == 1 and not factors and (text or sign == "+")
            for atom in monomial:
                inner = str(atom)
                divided = isinstance(atom, Division) and not alone
                factors.append(f"({inner})" if divided else inner)
            part = "*".join(factors)
            if text:
                text += f" {sign} {part}"
            else:
                text = f"-{part}" if sign == "-" else part
        return text

    def __repr__(self) -> str:
        return f"<{self}>"


def _made(value: Polynomial | int) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.of(value)


def _replaced(atom: Atom, values: Substitution) -> Polynomial:
    match atom:
        case Division(dividend, divisor, remainder):
            inner = dividend.substituted(values)
            return inner % divisor if remainder else inner // divisor
        case Extreme(largest, inside):
            return _extreme((x.substituted(values) for x in inside), largest, ())
    found = values(atom)
    return Polynomial.of(atom) if found is None else found


def _value(atom: Atom, values: Mapping[Symbol | DataField, int]) -> int:
    match atom:
        case Division(dividend, divisor, remainder):
            inner = dividend.evaluate(values)
            return inner % divisor if remainder else inner // divisor
        case Extreme(largest, inside):
            found = [x.evaluate(values) for x in inside]
            return max(found) if largest else min(found)
    return values[atom]


def smallest(values: Iterable[Polynomial], facts: Iterable[Polynomial] = ()) -> Polynomial:
    """The smallest of several values, without those that another is known not to exceed.

    Parameters
    ----------
    facts : iterable of Polynomial
        Values that are known not to be negative, beside all variables and fields.

    Raises
    ------
    ProgramError
        If there are no values.

    Examples
    --------
    >>> y = Polynomial.of("y")
    >>> str(smallest([y, Polynomial.of(0)])), str(smallest([y, Polynomial.of("n")]))
    ('0', 'min(n, y)')
    """
    return _extreme(values, False, tuple(facts))


def largest(values: Iterable[Polynomial], facts: Iterable[Polynomial] = ()) -> Polynomial:
    """The largest of several values, without those that another is known to reach.

    Examples
    --------
    >>> y, n = Polynomial.of("y"), Polynomial.of("n")
    >>> str(largest([y + 4, n], facts=[n - y - 4]))
    'n'
    """
    return _extreme(values, True, tuple(facts))


def _extreme(
    values: Iterable[Polynomial], greatest: bool, facts: tuple[Polynomial, ...]
) -> Polynomial:
    flat: list[Polynomial] = []
    for value in values:
        inner = _same_extreme(value, greatest)
        flat += [value] if inner is None else inner
    if not flat:
        raise ProgramError("there is no smallest and no largest of no values")
    kept: list[Polynomial] = []
    for value in dict.fromkeys(flat):
        if any(_reaches(other, value, greatest, facts) for other in kept):
            continue
        kept = [x for x in kept if not _reaches(value, x, greatest, facts)] + [value]
    return kept[0] if len(kept) == 1 else Polynomial.of(Extreme(greatest, frozenset(kept)))


def _same_extreme(value: Polynomial, greatest: bool) -> list[Polynomial] | None:
    if len(value.terms) == 1:
        ((monomial, factor),) = value.terms.items()
        if factor == 1 and len(monomial) == 1:
            atom = monomial[0]
            if isinstance(atom, Extreme) and atom.largest == greatest:
                return sorted(atom.values, key=str)
    return None


def _reaches(
    other: Polynomial, value: Polynomial, greatest: bool, facts: tuple[Polynomial, ...]
) -> bool:
    """Tell if one of two values makes the other superfluous."""
    return is_never_negative(other - value if greatest else value - other, facts)


def is_never_negative(value: Polynomial, facts: Iterable[Polynomial] = ()) -> bool:
    """Whether a value is known not to be negative, as variables and fields are not.

    It is looked for as a sum of one of the facts, or none, and of products that are not negative.

    Examples
    --------
    >>> x, n = Polynomial.of("x"), Polynomial.of("n")
    >>> is_never_negative(x * n + 1), is_never_negative(n - x), is_never_negative(n - x, [n - x])
    (True, False, True)
    """
    return any(_is_sum_of_known(rest) for rest in (value, *(value - fact for fact in facts)))


def _is_sum_of_known(value: Polynomial) -> bool:
    return all(
        factor >= 0 and all(_known(atom) for atom in monomial)
        for monomial, factor in value.terms.items()
    )


def _known(atom: Atom) -> bool:
    match atom:
        case Division(dividend, _, remainder):
            return remainder or _is_sum_of_known(dividend)
        case Extreme(greatest, values):
            return (any if greatest else all)(_is_sum_of_known(x) for x in values)
    return True
