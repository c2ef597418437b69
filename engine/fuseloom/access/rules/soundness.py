"""A search for counterexamples: random instances of a rule, both sides evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

from fuseloom.access.constructs import CONSTRUCTS, ShapeError
from fuseloom.access.constructs.construct import Array
from fuseloom.access.constructs.operators import OPERATORS
from fuseloom.access.constructs.transformers import FILLINGS
from fuseloom.access.meaning import evaluate, shape_of, shapes_of
from fuseloom.access.rules.rule import Bindings, Pattern, PatternTerm, Rule, Variable, instance
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term, tensor, tensors

LARGEST = 4
"""The largest extent of random patterns."""
TRIES = 1_000
"""Random terms that are tried for each instance that is wanted."""
AS_BEFORE = 0.7
"""The share of random terms whose tensors have as many dimensions as those of one that matched."""
TOLERANCE = 1e-9
"""Of what is not exact: operators that are no sums, products or choices of integers."""

Draw: TypeAlias = np.random.Generator


@dataclass(frozen=True)
class Counterexample:
    """An instance of a rule whose sides differ.

    Attributes
    ----------
    left, right : Term
    reason : str
        How they differ.
    data : mapping
        Per tensor the array for which they do; empty if their shapes differ.
    """

    left: Term
    right: Term
    reason: str
    data: Mapping[str, Array]


@dataclass(frozen=True)
class RuleCheck:
    """What a search for counterexamples found.

    Attributes
    ----------
    rule : Rule
    instances : int
        Whose sides were compared.
    tried : int
        Random terms that were made for that.
    counterexample : Counterexample, optional
    """

    rule: Rule
    instances: int
    tried: int
    counterexample: Counterexample | None

    def __str__(self) -> str:
        if self.counterexample is not None:
            return f"{self.rule.name} is unsound: {self.counterexample.reason}"
        if not self.instances:
            return f"{self.rule.name} applied to none of {self.tried} random terms"
        return f"{self.rule.name} held in {self.instances} random instances"


def check_rule(rule: Rule, instances: int = 300, seed: int = 0) -> RuleCheck:
    """Compare both sides of a rule on random instances with small integers as data.

    Parameters
    ----------
    instances : int
        How many are wanted; fewer are compared where few random terms match.
    seed : int
        Of the random terms and data.

    Examples
    --------
    >>> from fuseloom.access.rules.reader import read_rules
    >>> broken, = read_rules('(rule swap "x" (concat ?a ?b ?d) => (concat ?b ?a ?d))')
    >>> check_rule(broken).counterexample is None
    False
    """
    random = np.random.default_rng(seed)
    compared = tried = 0
    matched: list[tuple[int, ...]] = []
    while compared < instances and tried < instances * TRIES:
        tried += 1
        alike = bool(matched) and random.random() < AS_BEFORE
        attempt = _Instance(
            rule, random, matched[int(random.integers(len(matched)))] if alike else None
        )
        drawn = attempt.sides()
        if drawn is None:
            continue
        matched.append(attempt.ranks)
        compared += 1
        found = _difference(*drawn, random)
        if found is not None:
            return RuleCheck(rule, compared, tried, found)
    return RuleCheck(rule, compared, tried, None)


def random_term(random: Draw, depth: int) -> Term:
    """A random term, of which about half have a shape.

    Examples
    --------
    >>> random_term(np.random.default_rng(0), 2).construct in CONSTRUCTS
    True
    """
    if depth == 0 or random.random() < 0.1:
        return _leaf(random, f"t{random.integers(3)}", _extents(random, 4))
    construct = CONSTRUCTS[str(random.choice([x for x in CONSTRUCTS if x != "tensor"]))]
    operands = [random_term(random, depth - 1) for _ in range(construct.operands)]
    if len(operands) == 2 and random.random() < 0.7:
        operands[1] = operands[0]
    try:
        shapes = [shape_of(operand) for operand in operands]
        attributes = _attributes(construct.name, random, shapes)
    except (ShapeError, ValueError):
        attributes = _attributes(construct.name, random, [AccessShape((1,), (2, 1))] * 2)
    return Term(construct.name, attributes, tuple(operands))


def _difference(left: Term, right: Term, random: Draw) -> Counterexample | None:
    wanted = shape_of(left)
    try:
        made = shape_of(right)
    except ShapeError as error:
        return Counterexample(left, right, f"the right side has no shape: {error.message}", {})
    if made != wanted:
        reason = f"the left side has shape {wanted}, the right side {made}"
        return Counterexample(left, right, reason, {})
    data = {
        name: random.integers(-4, 5, size=dims).astype(np.float64)
        for name, dims in tensors(left).items()
    }
    with np.errstate(invalid="ignore", over="ignore"):
        values = evaluate(left, data), evaluate(right, data)
        if np.allclose(*values, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return None
    place = tuple(int(x) for x in np.argwhere(~np.isclose(*values, equal_nan=True))[0])
    first, second = (float(value[place]) for value in values)
    return Counterexample(left, right, f"at {place} the sides are {first:g} and {second:g}", data)


class _Instance:
    """One attempt at terms that match the left side of a rule.

    Parameters
    ----------
    ranks : tuple of int, optional
        Numbers of dimensions of the tensors' two access parts and of their compute part; drawn
        where left out.
    """

    def __init__(self, rule: Rule, random: Draw, ranks: tuple[int, ...] | None) -> None:
        self.rule, self.random = rule, random
        if ranks is None:
            accesses = (int(random.integers(int(random.random() < 0.7), 4)) for _ in range(2))
            ranks = *accesses, int(random.integers(int(random.random() < 0.9), 3))
        self.ranks = ranks
        *self.accesses, self.compute = (_extents(random, rank, least=rank) for rank in ranks)
        variants = list(rule.variants())
        self.bound: Bindings = dict(variants[int(random.integers(len(variants)))])

    def sides(self) -> tuple[Term, Term] | None:
        try:
            left = self._term(self.rule.left)
            shapes = shapes_of(left)
        except (ShapeError, ValueError):
            return None
        rows, columns = (int(x) for x in self.random.integers(1, LARGEST + 1, size=2))
        environment = {
            name: shapes[value] if isinstance(value, Term) else value
            for name, value in self.bound.items()
        }
        values = self.rule.computed({"rows": rows, "columns": columns, **environment})
        if values is None:
            return None
        names = (name for name, _ in self.rule.lets)
        return left, instance(
            self.rule.right, {**self.bound, **dict(zip(names, values, strict=True))}
        )

    def _term(self, pattern: Pattern) -> Term:
        if isinstance(pattern, Variable):
            if pattern.name not in self.bound:
                self.bound[pattern.name] = self._drawn(f"t{len(self.bound)}")
            term: Term = self.bound[pattern.name]
            return term
        assert isinstance(pattern, PatternTerm)
        operands = tuple(self._term(x) for x in pattern.operands)
        attributes = list(
            _attributes(pattern.construct, self.random, [shape_of(x) for x in operands])
        )
        for place, wanted in enumerate(pattern.attributes):
            if not isinstance(wanted, Variable):
                attributes[place] = wanted
            else:
                attributes[place] = self.bound.setdefault(wanted.name, attributes[place])
        return Term(pattern.construct, tuple(attributes), operands)

    def _drawn(self, name: str) -> Term:
        """A tensor whose shape is often that of another."""
        access = self.accesses[int(self.random.integers(2) if self.random.random() < 0.5 else 0)]
        compute = self.compute
        if self.random.random() < 0.1:
            compute = _extents(self.random, 2)
        return Term("access", (len(access),), (tensor(name, (*access, *compute)),))


def _leaf(random: Draw, name: str, dims: Dims) -> Term:
    whole = f"{name}_{'_'.join(map(str, dims))}"
    return Term("access", (int(random.integers(len(dims) + 1)),), (tensor(whole, dims),))


def _extents(random: Draw, most: int, least: int = 0) -> Dims:
    count = int(random.integers(least, most + 1))
    return tuple(int(x) for x in random.integers(1, LARGEST + 1, size=count))


def _refactored(random: Draw, dims: Dims) -> Dims:
    """Other extents with the same product."""
    rest = prod(dims)
    made: list[int] = []
    while rest > 1 and len(made) < 3:
        divisors = [x for x in range(1, rest + 1) if rest % x == 0]
        made.append(int(random.choice(divisors)))
        rest //= made[-1]
    return dims if random.random() < 0.2 else (*made, rest)


def _dimension(random: Draw, dims: Dims) -> int:
    return int(random.integers(len(dims)))


def _range_of(random: Draw, extent: int) -> tuple[int, int]:
    low = int(random.integers(extent))
    return low, int(random.integers(low + 1, extent + 1))


def _slices(random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    number = _dimension(random, shapes[0].dims)
    return number, *_range_of(random, shapes[0].dims[number])


def _boxes(random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    if random.random() < 0.2:
        return (0,) * len(shapes[0].dims), shapes[0].dims
    ranges = [_range_of(random, extent) for extent in shapes[0].dims]
    return tuple(low for low, _ in ranges), tuple(high for _, high in ranges)


def _windows(random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    window = tuple(int(random.integers(1, extent + 1)) for extent in shapes[0].compute)
    return window, tuple(int(x) for x in random.integers(1, 3, size=len(window)))


def _singles(random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    ones = [place for place, extent in enumerate(shapes[0].dims) if extent == 1]
    return (int(random.choice(ones)) if ones else _dimension(random, shapes[0].dims),)


def _broadcasts(random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    dims = tuple(
        int(random.integers(1, 4)) if x == 1 and random.random() < 0.5 else x
        for x in shapes[0].dims
    )
    return (shapes[0].resplit(dims),)


def _paddings(random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    sizes = (int(x) for x in random.integers(0, 3, size=2))
    return str(random.choice(list(FILLINGS))), _dimension(random, shapes[0].dims), *sizes


SAMPLERS: Mapping[str, Callable[[Draw, Sequence[AccessShape]], tuple[Any, ...]]] = {
    "literal": lambda random, _: (float(random.integers(-4, 5)),),
    "access": lambda random, shapes: (int(random.integers(len(shapes[0].dims) + 1)),),
    "transpose": lambda random, shapes: (
        tuple(int(x) for x in random.permutation(len(shapes[0].dims))),
    ),
    "windows": _windows,
    "slice": _slices,
    "box": _boxes,
    "squeeze": _singles,
    "reshape": lambda random, shapes: (
        AccessShape(_refactored(random, shapes[0].access), _refactored(random, shapes[0].compute)),
    ),
    "concat": lambda random, shapes: (_dimension(random, shapes[0].dims),),
    "pad": _paddings,
    "broadcast": _broadcasts,
    "insert-axis": lambda random, shapes: (int(random.integers(len(shapes[0].dims) + 1)),),
    "compute": lambda random, _: (str(random.choice(list(OPERATORS))),),
    "systolicArray": lambda _, shapes: (
        (shapes[1].dims[0], shapes[1].dims[1]) if len(shapes[1].dims) == 2 else (1, 1)
    ),
}
"""Per construct attributes that mostly fit operands of given shapes."""


def _attributes(construct: str, random: Draw, shapes: Sequence[AccessShape]) -> tuple[Any, ...]:
    sampler = SAMPLERS.get(construct)
    return () if sampler is None else sampler(random, shapes)
