"""Level storage: building, reading back, and refusing what breaks a rule."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from fuseloom.errors import DataError
from fuseloom.program import (
    DenseLevel,
    Format,
    StoredTensor,
    Tensor,
)
from tests.program.matrices import ARRAY, CSR, DCSR, C, D, S, compressed


def test_csr_keeps_an_empty_row() -> None:
    a = StoredTensor.from_dense(CSR, ARRAY)
    assert a.levels[0] == DenseLevel(3)
    assert compressed(a, 1) == ([0, 2, 2, 3], [1, 3, 0])
    assert a.values.tolist() == [5, 6, 7]
    assert a.values.dtype == np.float32
    assert a.nnz == 3
    assert a.bytes == 4 * (4 + 3 + 3)


def test_dcsr_drops_an_empty_row() -> None:
    a = StoredTensor.from_dense(DCSR, ARRAY)
    assert compressed(a, 0) == ([0, 2], [0, 2])
    assert compressed(a, 1) == ([0, 2, 3], [1, 3, 0])


def test_csc_is_stored_by_columns() -> None:
    a = StoredTensor.from_dense(Tensor("A", (3, 4), Format((D, C), (1, 0))), ARRAY)
    assert compressed(a, 1) == ([0, 1, 2, 2, 3], [2, 0, 0])
    assert a.values.tolist() == [7, 5, 6]
    np.testing.assert_array_equal(a.to_dense(), ARRAY)


def test_dense_innermost_level_stores_zeros() -> None:
    a = StoredTensor.from_dense(Tensor("A", (3, 4), Format((C, D), (0, 1))), ARRAY)
    assert compressed(a, 0) == ([0, 2], [0, 2])
    assert a.values.tolist() == [0, 5, 0, 6, 7, 0, 0, 0]
    assert a.pattern().tolist() == [[True] * 4, [False] * 4, [True] * 4]


def test_scalar() -> None:
    s = StoredTensor.from_dense(Tensor("s", (), Format((), ())), 2.5)
    assert (s.levels, s.values.tolist(), s.nnz, s.bytes) == ((), [2.5], 1, 4)
    assert s.to_dense() == 2.5
    assert s.pattern()


def test_empty_tensor() -> None:
    a = StoredTensor.from_dense(DCSR, np.zeros((3, 4)))
    assert compressed(a, 0) == ([0, 0], [])
    assert a.nnz == 0
    assert not a.pattern().any()
    assert a.with_mode_order((1, 0)).nnz == 0


def test_keep_zeros() -> None:
    a = StoredTensor.from_dense(DCSR, ARRAY, keep_zeros=True)
    assert a.nnz == 12
    assert a.pattern().all()


def test_coordinates_may_come_in_any_order() -> None:
    a = StoredTensor.from_coo(CSR, [[2, 0], [0, 3], [0, 1]], [7, 6, 5])
    np.testing.assert_array_equal(a.to_dense(), ARRAY)


def test_large_coordinates_sort_without_overflow() -> None:
    size = 2**31 - 1
    t = Tensor("A", (size, size, size), Format.compressed(3))
    points = [[size - 1, 0, size - 1], [0, size - 1, 0], [0, 0, 5]]
    a = StoredTensor.from_coo(t, points, [3, 2, 1])
    assert a.to_coo()[0].tolist() == points[::-1]


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    levels = [draw(st.sampled_from([D, C])) for _ in shape]
    for at in range(1, len(levels)):  # singletons where any data fit: in a run under compressed
        if levels[at - 1] in (C, S) and draw(st.booleans()):
            levels[at] = S
    return Tensor(
        "A", shape, Format(tuple(levels), tuple(draw(st.permutations(range(len(shape))))))
    )


@st.composite
def any_tensors(draw: st.DrawFn) -> Tensor:
    """Tensors of any levels and blocks, also those that data may not fit."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
    levels = tuple(draw(st.sampled_from([D, C, S])) for _ in shape)
    order = tuple(draw(st.permutations(range(len(shape)))))
    return Tensor("A", shape, Format(levels, order, draw(st.sampled_from([1, 2]))))


@settings(max_examples=400, derandomize=True, deadline=None)
@given(any_tensors(), st.integers(0, 2**32), st.booleans())
def test_what_is_stored_keeps_every_rule(tensor: Tensor, seed: int, keep_zeros: bool) -> None:
    """Levels that are built are not checked again, so this holds for whatever they are built of."""
    rng = np.random.default_rng(seed)
    array = rng.integers(1, 9, tensor.shape) * (rng.random(tensor.shape) < 0.4)
    for made in (
        lambda: StoredTensor.from_dense(tensor, array, keep_zeros),
        lambda: StoredTensor.from_coo(tensor, np.argwhere(array), array[array != 0]),
    ):
        try:
            stored = made()
        except DataError:
            continue  # data that the format cannot hold
        stored.verify()


@settings(max_examples=200, derandomize=True, deadline=None)
@given(tensors(), st.integers(0, 2**32))
def test_every_format_reads_back(tensor: Tensor, seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = rng.integers(1, 9, tensor.shape) * (rng.random(tensor.shape) < 0.4)
    a = StoredTensor.from_dense(tensor, array)
    np.testing.assert_array_equal(a.to_dense(), array)
    assert a.pattern()[array != 0].all()
    assert a.pattern().sum() == a.nnz
    coords, values = a.to_coo()
    again = StoredTensor.from_coo(tensor, coords, values)
    assert again.content_hash() == a.content_hash()
    order = tuple(rng.permutation(tensor.rank).tolist())
    other = a.with_mode_order(order)
    assert other.tensor.format == Format(tensor.format.levels, order)
    np.testing.assert_array_equal(other.to_dense(), array)


def test_scipy_duplicates_are_added() -> None:
    coo = scipy.sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 2], [1, 1, 0])), shape=(3, 4))
    a = StoredTensor.from_scipy(CSR, coo)
    assert a.values.tolist() == [3, 3]
    for convert in (coo.tocsr, coo.tocsc, coo.tolil):
        assert StoredTensor.from_scipy(CSR, convert()).content_hash() == a.content_hash()


def test_content_hash_ignores_the_name_only() -> None:
    a = StoredTensor.from_dense(CSR, ARRAY)
    renamed = Tensor("B", CSR.shape, CSR.format)
    assert StoredTensor.from_dense(renamed, ARRAY).content_hash() == a.content_hash()
    assert StoredTensor.from_dense(DCSR, ARRAY).content_hash() != a.content_hash()
    assert StoredTensor.from_dense(CSR, ARRAY * 2).content_hash() != a.content_hash()


def test_size_is_checked_before_allocation() -> None:
    huge = 2**31 - 1
    for fmt in (Format.dense(3), Format((D, D, C), (0, 1, 2)), Format((C, D, D), (0, 1, 2))):
        with pytest.raises(DataError, match=r"takes at least .* the limit is 8,589,934,592 bytes"):
            StoredTensor.from_coo(Tensor("A", (huge, huge, huge), fmt), [[0, 0, 0]], [1])
