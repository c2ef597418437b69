"""Arrays beside a graph: none where a node reads nothing, and the machine's types."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.bound import BoundGraph, canonical
from tests.dataflow.sim.doubling import doubled


def test_nodes_that_read_nothing_have_no_arrays() -> None:
    arrays = {"vals": np.zeros(1, np.float32)}
    bound = BoundGraph(doubled(), {3: arrays})
    assert bound.of(3) is arrays
    assert bound.of(0) == {}


def test_arrays_become_contiguous_and_typed_as_the_machine_has_them() -> None:
    given = {
        "crd": np.arange(10, dtype=np.int32)[::2],
        "seg": np.array([0, 5], dtype=np.uint8),
        "times": np.array([1.0, 2.0]),
        "vals": np.array([0.5, 1.5]),
        "other": np.array([True, False]),
    }
    made = canonical(given)
    kinds = {name: array.dtype for name, array in made.items()}
    assert kinds == {
        "crd": np.int64, "seg": np.int64, "times": np.int64, "vals": np.float32, "other": bool,
    }  # fmt: skip
    assert all(array.flags.c_contiguous for array in made.values())
    assert made["crd"].tolist() == [0, 2, 4, 6, 8]
    assert canonical(made)["crd"] is made["crd"]  # nothing is copied twice
