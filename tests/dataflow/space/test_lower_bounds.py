"""Floors of regions: below every run, and as high as they can be where that is told by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.certificates import best_of, space
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.space.lower_bounds import RecomputationBound
from fuseloom.models import load
from fuseloom.program import parse
from fuseloom.results.method import Budget

SEED = 7_000
"""Of the random spaces; ``python -m benchmarks.certificates`` takes hundreds of others."""

CHAIN = """A: 4x4 csr
B: 4x4 dense
T[i,j] = A[i,k] * B[k,j]
Y[i,l] = A[i,j] * T[j,l]"""


def chain() -> Dataflow:
    data = {"A": np.eye(4) + np.eye(4, k=1), "B": np.ones((4, 4))}
    return Dataflow(parse(CHAIN), data)


def test_a_written_tensor_takes_all_its_products() -> None:
    lower_bounds = chain().lower_bounds(Budget())
    assert lower_bounds[0, 1] == 7 * 4  # elements of A, each with a row of B
    assert lower_bounds[1, 2] == 28 + 0 * 4
    assert lower_bounds[0, 2] == 28


def test_lanes_share_the_products_but_not_the_writer() -> None:
    lower_bounds = chain().lower_bounds(Budget(lanes=4))
    assert lower_bounds[0, 1] == 16  # 28 products in four lanes, 16 elements written in turn


def test_what_lies_inside_another_index_is_computed_again() -> None:
    """A row j of T is needed for each i with A[i,j]: once, and twice but for the first."""
    method = chain()
    method.lower_bounds(Budget())
    region = method._candidates.region(method.statements)
    again = RecomputationBound(region, method._instances)
    rows, uses = np.array([8, 8, 8, 4]), np.array([1, 2, 2, 2])
    assert again.lower_bound() == (rows * uses).sum()
    assert again.lower_bound(enough=30) >= 30
    assert method.lower_bound((0, 1), Budget()) == again.lower_bound()


def test_what_a_mask_leaves_out_is_not_claimed() -> None:
    text = (
        "A: 3x3 csr\nB: 3x3 dense\nM: 3x3 csr\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = T[i,j] * M[i,j]"
    )
    mask = np.zeros((3, 3))
    mask[0, 0] = 1.0
    method = Dataflow(parse(text), {"A": np.ones((3, 3)), "B": np.ones((3, 3)), "M": mask})
    lower_bounds = method.lower_bounds(Budget())
    assert lower_bounds[0, 1] == 27
    assert lower_bounds[0, 2] == 3  # one element of T, a sum of three


def test_the_floor_of_a_gcn_says_something() -> None:
    model, data = load("gcn", "karate")
    method = Dataflow(model.program, data)
    lower_bounds = method.lower_bounds(Budget())
    position = {name: k for k, name in enumerate(method.units)}
    assert lower_bounds[position["T1"], position["H"] + 1] > 9_000  # the run takes 11,082 cycles
    assert method.lower_bound(tuple(range(position["T1"], position["T5"] + 1)), Budget()) > 30_000


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_floors_are_below_every_run(seed: int) -> None:
    print("seed", seed)
    given = space(seed)
    best_of(given, given.method())
