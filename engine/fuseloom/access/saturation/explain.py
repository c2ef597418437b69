"""Why two terms are equal: the rules that lead from one to the other, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fuseloom.access.meaning import shapes_of
from fuseloom.access.rules.rule import Pattern, PatternTerm, Rule, Variable, instance
from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.extract import every_choice
from fuseloom.access.saturation.matching import Application, ClassNumber, applications
from fuseloom.access.saturation.saturate import Saturation
from fuseloom.access.terms import Path, Term, part_at, replaced
from fuseloom.errors import ProgramError

MOST_TRIES = 40
"""How many ways from one node of a class to another are tried."""


@dataclass(frozen=True)
class Step:
    """A rule, applied to a part of a term.

    Attributes
    ----------
    rule : str
    forward : bool
        From its left side to its right side; otherwise the other way round.
    path : tuple of int
        The way to the part.
    before, after : Term
        The part.
    """

    rule: str
    forward: bool
    path: Path
    before: Term
    after: Term

    def under(self, path: Path) -> Step:
        """The step in a larger term, in which this one's root lies at the end of a path."""
        return Step(self.rule, self.forward, (*path, *self.path), self.before, self.after)


class _NoChainError(Exception):
    """No chain of rules was found."""


def explain(saturation: Saturation, term: Term) -> tuple[Step, ...]:
    """The steps from the term that was saturated to another term of its class.

    Raises
    ------
    ProgramError
        If the e-graph does not hold the term, or no chain of rules is found.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> from fuseloom.access.saturation.extract import extract_greedily
    >>> from fuseloom.access.saturation.saturate import saturate
    >>> made = saturate(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    >>> best = extract_greedily(made.classes, lambda node: 1 + 99 * (node.construct == "compute"))
    >>> [step.rule for step in explain(made, best.term)]
    ['systolic-array']
    """
    located = saturation.classes.locate(term)
    if located.get(term) != saturation.classes.root:
        raise ProgramError("the e-graph does not hold this term")
    try:
        return tuple(_Explainer(saturation).chain(saturation.term, term))
    except (_NoChainError, RecursionError):
        raise ProgramError("no chain of rules is found from one term to the other") from None


def replay(
    steps: Sequence[Step], term: Term, rules: Sequence[Rule], parameters: Mapping[str, int]
) -> Term:
    """Apply the steps of an explanation again, each by its rule.

    Raises
    ------
    ProgramError
        If a rule does not do what its step says.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> replay((), matmul(2, 2, 2), (), {}) == matmul(2, 2, 2)
    True
    """
    by_name = {rule.name: rule for rule in rules}
    for number, step in enumerate(steps, start=1):
        part = part_at(term, step.path)
        source, target = (part, step.after) if step.forward else (step.after, part)
        made = by_name[step.rule].applied(source, shapes_of(source), parameters)
        if part != step.before or target not in made:
            raise ProgramError(f"step {number}, {step.rule}, does not replay")
        term = replaced(term, step.path, step.after)
    return term


class _Explainer:
    def __init__(self, saturation: Saturation) -> None:
        self.saturation = saturation
        self.classes: EquivalenceClasses = saturation.classes
        self.numbers: dict[Term, int] = {}
        self.applications: dict[int, list[Application]] = {}
        self.terms: dict[int, Term] = {}
        self.chains: dict[tuple[Term, Term], list[Step] | None] = {}

    def chain(self, start: Term, end: Term) -> list[Step]:
        """Steps from one term of a class to another."""
        if start == end:
            return []
        key = start, end
        if key in self.chains:
            known = self.chains[key]
            if known is None:  # it is being looked for
                raise _NoChainError
            return known
        self.chains[key] = None
        try:
            found = self._found(start, end)
        except _NoChainError:
            del self.chains[key]
            raise
        self.chains[key] = found
        return found

    def _found(self, start: Term, end: Term) -> list[Step]:
        if self._node(start) == self._node(end):
            return self._explored(start, end) or self._within(start, end)
        barred: set[tuple[int, bool, ENode]] = set()
        for _ in range(MOST_TRIES):
            way = self._way(start, end, barred)
            steps: list[Step] = []
            for move, current, before, after in way:
                number, forward, _ = move
                rule = self._applications(current)[number].rule.name
                try:
                    steps += self.chain(current, before)
                except _NoChainError:
                    barred.add(move)
                    break
                steps.append(Step(rule, forward, (), before, after))
            else:
                last = way[-1][3]
                try:
                    return steps + self.chain(last, end)
                except _NoChainError:
                    barred.add(way[-1][0])
        raise _NoChainError

    def _explored(self, start: Term, end: Term) -> list[Step] | None:
        """Steps by one exploratory rule, whose sides are the same node with other operands."""
        wanted = [self._node(x) for x in end.operands]
        if [self._node(x) for x in start.operands] == wanted:
            return None
        for application in self._applications(start):
            sides = self._sides(application, start, True) if application.left else None
            if sides is None or self._node(sides[1]) != self._node(start):
                continue
            before, after = sides
            if [self._node(x) for x in after.operands] == wanted and before == start:
                step = Step(application.rule.name, True, (), before, after)
                return [step, *self._within(after, end)]
        return None

    def _within(self, start: Term, end: Term) -> list[Step]:
        """Steps between terms of one node: those of their operands."""
        return [
            step.under((place,))
            for place, (a, b) in enumerate(zip(start.operands, end.operands, strict=True))
            for step in self.chain(a, b)
        ]

    def _way(
        self, start: Term, end: Term, barred: set[tuple[int, bool, ENode]]
    ) -> list[tuple[tuple[int, bool, ENode], Term, Term, Term]]:
        """The fewest moves within a class to a term with the node of the end.

        A move is the number of an application, its direction and the node it starts from, with the
        term that was reached, the side that it is equal to, and the other side.
        """
        goal = self._node(end)
        queue: list[tuple[Term, list[Any]]] = [(start, [])]
        seen = {self._node(start)}
        for term, way in queue:
            node = self._node(term)
            for number, application in enumerate(self._applications(start)):
                for forward in (True, False):
                    move = (number, forward, node)
                    sides = None if move in barred else self._sides(application, term, forward)
                    if sides is None:
                        continue
                    before, after = sides
                    reached = self._node(after)
                    if reached in seen:
                        continue
                    seen.add(reached)
                    longer = [*way, (move, term, before, after)]
                    if reached == goal:
                        return longer
                    queue.append((after, longer))
        raise _NoChainError

    def _sides(
        self, application: Application, term: Term, forward: bool
    ) -> tuple[Term, Term] | None:
        """Both sides of an application, one of them like a term; None if that has another node."""
        rule = application.rule
        near, far = (rule.left, rule.right) if forward else (rule.right, rule.left)
        nodes = application.left if forward else application.right
        if nodes and nodes[()] != self._node(term):
            return None
        bound: dict[str, Any] = {
            name: value
            for name, value in application.bound.items()
            if not isinstance(value, ClassNumber)
        }
        self._bind(near, term, (), nodes, bound)
        for name, value in application.bound.items():
            if name not in bound:
                bound[name] = self._smallest(value.number)
        return instance(near, bound), instance(far, bound)

    def _bind(
        self,
        pattern: Pattern,
        term: Term | None,
        path: Path,
        nodes: Mapping[Path, ENode],
        bound: dict[str, Any],
    ) -> None:
        """Have variables stand for parts of a term, as far as that has the pattern's nodes."""
        if isinstance(pattern, Variable):
            if term is not None:
                bound.setdefault(pattern.name, term)
            return
        assert isinstance(pattern, PatternTerm)
        same = term is not None and self._node(term) == nodes[path]
        for place, inner in enumerate(pattern.operands):
            operand = term.operands[place] if same and term is not None else None
            self._bind(inner, operand, (*path, place), nodes, bound)

    def _node(self, term: Term) -> ENode:
        return ENode(term.construct, term.attributes, tuple(self._number(x) for x in term.operands))

    def _number(self, term: Term) -> int:
        if term not in self.numbers:
            self.classes.locate(term, self.numbers)
        return self.numbers[term]

    def _applications(self, term: Term) -> list[Application]:
        number = self._number(term)
        if number not in self.applications:
            self.applications[number] = [
                found
                for rule in self.saturation.rules
                for found in applications(self.classes, number, rule, self.saturation.parameters)
            ]
        return self.applications[number]

    @cached_property
    def _choice(self) -> Mapping[int, ENode]:
        return every_choice(self.classes, lambda _: 1)

    def _smallest(self, number: int) -> Term:
        """The smallest term of a class."""
        if number not in self.terms:
            node = self._choice[number]
            operands = tuple(self._smallest(x) for x in node.operands)
            self.terms[number] = Term(node.construct, node.attributes, operands)
        return self.terms[number]
