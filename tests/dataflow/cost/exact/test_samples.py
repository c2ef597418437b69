"""Samples: hubs always in, weights that meet totals, and what work may go with."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.exact.samples import (
    Sample,
    measures_of,
    outermost,
    traversals_of,
    traversed,
)
from fuseloom.program import check_data, parse


def test_all_where_there_are_few() -> None:
    sample = Sample.of(np.ones((1, 5)), 8)
    assert sample.coords.tolist() == list(range(5))
    assert sample.weights.tolist() == [1.0] * 5


def test_hubs_are_in_with_weight_one_and_the_others_stand_for_the_rest() -> None:
    work = np.ones(1000)
    work[[3, 500]] = 1e6
    sample = Sample.of(work[None], 50)
    assert {3, 500} <= set(sample.coords.tolist())
    assert sample.weights[np.isin(sample.coords, [3, 500])].tolist() == [1.0, 1.0]
    assert 40 <= len(sample.coords) <= 60
    assert sample.weights.sum() == pytest.approx(1000, rel=0.05)
    assert (np.diff(sample.coords) > 0).all()


def test_the_same_sample_every_time() -> None:
    work = np.random.default_rng(1).random((2, 400)) * 100
    assert Sample.of(work, 32).key == Sample.of(work, 32).key


def test_weights_meet_the_totals_of_all_measures_and_of_what_is_made_of_them() -> None:
    rng = np.random.default_rng(2)
    degree = rng.integers(0, 5, 600).astype(float)
    hops = degree * rng.random(600) * 50
    there = np.minimum(degree, 1.0)
    sample = Sample.of(np.stack([hops, degree, there]), 40)
    for measure in (degree, hops, there, np.ones(600), degree + there + 0.1 * hops):
        assert sample.weights @ measure[sample.coords] == pytest.approx(measure.sum())
    assert sample.weights.min() > 0


@pytest.mark.parametrize("size", [4, 8])
def test_a_few_coordinates_meet_what_work_goes_with(size: int) -> None:
    """Rather than how many there are, where they cannot meet both."""
    rows = np.where(np.arange(1024) < 32, 1024.0, 110.0)  # as a mask with some full rows has it
    sample = Sample.of(np.stack([rows**2, rows, np.ones(1024)]), size)
    assert sample.weights @ rows[sample.coords] == pytest.approx(rows.sum())


def test_what_has_nothing_is_sampled_too() -> None:
    """Else nothing would tell how many coordinates have no work."""
    work = np.where(np.arange(600) % 3 > 0, 1e6, 0.0)
    sample = Sample.of(np.stack([work, np.minimum(work, 1.0)]), 40)
    empty = work[sample.coords] == 0
    assert empty.sum() >= 3
    assert sample.weights[empty].sum() == pytest.approx(200)


def test_measures_follow_a_product_of_a_matrix_with_itself() -> None:
    program = parse("A: 6x6 csr\nT[i,j] = A[i,k] * A[k,j]")
    array = np.zeros((6, 6))
    array[0, [1, 2]] = array[1, [3, 4, 5]] = array[4, 0] = 1.0
    data = check_data(program, {"A": array})
    (region,) = compile_program(program, "order T: i,k,j").regions
    assert outermost(region.graph) == ("i",)
    found = {traversed(region.graph, node) for node in region.graph.nodes}
    assert found == {None, "i", "k", "j"}
    measures = measures_of(traversals_of(region.graph), "i", 6, data.get)
    there = array != 0
    columns, rows = there.sum(axis=0), there.sum(axis=1)
    found = measures.tolist()
    assert [2, 3, 0, 0, 1, 0] in found
    # One hop on: what both traversals of A have at k, and what the second one has there.
    assert (there @ (columns + rows)).tolist() in found
    assert (there @ rows).tolist() == found[1]
    assert (rows > 0).tolist() in found


def test_a_hub_of_any_measure_is_in() -> None:
    """Not only of the one that decides how probable the others are."""
    flat, spiky = np.ones(600), np.ones(600)
    spiky[[11, 222, 433]] = 100.0
    sample = Sample.of(np.stack([spiky, flat]), 16)
    assert {11, 222, 433} <= set(sample.coords.tolist())
    assert len(Sample.of(np.stack([spiky, flat]), 4).coords) <= 6
