"""All nests of a network in one list."""

from __future__ import annotations

import pytest

from fuseloom.contraction.occupancy import occupancies
from fuseloom.contraction.ranking import FusionScheme, ranked
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.pins import Pin
from fuseloom.contraction.solving.solve import Question, Satisfiability
from fuseloom.errors import ProgramError
from tests.contraction.drawn import data_of

TREE = shipped("running example")
HELD = occupancies(data_of(TREE, density=0.3))


def test_the_fastest_expected_is_first_and_every_nest_is_there_once() -> None:
    found = ranked(Question(TREE), HELD, most=60)
    times = [c.predicted.nanoseconds for c in found.candidates]
    assert times == sorted(times)
    assert len({str(c.nest) for c in found.candidates}) == len(found.candidates)
    assert {c.scheme for c in found.candidates} == set(FusionScheme)
    assert found.bound == 1
    assert not found.complete  # the next bound has 432
    assert [c.first for c in found.candidates].count(True) == 1


def test_one_bound_alone_and_what_is_asked() -> None:
    question = Question(TREE, pins=(Pin.parse("outermost r"),))
    found = ranked(question, HELD, bound=2)
    assert found.complete
    assert all(
        str(c.nest).startswith("forall(r,")
        for c in found.candidates
        if c.scheme is FusionScheme.FUSED
    )


def test_nothing_satisfies_what_is_asked() -> None:
    with pytest.raises(ProgramError, match=r"no fused structure has what is asked: .*X2"):
        ranked(Question(TREE), HELD, bound=0)


def test_answers_are_kept() -> None:
    found = ranked(Question(TREE), HELD, most=5)
    assert [a.verdict for a in found.answers] == [Satisfiability.UNSAT, Satisfiability.SAT]


def test_bounds_per_intermediate_are_looked_at_where_one_for_all_asks_little() -> None:
    tree = shipped("two-layer GCN")
    found = ranked(Question(tree), occupancies(data_of(tree, density=0.3)), most=4)
    orders = {
        tuple(c.solution.orders.values())
        for c in found.candidates
        if c.scheme is FusionScheme.FUSED
    }
    assert (0, 2, 0) in orders
