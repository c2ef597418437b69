"""Levels: coordinates of scanners, singletons, runs inside other levels."""

from __future__ import annotations

import numpy as np

from fuseloom.program import (
    CompressedLevel,
    DenseLevel,
    Format,
    SingletonLevel,
    StoredTensor,
    Tensor,
)
from tests.program.matrices import ARRAY, COO, DCSR, C, D, S, compressed


def singleton(stored: StoredTensor, depth: int) -> list[int]:
    level = stored.levels[depth]
    assert isinstance(level, SingletonLevel)
    return level.crd.tolist()


def test_coo_keeps_a_row_per_element() -> None:
    a = StoredTensor.from_dense(COO, ARRAY)
    assert compressed(a, 0) == ([0, 3], [0, 0, 2])
    assert singleton(a, 1) == [1, 3, 0]
    assert a.values.tolist() == [5, 6, 7]
    assert a.bytes == 4 * (2 + 3 + 3 + 3)
    np.testing.assert_array_equal(a.to_dense(), ARRAY)
    turned = a.with_mode_order((1, 0))
    assert (compressed(turned, 0), singleton(turned, 1)) == (([0, 3], [0, 1, 3]), [2, 0, 0])
    assert a.content_hash() != turned.content_hash()


def test_scanners_see_unique_coordinates() -> None:
    a = StoredTensor.from_dense(COO, ARRAY)
    b = StoredTensor.from_dense(DCSR, ARRAY)
    for depth in range(2):
        ours, theirs = a.scanned[depth], b.levels[depth]
        assert isinstance(ours, CompressedLevel)
        assert isinstance(theirs, CompressedLevel)
        assert ours.seg.tolist() == theirs.seg.tolist()
        assert ours.crd.tolist() == theirs.crd.tolist()
    assert a.scanned is a.scanned  # grouped once


def test_singleton_under_dense_keeps_one_element_per_row() -> None:
    tensor = Tensor("A", (3, 4), Format((D, S), (0, 1)))
    a = StoredTensor.from_coo(tensor, [[2, 0], [0, 3], [1, 3]], [7, 0, 6])
    assert singleton(a, 1) == [3, 3, 0]
    assert a.pattern().sum(axis=1).tolist() == [1, 1, 1]
    assert a.bytes == 4 * (3 + 3)


def test_runs_inside_other_levels() -> None:
    """Two runs and a dense level between them, from levels and from coordinates."""
    shape = (2, 3, 2, 3)
    tensor = Tensor("A", shape, Format((C, S, D, S), (0, 1, 2, 3)))
    parts = [([0, 3], [0, 0, 1]), [0, 2, 1], None, [2, 0, 1, 1, 0, 2]]
    a = StoredTensor.from_levels(tensor, parts, [1, 2, 3, 4, 5, 6])
    coords, values = a.to_coo()
    assert coords.tolist()[:3] == [[0, 0, 0, 2], [0, 0, 1, 0], [0, 2, 0, 1]]
    again = StoredTensor.from_coo(tensor, coords[::-1], values[::-1])
    assert again.content_hash() == a.content_hash()
    kinds = [type(level) for level in a.scanned]
    assert kinds == [CompressedLevel, CompressedLevel, DenseLevel, CompressedLevel]
