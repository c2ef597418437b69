"""Samples: hubs always in, weights that meet totals, and what work may go with."""

from __future__ import annotations

import numpy as np
import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.cost.exact.samples import Sample, measures_of, outermost, traversed
from engine.program import check_data, parse


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


def test_weights_meet_the_total_of_what_is_most_like_the_work() -> None:
    rng = np.random.default_rng(2)
    degree = rng.integers(1, 30, 600).astype(float)
    hops = degree * rng.random(600) * 50
    sample = Sample.of(np.stack([degree, hops]), 40)
    for measure in (degree, hops):
        work = 7.0 * measure[sample.coords]
        weights = np.where(sample.free, sample.weights * sample.factor(work), sample.weights)
        assert weights @ work == pytest.approx(7.0 * measure.sum())
    constant = np.ones(len(sample.coords))
    weights = np.where(sample.free, sample.weights * sample.factor(constant), sample.weights)
    assert weights.sum() == pytest.approx(600)


def test_measures_follow_a_product_of_a_matrix_with_itself() -> None:
    program = parse("A: 6x6 csr\nT[i,j] = A[i,k] * A[k,j]")
    array = np.zeros((6, 6))
    array[0, [1, 2]] = array[1, [3, 4, 5]] = array[4, 0] = 1.0
    data = check_data(program, {"A": array})
    (region,) = compile_program(program, "order T: i,k,j").regions
    assert outermost(region.graph) == ("i",)
    found = {traversed(region.graph, node) for node in region.graph.nodes}
    assert found == {None, "i", "k", "j"}
    _, measures = measures_of(region.graph, "i", 6, data.get)
    assert measures[0].tolist() == [2, 3, 0, 0, 1, 0]
    # One hop on: what both traversals of A have at k.
    columns, rows = (array != 0).sum(axis=0), (array != 0).sum(axis=1)
    assert measures[1].tolist() == ((array != 0) @ (columns + rows)).tolist()


def test_a_hub_of_any_measure_is_in() -> None:
    """Not only of the one that decides how probable the others are."""
    flat, spiky = np.ones(600), np.ones(600)
    spiky[[11, 222, 433]] = 100.0
    sample = Sample.of(np.stack([spiky, flat]), 16)
    assert {11, 222, 433} <= set(sample.coords.tolist())
    assert len(Sample.of(np.stack([spiky, flat]), 4).coords) <= 6
