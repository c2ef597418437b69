"""A rule: two patterns, what is computed of the left one, and when it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fuseloom.access.rules.expressions import UNDEFINED, Environment, Evaluator
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Attribute, Term


@dataclass(frozen=True)
class Variable:
    """A name, such as ``?a``, for whatever stands there."""

    name: str


@dataclass(frozen=True)
class PatternTerm:
    """A construct whose operands and attributes are patterns.

    Attributes
    ----------
    construct : str
    attributes : tuple
        Variables, or the attributes that must stand there.
    operands : tuple
    """

    construct: str
    attributes: tuple[Variable | Attribute, ...]
    operands: tuple[Pattern, ...]


Pattern: TypeAlias = Variable | PatternTerm
Bindings: TypeAlias = dict[str, Any]
"""Variables of operands to terms, those of attributes to attributes."""


@dataclass(frozen=True)
class Rule:
    """A rewriting of terms that keeps their value.

    Attributes
    ----------
    name : str
    text : str
        Why it holds, or what it is for.
    left, right : pattern
    lets : tuple
        Variables of the right side, and how they are computed, in order.
    conditions : tuple
        What must hold.
    conditions_text : tuple of str
        The conditions as they were written.
    each : tuple
        Variables and the values that each takes: the rule is tried with all.
    uses : frozenset of str
        The variables that ``lets`` and ``conditions`` read.
    source : str
        The rule as it was written.
    """

    name: str
    text: str
    left: Pattern
    right: Pattern
    lets: tuple[tuple[str, Evaluator], ...] = field(default=(), compare=False)
    conditions: tuple[Evaluator, ...] = field(default=(), compare=False)
    conditions_text: tuple[str, ...] = ()
    each: tuple[tuple[str, tuple[int, ...]], ...] = ()
    uses: frozenset[str] = frozenset()
    source: str = ""

    def variants(self) -> Iterator[Bindings]:
        """Every choice of values for the variables of ``each``.

        Examples
        --------
        >>> rule = Rule("r", "", Variable("?a"), Variable("?a"), each=(("?d", (0, 1)),))
        >>> list(rule.variants())
        [{'?d': 0}, {'?d': 1}]
        """
        choices: list[Bindings] = [{}]
        for name, values in self.each:
            choices = [{**choice, name: value} for choice in choices for value in values]
        yield from choices

    def computed(self, environment: Environment) -> tuple[Any, ...] | None:
        """The values of ``lets``; None if a condition does not hold or something has no value.

        Parameters
        ----------
        environment : mapping
            Shapes of the terms and attributes that the left side binds, and the parameters.

        Examples
        --------
        >>> a = Variable("?a")
        >>> rule = Rule("r", "", a, a, conditions=(lambda e: e["?n"] > 1,))
        >>> print(rule.computed({"?n": 2}), rule.computed({"?n": 1}))
        () None
        """
        known = dict(environment)
        try:
            for name, value in self.lets:
                known[name] = value(known)
            if not all(condition(known) for condition in self.conditions):
                return None
        except UNDEFINED:
            return None
        return tuple(known[name] for name, _ in self.lets)

    def failing(self, environment: Environment) -> list[str]:
        """The conditions that do not hold, each with what its names stand for.

        Examples
        --------
        >>> rule = Rule("r", "", Variable("?a"), Variable("?a"), conditions=(lambda e: e["n"] > 1,),
        ...             conditions_text=("(> n 1)",))
        >>> rule.failing({"n": 1})
        ['r needs (> n 1), and n = 1']
        """
        known = dict(environment)
        failing = []
        try:
            for name, value in self.lets:
                known[name] = value(known)
        except UNDEFINED:
            return [f"{self.name} needs more dimensions"]
        for condition, text in zip(self.conditions, self.conditions_text, strict=True):
            try:
                holds = condition(known)
            except UNDEFINED:
                holds = False
            if not holds:
                named = [f"{x} = {known[x]}" for x in known if x in text.replace(")", " ").split()]
                failing.append(f"{self.name} needs {text}, and {', '.join(named)}")
        return failing

    def applied(
        self, term: Term, shapes: Mapping[Term, AccessShape], parameters: Environment
    ) -> Iterator[Term]:
        """What the rule makes of a term at its root.

        Parameters
        ----------
        shapes : mapping
            Shape of every part of the term.
        parameters : mapping
            Of the hardware: ``rows`` and ``columns``.

        Examples
        --------
        >>> from fuseloom.access.meaning import shapes_of
        >>> from fuseloom.access.rules.sets import rules_of
        >>> from fuseloom.access.text import read_term, to_text
        >>> term = read_term("(tensor A 3 4) (transpose (transpose A (list 1 0)) (list 1 0))").term
        >>> rule = next(r for r in rules_of(["laws"]) if r.name == "transposes-compose")
        >>> print(to_text(*rule.applied(term, shapes_of(term), {}), declared=False))
        (transpose A (list 0 1))
        """
        for variant in self.variants():
            bound = match(self.left, term, variant)
            if bound is None:
                continue
            environment = {
                name: shapes[value] if isinstance(value, Term) else value
                for name, value in bound.items()
            }
            values = self.computed({**parameters, **environment})
            if values is not None:
                names = (name for name, _ in self.lets)
                yield instance(self.right, {**bound, **dict(zip(names, values, strict=True))})


def match(pattern: Pattern, term: Term, bound: Bindings) -> Bindings | None:
    """What the variables of a pattern stand for in a term; None if it does not match.

    Parameters
    ----------
    bound : dict
        What variables stand for already.

    Examples
    --------
    >>> from fuseloom.access.terms import tensor
    >>> both = PatternTerm("pair", (), (Variable("?a"), Variable("?a")))
    >>> a, b = tensor("A", (2,)), tensor("B", (2,))
    >>> match(both, Term("pair", (), (a, b)), {}) is None
    True
    """
    if isinstance(pattern, Variable):
        if bound.setdefault(pattern.name, term) != term:
            return None
        return bound
    if pattern.construct != term.construct:
        return None
    for wanted, attribute in zip(pattern.attributes, term.attributes, strict=True):
        if isinstance(wanted, Variable):
            if bound.setdefault(wanted.name, attribute) != attribute:
                return None
        elif wanted != attribute:
            return None
    result: Bindings | None = bound
    for inner, operand in zip(pattern.operands, term.operands, strict=True):
        result = None if result is None else match(inner, operand, result)
    return result


def instance(pattern: Pattern, bound: Bindings) -> Term:
    """A pattern with terms and attributes for its variables.

    Examples
    --------
    >>> from fuseloom.access.terms import tensor
    >>> instance(PatternTerm("access", (Variable("?n"),), (Variable("?a"),)),
    ...          {"?a": tensor("A", (2,)), "?n": 1}).attributes
    (1,)
    """
    if isinstance(pattern, Variable):
        term: Term = bound[pattern.name]
        return term
    return Term(
        pattern.construct,
        tuple(bound[x.name] if isinstance(x, Variable) else x for x in pattern.attributes),
        tuple(instance(x, bound) for x in pattern.operands),
    )


def term_variables(pattern: Pattern) -> list[str]:
    """Names of the variables that stand for terms, each once, from left to right.

    Examples
    --------
    >>> term_variables(PatternTerm("pair", (), (Variable("?a"), Variable("?b"))))
    ['?a', '?b']
    """
    if isinstance(pattern, Variable):
        return [pattern.name]
    return list(dict.fromkeys(name for x in pattern.operands for name in term_variables(x)))


def attribute_variables(pattern: Pattern) -> list[str]:
    """Names of the variables that stand for attributes, each once.

    Examples
    --------
    >>> attribute_variables(PatternTerm("access", (Variable("?n"),), (Variable("?a"),)))
    ['?n']
    """
    if isinstance(pattern, Variable):
        return []
    own = [x.name for x in pattern.attributes if isinstance(x, Variable)]
    return list(
        dict.fromkeys([*own, *(name for x in pattern.operands for name in attribute_variables(x))])
    )
