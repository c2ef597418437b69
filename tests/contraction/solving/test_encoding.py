"""The size of the systems: the paper's Table 2, and what the paper's own text gives."""

from __future__ import annotations

from collections import Counter

import pytest

from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.encoding import ConstraintFamily, Encoded, Encoding
from fuseloom.contraction.solving.solve import Question, Satisfiability

TABLE_2 = {
    "3-index unrestricted": (19, 38),
    "3-index restricted": (27, 57),
    "4-index": (22, 46),
    "MTTKRP": (17, 40),
    "TTMc": (19, 38),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_the_released_encoding_has_the_sizes_of_table_2(name: str) -> None:
    variables, constraints = TABLE_2[name]
    answer = Question(shipped(name), Encoding.RELEASED).solve(1)
    assert answer.verdict is Satisfiability.SAT
    assert answer.variables == variables
    assert abs(answer.constraints - constraints) <= 2


@pytest.mark.parametrize(
    ("name", "bound", "variables", "constraints"),
    [
        ("running example", 1, 29, 117),
        ("3-index unrestricted", 0, 17, 46),
        ("3-index restricted", 1, 23, 73),
        ("4-index", 0, 19, 52),
        ("MTTKRP", 0, 16, 45),
        ("TTMc", 0, 17, 46),
    ],
)
def test_the_papers_constraints(name: str, bound: int, variables: int, constraints: int) -> None:
    *before, last = Question(shipped(name)).least()
    assert [answer.verdict for answer in before] == [Satisfiability.UNSAT] * bound
    assert last.verdict is Satisfiability.SAT
    assert (last.variables, last.constraints) == (variables, constraints)


@pytest.mark.parametrize(
    ("name", "variables"),
    [("3-index unrestricted", 20), ("3-index restricted", 26), ("4-index", 23), ("MTTKRP", 18)],
)
def test_a_layout_of_the_result_has_variables_too(name: str, variables: int) -> None:
    assert Question(shipped(name), result_layout=True).solve(1).variables == variables


def test_families() -> None:
    tree = shipped("MTTKRP")
    counted = Counter(c.family for c in Encoded(tree, {"X1": 0}).constraints)
    assert counted[ConstraintFamily.PRODUCER] == 3
    assert counted[ConstraintFamily.CONSUMER] == 9
    assert ConstraintFamily.BETWEEN not in counted


@pytest.mark.deep  # takes seconds
def test_the_bound_on_bytes_is_that_of_the_workspaces() -> None:
    tree = shipped("running example")
    for most in (8, 40, 48, 280, 10_000):
        answer = Question(tree, most_bytes=most).solve(4)
        solutions, _every = Question(tree, most_bytes=most).all(4, most=300)
        assert bool(solutions) == (answer.verdict is Satisfiability.SAT)
        for solution in solutions:
            assert max(solution.workspaces.values()) * 8 <= most
    assert Question(tree, most_bytes=8).solve(4).verdict is Satisfiability.UNSAT
