"""Data of given tensors, as kernels read them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fuseloom.contraction.kernels.operands import TensorData, elements_of, operand
from fuseloom.contraction.kernels.references import OperandLayout
from fuseloom.errors import DataError
from fuseloom.program import CompressedLevel, DenseLevel, Format, StoredTensor, Tensor
from tests.contraction.kernels.nests import C, D

CUBE = Tensor("A", (3, 4, 2), Format.compressed(3))
MATRIX = Tensor("A", (3, 4), Format.compressed(2))


@pytest.mark.parametrize("modes", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("kinds", [(C, C, C), (D, C, C)])
def test_levels_are_those_of_every_other_part(modes: tuple, kinds: tuple) -> None:
    rng = np.random.default_rng(1)
    array = (rng.integers(1, 9, CUBE.shape) * (rng.random(CUBE.shape) < 0.3)).astype(float)
    fmt = Format(kinds, modes)
    found = operand(elements_of(CUBE, array), OperandLayout("A", fmt))
    stored = StoredTensor.from_dense(Tensor("A", CUBE.shape, fmt), array)
    np.testing.assert_array_equal(found.values, stored.values)
    for ours, theirs in zip(found.levels, stored.levels, strict=True):
        assert type(ours) is type(theirs)
        if isinstance(ours, CompressedLevel):
            np.testing.assert_array_equal(ours.seg, theirs.seg)
            np.testing.assert_array_equal(ours.crd, theirs.crd)


def test_values_keep_all_their_digits() -> None:
    value = 0.1 + 2**-50
    assert elements_of(MATRIX, ([[0, 1]], [value])).values[0] == value
    dense = operand(
        elements_of(MATRIX, np.full((3, 4), value)), OperandLayout("A", Format.dense(2))
    )
    assert (dense.values == value).all()
    assert dense.levels == (DenseLevel(3), DenseLevel(4))


def test_entries_of_scipy_given_twice_are_added_as_there() -> None:
    matrix = scipy.sparse.coo_array(([1.0, 2, 4], ([1, 0, 1], [2, 3, 2])), shape=(3, 4))
    np.testing.assert_array_equal(elements_of(MATRIX, matrix).to_dense(), matrix.toarray())


def test_what_has_coordinates_data_and_shape_is_sparse() -> None:
    given = SimpleNamespace(
        coords=np.array([[0, 2], [3, 1]]), data=np.array([5.0, 6.0]), shape=(3, 4)
    )
    assert elements_of(MATRIX, given).coords.tolist() == [[0, 3], [2, 1]]
    with pytest.raises(DataError, match="has shape 3x4, its data 4x3"):
        elements_of(MATRIX, SimpleNamespace(**{**vars(given), "shape": (4, 3)}))


@pytest.mark.parametrize("given", [([], []), (np.zeros((0, 2), int), []), np.zeros((3, 4))])
def test_nothing_stored(given: object) -> None:
    found = elements_of(MATRIX, given)
    assert len(found.values) == 0
    levels = operand(found, OperandLayout("A", Format.compressed(2, (1, 0)))).levels
    assert [level.seg.tolist() for level in levels] == [[0, 0], [0]]


def test_a_broken_matrix_of_scipy() -> None:
    matrix = scipy.sparse.csr_array(np.eye(3, 4))
    matrix.indices[0] = 77
    with pytest.raises(DataError, match="is broken"):
        elements_of(MATRIX, matrix)


def test_a_scalar_and_sizes_beyond_one_number() -> None:
    huge = Tensor("A", (2**31 - 1,) * 4, Format.compressed(4))
    far = 2**31 - 2
    found = elements_of(huge, ([[far] * 4, [0, far, 0, 0], [0] * 4], [3.0, 2.0, 1.0]))
    assert found.values.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(DataError, match="given twice"):
        elements_of(huge, ([[far] * 4, [far] * 4], [3.0, 2.0]))


def test_a_layout_too_large_is_refused() -> None:
    huge = Tensor("A", (2**31 - 1, 2**31 - 1), Format.compressed(2))
    found = elements_of(huge, ([[0, 0]], [1.0]))
    for kinds in ((D, D), (D, C)):
        with pytest.raises(DataError, match="the limit is"):
            operand(found, OperandLayout("A", Format(kinds, (0, 1))))


KINDS = ((D, D), (D, C), (C, C), (C, D))


def matrices() -> Iterator[tuple[str, object]]:
    """The same kind of data in every form, some with zeros stored, or entries given twice."""
    rng = np.random.default_rng(5)
    dense = rng.integers(-2, 3, MATRIX.shape).astype(np.float32)
    yield "array", dense
    yield "transposed", np.asfortranarray(dense)
    yield "integers", dense.astype(np.int16)
    places = (np.array([2, 0, 2, 1, 2, 0]), np.array([3, 1, 3, 0, 0, 1]))
    coo = scipy.sparse.coo_array((np.array([1.0, 2, 4, 0, 3, -2]), places), shape=MATRIX.shape)
    for name in ("coo", "csr", "csc", "lil", "dok"):
        yield name, coo.asformat(name)
    twice = scipy.sparse.csr_array(
        (np.array([1.0, 2, 4, 3]), np.array([3, 1, 1, 0]), np.array([0, 0, 3, 4])), MATRIX.shape
    )
    yield "csr, unsorted, twice", twice
    yield "empty", scipy.sparse.csr_array(MATRIX.shape)


@pytest.mark.parametrize("name", dict(matrices()))
@pytest.mark.parametrize("modes", [(0, 1), (1, 0)])
@pytest.mark.parametrize("kinds", KINDS)
def test_data_as_they_are_make_the_operands_of_their_elements(
    name: str, modes: tuple, kinds: tuple
) -> None:
    given = dict(matrices())[name]
    layout = OperandLayout("A", Format(kinds, modes))
    found = TensorData(MATRIX, given).operand(layout)
    wanted = operand(elements_of(MATRIX, given), layout)
    np.testing.assert_array_equal(found.values, wanted.values)
    assert found.values.dtype == np.float64
    for ours, theirs in zip(found.levels, wanted.levels, strict=True):
        assert type(ours) is type(theirs)
        if isinstance(ours, CompressedLevel):
            np.testing.assert_array_equal(ours.seg, theirs.seg)
            np.testing.assert_array_equal(ours.crd, theirs.crd)
            assert ours.crd.dtype == ours.seg.dtype == np.int64
        else:
            assert ours.size == theirs.size


ONES = np.ones(MATRIX.shape)


@pytest.mark.parametrize("given", [ONES.copy(), scipy.sparse.csr_array(ONES)])
def test_what_changes_later_changes_nothing(given: Any) -> None:
    held = TensorData(MATRIX, given)
    array = given if isinstance(given, np.ndarray) else given.data
    array[...] = 7.0
    for kinds in KINDS:
        layout = OperandLayout("A", Format(kinds, (0, 1)))
        assert set(held.operand(layout).values.tolist()) == {1.0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((2, 4)), "its data 2x4"),
        (np.full(MATRIX.shape, np.nan), "not finite"),
        (np.full(MATRIX.shape, "a"), "not a real number"),
        (scipy.sparse.csr_array(np.ones((4, 3))), "its data 4x3"),
        (scipy.sparse.csc_array(np.full(MATRIX.shape, np.inf)), "not finite"),
        (scipy.sparse.csr_array(np.full(MATRIX.shape, 1j)), "not a real number"),
    ],
)
def test_bad_data_are_refused_at_once(given: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TensorData(MATRIX, given)


def test_limits_hold_for_data_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuseloom.program.levels.MAX_STORED_BYTES", 40)
    for given, kinds in ((ONES, (D, D)), (scipy.sparse.csr_array(ONES), (D, C))):
        with pytest.raises(DataError, match="the limit is 40 bytes"):
            TensorData(MATRIX, given).operand(OperandLayout("A", Format(kinds, (0, 1))))
