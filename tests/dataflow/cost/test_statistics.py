"""Statistics that are not averaged away."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from fuseloom.dataflow.cost.exact.patterns import FullLevel
from fuseloom.dataflow.cost.statistics import ExpectedStatistics, MeasuredStatistics
from fuseloom.program import check_data, parse
from tests.dataflow.cost.products import PRODUCT, both, compiled, near

STAR = nx.to_numpy_array(nx.star_graph(40))


def test_a_hub_is_not_averaged_away() -> None:
    """In A·A the hub's row is entered once per neighbour: the average degree says far less."""
    expected, run = both(compiled(PRODUCT.replace("X: {0}x{0} {1}\n", "").replace("X[", "A[")
                                  .format(41, "dcsr")), {"A": STAR})  # fmt: skip
    assert expected.cycles == near(run.cycles, 0.10)
    assert expected.flops == near(run.work.flops, 0.05)
    nnz = STAR.sum()
    by_average_degree = 2 * nnz * nnz / 41
    assert run.work.flops > 10 * by_average_degree


def test_a_chain_of_products_on_a_hub() -> None:
    """The second product's rows are expected ones, and their correlation with A is lost."""
    text = "A: 41x41 dcsr\nT[i,j] = A[i,k] * A[k,j]\nU[i,j] = T[i,k] * A[k,j]"
    for schedule in ("", "fuse T..U"):
        expected, run = both(compiled(text, schedule), {"A": STAR})
        assert expected.cycles == near(run.cycles, 0.15)
        assert expected.flops == near(run.work.flops, 0.30)


@pytest.mark.parametrize("form", ["csr", "dcsr"])
def test_empty_tensors(form: str) -> None:
    """Only stops and done tokens flow, and nothing is divided by nothing."""
    text = PRODUCT.format(4, form) + "\nU[i,j] = relu(T[i,j])"
    data = {"A": np.zeros((4, 4)), "X": np.zeros((4, 4))}
    for schedule in ("", "fuse T..U"):
        expected, run = both(compiled(text, schedule), data)
        assert expected.flops == run.work.flops == 0
        assert expected.cycles == near(run.cycles, 0.10)
        assert np.isfinite(expected.bytes)


def test_one_empty_operand() -> None:
    data = {"A": np.eye(4), "X": np.zeros((4, 4))}
    expected, run = both(compiled(PRODUCT.format(4, "csr")), data)
    assert expected.flops == run.work.flops == 0
    assert expected.cycles == near(run.cycles, 0.15)


def test_a_permuted_tensor_keeps_its_elements() -> None:
    expected = ExpectedStatistics((np.full(10, 1.0), np.full(10, 5.0)))
    turned = expected.permuted([1, 0])
    assert turned.total == pytest.approx(50.0)
    assert turned.counts[0] == pytest.approx(1.0, abs=0.01)
    assert turned.counts[1] == pytest.approx(5.0)
    assert expected.permuted([1, 0]).permuted([1, 0]).total == pytest.approx(50.0)


def test_a_sparse_tensor_has_fewer_coordinates_outside_than_elements() -> None:
    """Of 30 elements in 100 x 100 places, nearly each begins a fiber of its own."""
    turned = ExpectedStatistics((np.full(100, 0.26), np.full(100, 0.3))).permuted([1, 0])
    assert turned.total == pytest.approx(30.0)
    assert 20 < turned.counts[0].sum() < 30


def test_what_has_every_coordinate_is_counted_without_being_listed() -> None:
    """Full levels below a listed one: counts are those of the tensor itself, and so are fibers."""
    kept = np.array([1, 2, 5])
    levels = ((np.array([0, 3]), kept), FullLevel(3, 4))
    counted = ExpectedStatistics.counted(levels, (7, 4))
    dense = np.zeros((7, 4))
    dense[kept] = 1
    measured = MeasuredStatistics(
        check_data(parse("A: 7x4 dcsr\ny[i,j] = relu(A[i,j])"), {"A": dense})["A"]
    )
    rows = [each.enter(0, np.ones(1)) for each in (counted, measured)]
    assert np.array_equal(rows[0].counts, rows[1].counts)
    for each, row in zip((counted, measured), rows, strict=True):
        assert np.array_equal(each.enter(1, row.weights).counts, np.full(4, 3.0))
    assert counted.total == 12
