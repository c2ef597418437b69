"""The instances of statements, against a dense list of all coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.cost.estimate import EstimateContext
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.space.instances import StatementInstances, Table, TooManyError
from fuseloom.program import check_data, parse

TEXT = """A: 5x4 csr
B: 4x6 csc
D: 4x6 dense
M: 5x6 dcsr
P[i,j] = A[i,k] * B[k,j]
Q[i,j] = A[i,k] * D[k,j]
R[i,j] = P[i,j] * M[i,j]
Y[i,j] = R[i,j] + Q[i,j]"""


@pytest.fixture
def instances() -> tuple[StatementInstances, dict[str, np.ndarray]]:
    program, rng = parse(TEXT), np.random.default_rng(3)
    data = {n: (rng.random(program.tensor(n).shape) < 0.4) * 1.0 for n in program.inputs}
    data["D"] = np.ones((4, 6))
    stored = check_data(program, data)
    context = EstimateContext(program, stored)
    from fuseloom.dataflow.method import Dataflow
    from fuseloom.results.method import Budget

    Dataflow(program, stored).lower_bounds(Budget())
    found = StatementInstances(program, EstimateContext.shared(program, stored))
    assert context.program == program
    return found, {name: array != 0 for name, array in data.items()}


def test_products_are_counted_and_listed(
    instances: tuple[StatementInstances, dict[str, np.ndarray]],
) -> None:
    found, there = instances
    of = {s.out.tensor: s for s in found.program.live}
    products = np.einsum("ik,kj->ikj", there["A"], there["B"])
    assert found.count(of["P"]) == found.of(of["P"]).rows == products.sum()
    assert found.count(of["Q"]) == there["A"].sum() * 6
    result = products.any(axis=1)
    assert found.count(of["R"]) == (result & there["M"]).sum()
    assert found.count(of["Y"]) == found.elements("Y")


def test_what_a_statement_takes_of_an_operand(
    instances: tuple[StatementInstances, dict[str, np.ndarray]],
) -> None:
    found, there = instances
    of = {s.out.tensor: s for s in found.program.live}
    taken = found.taken(of["R"], found.of(of["R"]), "P")
    result = np.einsum("ik,kj->ij", there["A"] * 1, there["B"] * 1) > 0
    assert taken.rows == (result & there["M"]).sum()
    assert not found.needs_all(of["R"], "P")
    assert found.needs_all(of["Y"], "Q")


def test_tables_join_like_relations() -> None:
    left = Table({"i": np.array([0, 1, 1]), "k": np.array([0, 0, 1])}, {"i": 2, "k": 2}, 3)
    right = Table({"k": np.array([0, 0]), "j": np.array([1, 2])}, {"k": 2, "j": 3}, 2)
    joined = left.joined(right)
    rows = sorted(zip(*(joined.columns[x].tolist() for x in "ikj"), strict=True))
    assert rows == [(0, 0, 1), (0, 0, 2), (1, 0, 1), (1, 0, 2)]
    assert joined.over(["i"]).rows == 2
    assert left.within(right.over(["k"])).rows == 2
    assert left.over([]).rows == 1
    with pytest.raises(TooManyError) as many:
        left.joined(right, most=3)
    assert many.value.rows == 4
    with pytest.raises(TooManyError):
        left.joined(Table({"k": np.array([0])}, {"k": 3}, 1))


def test_what_is_too_many_is_counted_where_no_further_factor_has_less() -> None:
    text = """A: 1200x30 csr
B: 30x1200 csr
C: 1200x4 csr
T[i,j] = A[i,k] * B[k,j]
Y[i,l] = T[i,j] * C[j,l]"""
    program = parse(text)
    data = {"A": np.ones((1200, 30)), "B": np.ones((30, 1200)), "C": np.zeros((1200, 4))}
    data["C"][3, 2] = 1.0
    for schedule, output, count in [("", "T", 1200 * 30 * 1200), ("global", "Y", 0)]:
        made, _ = prepare(program, Schedule.parse(schedule))
        instances = StatementInstances(made, EstimateContext.shared(made, check_data(made, data)))
        (statement,) = (s for s in made.live if s.out.tensor == output)
        assert len(statement.operands) == (3 if schedule else 2)
        with pytest.raises(TooManyError) as caught:
            instances._fires(statement)
        assert caught.value.rows == instances.count(statement) == count
