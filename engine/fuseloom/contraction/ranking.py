"""All loop nests of a network as one space: fused, unfused and n-ary, by their expected time.

The solver's first solution is arbitrary: others of the same bound take a thousandth of its time
(``docs/networks.md`` § What it gains).  So all are enumerated and estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import prod

from fuseloom.contraction.cost import NestWork, Weights, work
from fuseloom.contraction.loopnest.generate import nary, nest_of, unfused
from fuseloom.contraction.loopnest.ir import Nest
from fuseloom.contraction.occupancy import Occupancy
from fuseloom.contraction.solution import Solution
from fuseloom.contraction.solving.solve import Question, Satisfiability, SolverResult
from fuseloom.errors import ProgramError
from fuseloom.program import LevelFormat
from fuseloom.wording import counted, described

MOST = 600
"""The most solutions that are examined, of the least feasible bound and of the next."""
MOST_VECTORS = 100
"""Of how many vectors of bounds those are sought that cannot be lowered."""


class FusionScheme(Enum):
    """A scheme for combining a network's contractions."""

    FUSED = "fused"  # loops shared as far as a solution says
    UNFUSED = "unfused"  # a nest for each contraction, one after the other
    NARY = "n-ary"  # all in one product


@dataclass(frozen=True)
class Candidate:
    """One loop nest of a network.

    Attributes
    ----------
    scheme : FusionScheme
    solution : Solution
        Whose loops it has.
    nest : Nest
    predicted : NestWork
    first : bool
        Whether the solver found it first.
    """

    scheme: FusionScheme
    solution: Solution
    nest: Nest
    predicted: NestWork
    first: bool = False

    def __repr__(self) -> str:
        return described(
            self, f"{self.scheme.value}: {self.predicted.nanoseconds:,.0f} ns expected"
        )


@dataclass(frozen=True)
class RankedCandidates:
    """The candidates of a network, the fastest expected first.

    Attributes
    ----------
    answers : tuple of SolverResult
        Of the solver, per bound.
    candidates : tuple of Candidate
    complete : bool
        Whether these are all of the bounds looked at.
    alike : int
        Solutions besides, whose nests differ from a candidate's in the order of independent parts.
    """

    answers: tuple[SolverResult, ...]
    candidates: tuple[Candidate, ...]
    complete: bool
    alike: int = 0

    def __repr__(self) -> str:
        return described(
            self,
            f"{counted(len(self.candidates), 'candidate')}, {counted(self.alike, 'more solution')}",
        )

    @cached_property
    def bound(self) -> int:
        """The least number of dimensions that suffices for every intermediate."""
        found = next(a for a in self.answers if a.verdict is Satisfiability.SAT)
        return max(found.bounds.values(), default=0)


def ranked(
    question: Question,
    held: Mapping[str, Occupancy],
    *,
    bound: int | None = None,
    most: int = MOST,
    levels: Mapping[str, tuple[LevelFormat, ...]] | None = None,
    weights: Weights | None = None,
) -> RankedCandidates:
    """Every distinct nest under the least bound that has a solution and the next, estimated.

    Of a small tree, also those under the bounds per intermediate that cannot be lowered.

    Parameters
    ----------
    held : mapping
        Occupancy of every given tensor (:func:`fuseloom.contraction.occupancy.occupancies`).
    bound : int, optional
        Look at this bound alone.
    most : int
        Solutions per bound.
    levels : mapping, optional
        Per given tensor the levels that kernels read, outermost first; by default those that suit
        what it holds (:func:`fuseloom.contraction.occupancy.suitable_levels`).

    Raises
    ------
    ProgramError
        If no structure satisfies what is asked, naming what forbids it.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.contraction.occupancy import occupancies
    >>> from fuseloom.contraction.shipped import shipped
    >>> tree = shipped("MTTKRP")
    >>> shapes = {a.tensor: [tree.extents[x] for x in a.indices] for a in tree.inputs}
    >>> found = ranked(Question(tree), occupancies({k: np.ones(n) for k, n in shapes.items()}))
    >>> found.bound, found.complete, len({c.scheme for c in found.candidates})
    (0, True, 3)
    """
    answers = tuple(question.least()) if bound is None else (question.solve(bound),)
    last = answers[-1]
    if last.verdict is not Satisfiability.SAT:
        raise _none(last)
    least = max(last.bounds.values(), default=0)
    bounds: list[int | Mapping[str, int]] = [least]
    if bound is None:
        bounds += [least + 1, *_uneven(question, least)]
    tree = question.tree
    found: dict[str, Candidate] = {}
    complete, alike = True, 0

    def add(scheme: FusionScheme, solution: Solution, nest: Nest, first: bool = False) -> None:
        text = str(nest)
        if text not in found:
            predicted = work(nest, tree, held, weights, levels)
            found[text] = Candidate(scheme, solution, nest, predicted, first)

    assert last.solution is not None
    add(FusionScheme.FUSED, last.solution, nest_of(last.solution), first=True)
    for each in bounds:
        solutions, every = question.all(each, most)
        complete, alike = complete and every, alike + solutions.alike
        for solution in solutions:
            add(FusionScheme.FUSED, solution, nest_of(solution))
            add(FusionScheme.NARY, solution, nary(solution))
            if len(tree.contractions) > 1:
                add(FusionScheme.UNFUSED, solution, unfused(solution))
    order = sorted(found.values(), key=lambda c: c.predicted.nanoseconds)
    return RankedCandidates(answers, tuple(order), complete, alike)


def fastest_first(
    candidates: Sequence[Candidate], seconds: Mapping[int, float | None]
) -> list[int]:
    """Numbers of candidates: by their time those that were run, then the others as expected.

    Parameters
    ----------
    seconds : mapping
        What those took that were run; None of those that were not right, which come last.
    """

    def key(number: int) -> tuple[int, float]:
        if number not in seconds:
            return 1, candidates[number].predicted.nanoseconds
        taken = seconds[number]
        return (2, 0.0) if taken is None else (0, taken)

    return sorted(range(len(candidates)), key=key)


def _uneven(question: Question, least: int) -> Iterator[Mapping[str, int]]:
    """Bounds per intermediate that cannot be lowered, where one bound for all asks for little."""
    ranks = [len(a.indices) for a in question.tree.intermediates]
    if least and prod(rank + 1 for rank in ranks) <= MOST_VECTORS:
        for vector in question.pareto():
            if max(vector.values()) >= least and min(vector.values()) < least:
                yield vector


def _none(answer: SolverResult) -> ProgramError:
    if answer.verdict is Satisfiability.UNKNOWN:
        return ProgramError(
            "the solver gave no answer in time", hint="allow more time, or a larger bound"
        )
    named = "; ".join(str(b) for b in answer.blockers[:4])
    return ProgramError(
        f"no fused structure has what is asked: {named}",
        hint="allow the intermediates more dimensions, or ask for less",
    )
