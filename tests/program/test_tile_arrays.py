"""Blocks of arrays: which elements a tile holds."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from fuseloom.program import (
    CompressedLevel,
    DenseLevel,
    Format,
    StoredTensor,
    Tensor,
)
from tests.program.blocked import ARRAY, BCSR, C, D, S

PRESENT = np.kron([[0, 1, 0], [1, 0, 1]], np.ones((2, 2))).astype(bool)


def test_levels_hold_block_coordinates() -> None:
    a = StoredTensor.from_dense(BCSR, ARRAY)
    level = a.levels[1]
    assert a.levels[0] == DenseLevel(2)
    assert isinstance(level, CompressedLevel)
    assert (level.seg.tolist(), level.crd.tolist()) == ([0, 1, 3], [1, 0, 2])
    assert a.values.tolist() == [[[1, 0], [2, 3]], [[4, 0], [0, 0]], [[0, 5], [0, 0]]]
    assert a.values.dtype == np.float32
    assert a.nnz == 12
    assert a.bytes == 4 * (3 + 3 + 12)
    np.testing.assert_array_equal(a.to_dense(), ARRAY)
    np.testing.assert_array_equal(a.pattern(), PRESENT)


def test_tiles_keep_logical_axes_in_any_mode_order() -> None:
    turned = Tensor("A", (4, 6), Format((C, C), (1, 0), 2))
    a = StoredTensor.from_dense(turned, ARRAY)
    assert a.values.tolist() == [[[4, 0], [0, 0]], [[1, 0], [2, 3]], [[0, 5], [0, 0]]]
    np.testing.assert_array_equal(a.to_dense(), ARRAY)
    dense = StoredTensor.from_dense(Tensor("A", (4, 6), Format((D, D), (1, 0), 2)), ARRAY)
    assert dense.values[1].tolist() == [[4, 0], [0, 0]]  # second block row, first block column
    np.testing.assert_array_equal(dense.to_dense(), ARRAY)


def test_elements_of_a_block_are_all_stored() -> None:
    a = StoredTensor.from_coo(BCSR, [[3, 5], [1, 2]], [7, 8])
    coords, values = a.to_coo()
    assert coords.tolist() == [[0, 2], [0, 3], [1, 2], [1, 3], [2, 4], [2, 5], [3, 4], [3, 5]]
    assert values.tolist() == [0, 0, 8, 0, 0, 0, 0, 7]
    plain = a.with_format(Format.compressed(2))
    assert plain.nnz == 8
    np.testing.assert_array_equal(plain.pattern(), a.pattern())


def test_leading_dimensions_and_chosen_ones_stay_unblocked() -> None:
    q = Tensor("Q", (3, 4, 6), Format((C, C, D), (1, 0, 2), 2))
    assert q.format.blocked == (1, 2)
    chosen = Tensor("Q", (3, 4, 6), Format((C, D, S), (1, 2, 0), 2, (2,)))
    rng = np.random.default_rng(0)
    array = rng.integers(1, 9, q.shape) * (rng.random(q.shape) < 0.2)
    stored = StoredTensor.from_dense(q, array)
    np.testing.assert_array_equal(stored.to_dense(), array)
    assert stored.values.shape[1:] == (2, 2)
    one = np.zeros((3, 4, 6))
    one[[0, 2, 1], 1, [0, 3, 4]] = 5
    vectors = StoredTensor.from_dense(chosen, one)
    assert vectors.values.tolist() == [[5, 0], [0, 5], [5, 0]]
    np.testing.assert_array_equal(vectors.to_dense(), one)


def test_every_blocked_format_reads_back() -> None:
    rng = np.random.default_rng(11)
    for _ in range(300):
        rank, block = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        blocked = tuple(rng.permutation(rank)[: rng.integers(1, 3)].tolist())
        shape = tuple(
            int(rng.integers(1, 3)) * (block if axis in blocked else 1) for axis in range(rank)
        )
        levels = [D if rng.random() < 0.5 else C for _ in shape]
        order = tuple(rng.permutation(rank).tolist())
        tensor = Tensor("A", shape, Format(tuple(levels), order, block, blocked))
        array = rng.integers(1, 9, shape) * (rng.random(shape) < 0.3)
        a = StoredTensor.from_dense(tensor, array)
        np.testing.assert_array_equal(a.to_dense(), array)
        assert a.pattern()[array != 0].all()
        assert a.pattern().sum() == a.nnz
        again = StoredTensor.from_coo(tensor, *a.to_coo())
        assert again.content_hash() == a.content_hash()
        other = a.with_mode_order(tuple(rng.permutation(rank).tolist()))
        assert other.tensor.format.blocked == tensor.format.blocked
        np.testing.assert_array_equal(other.to_dense(), array)


def test_scipy_and_from_levels() -> None:
    a = StoredTensor.from_dense(BCSR, ARRAY)
    given = StoredTensor.from_scipy(BCSR, scipy.sparse.coo_array(ARRAY))
    assert given.content_hash() == a.content_hash()
    built = StoredTensor.from_levels(BCSR, [None, ([0, 1, 3], [1, 0, 2])], a.values)
    assert built.content_hash() == a.content_hash()
    plain = StoredTensor.from_dense(Tensor("A", (4, 6), Format((D, C), (0, 1))), ARRAY)
    assert plain.content_hash() != a.content_hash()
