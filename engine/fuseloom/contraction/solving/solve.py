"""Solutions of the constraints: one, all, the least bound, and why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice, product
from math import prod
from typing import Any

from fuseloom.contraction.loopnest.generate import canonical, nest_of
from fuseloom.contraction.solution import Solution
from fuseloom.contraction.solving.encoding import ConstraintFamily, Encoded, Encoding
from fuseloom.contraction.solving.pins import Pin
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Access
from fuseloom.wording import counted

SECONDS = 20.0
"""The most seconds that Z3 may take for one answer."""
MOST_SOLUTIONS = 2_000
"""The default limit on the number of enumerated solutions."""
MOST_VECTORS = 4_096
"""The most vectors of bounds that are tried for a Pareto set."""


MOST_SEQUENCES = 120
"""The most orders of the contractions that are compared with that of a solution."""


class Satisfiability(Enum):
    """The satisfiability of a system of constraints, as far as it has been decided."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"  # no answer in time


@dataclass(frozen=True)
class Blocker:
    """A family of constraints and what it is about, needed for there to be no solution."""

    family: ConstraintFamily
    about: str

    def __str__(self) -> str:
        return f"{self.about}: {self.family.value}"


@dataclass(frozen=True)
class SolverResult:
    """The result of Z3 for a tree under bounds.

    Attributes
    ----------
    verdict : Satisfiability
    bounds : mapping
        Per intermediate, the most dimensions of its workspace.
    variables, constraints : int
        The size of the system.
    seconds : float
        For building and solving it.
    solution : Solution, optional
        The first that Z3 found, of many that may differ a thousandfold in time.
    blockers : tuple of Blocker
        Where there is none: constraints that together forbid one, none of which can be left out.
    """

    verdict: Satisfiability
    bounds: Mapping[str, int]
    variables: int
    constraints: int
    seconds: float
    solution: Solution | None = None
    blockers: tuple[Blocker, ...] = ()


class Distinct(tuple[Solution, ...]):
    """Solutions of different nests.

    Attributes
    ----------
    alike : int
        How many more there are whose nests differ from one of these in the order of independent
        parts alone.
    """

    alike: int

    def __new__(cls, solutions: Iterable[Solution], alike: int = 0) -> Distinct:
        made = super().__new__(cls, solutions)
        made.alike = alike
        return made


@dataclass(frozen=True)
class Question:
    """A tree, and what is asked of its solutions besides bounds on orders.

    Attributes
    ----------
    encoding : Encoding
    most_bytes : int, optional
        Of a workspace.
    result_layout : bool
        Whether loops must follow the levels of the result.
    pins : tuple of Pin
    seconds : float
        For each answer.
    """

    tree: ContractionTree
    encoding: Encoding = Encoding.PAPER
    most_bytes: int | None = None
    result_layout: bool = False
    pins: tuple[Pin, ...] = ()
    seconds: float = SECONDS

    def bounds(self, bound: int | Mapping[str, int]) -> dict[str, int]:
        """A bound per intermediate.

        Raises
        ------
        ProgramError
            Of a negative one, or one for what is no intermediate.
        """
        made = {a.tensor: len(a.indices) for a in self.tree.intermediates}
        given = dict.fromkeys(made, bound) if isinstance(bound, int) else dict(bound)
        unknown = [name for name in given if name not in made]
        if unknown or set(given) != set(made):
            raise ProgramError(
                f"bounds are for the intermediates {', '.join(made) or '(there are none)'}",
                hint="give one number for all, or one for each",
            )
        for name, most in given.items():
            if most < 0:
                raise ProgramError(
                    f"a workspace of {name} cannot have {counted(most, 'dimension')}",
                    hint="0 is a scalar",
                )
        return given

    def encoded(self, bound: int | Mapping[str, int]) -> Encoded:
        """The constraints under a bound."""
        return Encoded(
            self.tree,
            self.bounds(bound),
            encoding=self.encoding,
            most_bytes=self.most_bytes,
            result_layout=self.result_layout,
            pins=self.pins,
        )

    def solve(self, bound: int | Mapping[str, int]) -> SolverResult:
        """Z3's first solution under a bound, or why there is none.

        Examples
        --------
        >>> from fuseloom.contraction.shipped import shipped
        >>> question = Question(shipped("running example"))
        >>> question.solve(0).verdict, question.solve(1).verdict
        (<Satisfiability.UNSAT: 'unsat'>, <Satisfiability.SAT: 'sat'>)
        """
        began = time.perf_counter()
        encoded = self.encoded(bound)
        solver = self._solver(encoded)
        verdict = _verdict(solver)
        solution = read(encoded, solver.model()) if verdict is Satisfiability.SAT else None
        blockers: tuple[Blocker, ...] = ()
        seconds = time.perf_counter() - began
        if verdict is Satisfiability.UNSAT:
            blockers = self._blockers(encoded)
        return SolverResult(
            verdict,
            encoded.bounds,
            encoded.variables,
            len(encoded.constraints),
            seconds,
            solution,
            blockers,
        )

    def least(self) -> Iterator[SolverResult]:
        """Answers for bounds 0, 1, ... up to the first that has a solution (CoNST §3)."""
        most = max((len(a.indices) for a in self.tree.intermediates), default=0)
        for bound in range(most + 1):
            answer = self.solve(bound)
            yield answer
            if answer.verdict is not Satisfiability.UNSAT:
                return

    def all(
        self, bound: int | Mapping[str, int], most: int = MOST_SOLUTIONS
    ) -> tuple[Distinct, bool]:
        """All solutions under a bound, and whether these are all.

        Layouts follow from the loops, so solutions are told apart by the order of the contractions
        and of their loops.  Of those whose nests differ in the order of independent parts alone,
        there is one; ``alike`` of what is given back counts the others.
        """
        encoded = self.encoded(bound)
        solver = self._solver(encoded)
        loops = [encoded.loop[c.name, x] for c in self.tree.contractions for x in c.indices]
        found: list[Solution] = []
        alike = 0
        while len(found) < most:
            verdict = _verdict(solver)
            if verdict is not Satisfiability.SAT:
                return Distinct(found, alike), verdict is Satisfiability.UNSAT
            model = solver.model()
            found.append(read(encoded, model))
            others = [v != model.eval(v, model_completion=True) for v in loops]
            sequences = [found[-1].sequence, *_same_nests(found[-1])]
            alike += len(sequences) - 1
            for sequence in sequences:
                places = encoded.assignment
                apart = [places[name] != place for place, name in enumerate(sequence)]
                solver.add(encoded.z3.Or(others + apart))
        return Distinct(found, alike), _verdict(solver) is Satisfiability.UNSAT

    def pareto(self, told: Callable[[float], None] | None = None) -> tuple[dict[str, int], ...]:
        """The bounds per intermediate under which there are solutions, and less of none will do.

        Parameters
        ----------
        told : callable, optional
            Called now and then with the share of the vectors that have been tried.

        Raises
        ------
        ProgramError
            Of more vectors than are tried.
        """
        names = [a.tensor for a in self.tree.intermediates]
        ranges = [range(self._alone(a), len(a.indices) + 1) for a in self.tree.intermediates]
        count = prod(map(len, ranges))
        if count > MOST_VECTORS:
            raise ProgramError(
                f"{counted(count, 'vector')} of bounds are more than the {MOST_VECTORS:,} that "
                "are tried",
                hint="bound some intermediates by hand",
            )
        minimal: list[tuple[int, ...]] = []
        for number, vector in enumerate(sorted(product(*ranges), key=lambda v: (sum(v), v))):
            if told is not None:
                told(number / count)
            if any(all(a <= b for a, b in zip(least, vector, strict=True)) for least in minimal):
                continue
            encoded = self.encoded(dict(zip(names, vector, strict=True)))
            if _verdict(self._solver(encoded)) is Satisfiability.SAT:
                minimal.append(vector)
        return tuple(dict(zip(names, vector, strict=True)) for vector in minimal)

    def _alone(self, access: Access) -> int:
        """The least bound of one intermediate, where the others may keep all."""
        whole = {a.tensor: len(a.indices) for a in self.tree.intermediates}
        for bound in range(len(access.indices)):
            encoded = self.encoded({**whole, access.tensor: bound})
            if _verdict(self._solver(encoded)) is Satisfiability.SAT:
                return bound
        return len(access.indices)

    def _solver(self, encoded: Encoded) -> Any:
        solver = encoded.z3.Solver(ctx=encoded.context)
        solver.set("timeout", int(self.seconds * 1000))
        solver.set("random_seed", 0)
        solver.add([c.formula for c in encoded.constraints])
        return solver

    def _blockers(self, encoded: Encoded) -> tuple[Blocker, ...]:
        """Groups of constraints without any of which there were a solution."""
        groups: dict[Blocker, list[Any]] = {}
        for c in encoded.constraints:
            groups.setdefault(Blocker(c.family, c.about), []).append(c.formula)
        z3, context = encoded.z3, encoded.context
        solver = z3.Solver(ctx=context)
        solver.set("timeout", int(self.seconds * 1000))
        marks = {blocker: z3.Bool(f"group {n}", context) for n, blocker in enumerate(groups)}
        for blocker, formulas in groups.items():
            solver.add(z3.Implies(marks[blocker], z3.And(formulas)))
        if _verdict(solver, *marks.values()) is not Satisfiability.UNSAT:
            return ()
        core = {str(mark) for mark in solver.unsat_core()}
        needed = [b for b in groups if str(marks[b]) in core]
        for blocker in list(needed):
            rest = [marks[b] for b in needed if b != blocker]
            if _verdict(solver, *rest) is Satisfiability.UNSAT:
                needed.remove(blocker)
        return tuple(sorted(needed, key=lambda b: (b.about, b.family.value)))


def _verdict(solver: Any, *assumed: Any) -> Satisfiability:
    return Satisfiability(str(solver.check(*assumed)))


def _same_nests(solution: Solution) -> Iterator[tuple[str, ...]]:
    """Other orders of the contractions that give the same nest, but for independent parts."""
    wanted = canonical(nest_of(solution))
    for sequence in islice(_sequences(solution.tree), MOST_SEQUENCES):
        if sequence != solution.sequence:
            other = Solution(solution.tree, sequence, solution.loops)
            if canonical(nest_of(other)) == wanted:
                yield sequence


def _sequences(tree: ContractionTree, done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Orders of the contractions with producers before their consumers."""
    if len(done) == len(tree.contractions):
        yield done
    for c in tree.contractions:
        needed = (a.tensor for a in c.operands if a.tensor in tree.by_name)
        if c.name not in done and all(name in done for name in needed):
            yield from _sequences(tree, (*done, c.name))


def read(encoded: Encoded, model: Any) -> Solution:
    """The solution that a model of Z3 is."""

    def value(variable: Any) -> int:
        return int(model.eval(variable, model_completion=True).as_long())

    places = {name: value(place) for name, place in encoded.assignment.items()}
    loops = {}
    for c in encoded.tree.contractions:
        at = {x: value(encoded.loop[c.name, x]) for x in c.indices}
        loops[c.name] = tuple(sorted(c.indices, key=at.__getitem__))
    return Solution(encoded.tree, tuple(sorted(places, key=places.__getitem__)), loops)
