"""Level storage: building, reading back, and refusing what breaks a rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DataError
from engine.program import (
    CompressedLevel,
    DenseLevel,
    Format,
    LevelFormat,
    SingletonLevel,
    StoredTensor,
    Tensor,
    check_data,
    parse,
    resolve_view,
    view_key,
)

D, C, S = LevelFormat.DENSE, LevelFormat.COMPRESSED, LevelFormat.SINGLETON
CSR = Tensor("A", (3, 4), Format((D, C), (0, 1)))
DCSR = Tensor("A", (3, 4), Format((C, C), (0, 1)))
COO = Tensor("A", (3, 4), Format((C, S), (0, 1)))
ARRAY = np.array([[0, 5, 0, 6], [0, 0, 0, 0], [7, 0, 0, 0]], dtype=np.float64)


def compressed(stored: StoredTensor, depth: int) -> tuple[list[int], list[int]]:
    level = stored.levels[depth]
    assert isinstance(level, CompressedLevel)
    return level.seg.tolist(), level.crd.tolist()


def singleton(stored: StoredTensor, depth: int) -> list[int]:
    level = stored.levels[depth]
    assert isinstance(level, SingletonLevel)
    return level.crd.tolist()


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


def levels(seg: object, crd: object, values: object) -> Callable[[], StoredTensor]:
    return lambda: StoredTensor.from_levels(CSR, [None, (seg, crd)], values)  # type: ignore[list-item,arg-type]


def coo(seg: object, crd: object, inner: object, values: object) -> Callable[[], StoredTensor]:
    return lambda: StoredTensor.from_levels(COO, [(seg, crd), inner], values)  # type: ignore[list-item,arg-type]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: StoredTensor.from_dense(CSR, ARRAY.T), "has shape 3x4, the array 4x3"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY + np.nan), r"value nan at \[0,0\]"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY * 1e300), r"at \[0,1\] is not finite"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY.astype(str)), "not a real number"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY * 1j), "not a real number"),
        (lambda: StoredTensor.from_coo(CSR, [[0, 4]], [1]), "coordinate 4 of element 0"),
        (lambda: StoredTensor.from_coo(CSR, [[-1, 0]], [1]), "coordinate -1 of element 0"),
        (lambda: StoredTensor.from_coo(CSR, [[2, 1], [2, 1]], [1, 2]), r"\[2,1\] is given twice"),
        (lambda: StoredTensor.from_coo(CSR, [[0, 1]], [1, 2]), "coordinates of shape 2x2"),
        (lambda: StoredTensor.from_coo(CSR, [[0.5, 1]], [1]), "not integer"),
        (lambda: StoredTensor.from_scipy(CSR, scipy.sparse.eye_array(3)), "the matrix 3x3"),
        (
            levels([0, 2, 2, 3], [3, 1, 0], [1, 2, 3]),
            "level 1 .*coordinate 1 at position 1 follows 3",
        ),
        (levels([0, 2, 2, 3], [1, 1, 0], [1, 2, 3]), "coordinate 1 at position 1 is given twice"),
        (
            levels([0, 2, 2, 3], [1, 4, 0], [1, 2, 3]),
            r"coordinate 4 at position 1 is outside 0\.\.3",
        ),
        (levels([0, 2, 2, 3], [1, -3, 0], [1, 2, 3]), "coordinate -3 at position 1"),
        (levels([1, 2, 2, 3], [1, 3, 0], [1, 2, 3]), "seg starts at 1"),
        (levels([0, 2, 1, 3], [1, 3, 0], [1, 2, 3]), "seg falls from 2 to 1 at position 2"),
        (levels([0, 2, 2, 4], [1, 3, 0], [1, 2, 3]), "seg ends at 4, crd has 3"),
        (levels([0, 3], [1, 3, 0], [1, 2, 3]), "seg has shape 2, the level above has 3"),
        (levels([], [], []), "seg has shape 0"),
        (levels([0, 2, 2, 3], [[1, 3, 0]], [1, 2, 3]), "crd has one axis"),
        (levels([0, 2, 2, 3], [1, 3, 0], [1, 2]), "stores 3 positions, but 2 values"),
        (levels([0, 2, 2, 3], [1, 3, 0], [1, 2, np.inf]), "not finite"),
        (levels([0.0, 2, 2, 3], [1, 3, 0], [1, 2, 3]), "not integer"),
        (lambda: StoredTensor.from_levels(CSR, [None], []), "has 2 levels, found 1"),
        (lambda: StoredTensor.from_levels(CSR, [None, None], []), "is compressed, but the data"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY).with_mode_order((0, 0)), "not a permutation"),
        (coo([0, 2], [0, 2], [1], [1, 2]), "level 1 .*crd has shape 1, the level above has 2"),
        (coo([0, 2], [0, 2], [1, 4], [1, 2]), r"level 1 .*coordinate 4 at position 1 is outside"),
        (coo([0, 2], [0, 3], [1, 2], [1, 2]), r"level 0 .*coordinate 3 at position 1 is outside"),
        (coo([0, 2], [2, 2], [1, 1], [1, 2]), "coordinate 2,1 at position 1 is given twice"),
        (coo([0, 2], [2, 2], [1, 0], [1, 2]), "coordinate 2,0 at position 1 follows 2,1"),
        (coo([0, 2], [2, 1], [1, 2], [1, 2]), "coordinate 1,2 at position 1 follows 2,1"),
        (lambda: StoredTensor.from_levels(COO, [([0, 0], []), None], []), "is singleton, but the"),
        (
            lambda: StoredTensor.from_dense(Tensor("A", (3, 4), Format((D, S), (0, 1))), ARRAY),
            r"level 1 \(dimension 1\): position 0 of the dense level above has 2 elements",
        ),
        (
            lambda: StoredTensor.from_dense(Tensor("A", (3, 4), Format((S, C), (0, 1))), ARRAY),
            "has a singleton level outermost",
        ),
    ],
)
def test_refused(build: Callable[[], StoredTensor], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        build()
    assert "A" in str(caught.value)
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_size_is_checked_before_allocation() -> None:
    huge = 2**31 - 1
    for fmt in (Format.dense(3), Format((D, D, C), (0, 1, 2)), Format((C, D, D), (0, 1, 2))):
        with pytest.raises(DataError, match=r"takes at least .* the limit is 8,589,934,592 bytes"):
            StoredTensor.from_coo(Tensor("A", (huge, huge, huge), fmt), [[0, 0, 0]], [1])


def test_check_data_converts_and_refuses() -> None:
    program = parse("A: 3x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]")
    x = np.arange(4)
    other = StoredTensor.from_dense(Tensor("Q", (3, 4), Format.dense(2)), ARRAY)
    for a in (ARRAY, scipy.sparse.csc_array(ARRAY), other, StoredTensor.from_dense(CSR, ARRAY)):
        data = check_data(program, {"x": x, "A": a})
        assert list(data) == ["A", "x"]
        assert data["A"].tensor == program.tensor("A")
        np.testing.assert_array_equal(data["A"].to_dense(), ARRAY)
    for bad, message in [
        ({"x": x}, "input A are missing"),
        ({"x": x, "A": ARRAY, "y": x}, "'y' is computed"),
        ({"x": x, "A": ARRAY, "z": x}, "no input is called 'z'"),
        ({"x": x, "A": x}, "has shape 3x4"),
        ({"x": other, "A": ARRAY}, "its data 3x4"),
    ]:
        with pytest.raises(DataError, match=message):
            check_data(program, bad)


def test_views() -> None:
    a = StoredTensor.from_dense(CSR, ARRAY)
    assert view_key(CSR, (0, 1)) == "A"
    assert view_key(CSR, (1, 0)) == "A@1,0"
    assert resolve_view({"A": a}, "A") is a
    turned = resolve_view({"A": a}, "A@1,0")
    assert turned.tensor.format == Format((D, C), (1, 0))
    np.testing.assert_array_equal(turned.to_dense(), ARRAY)
    for key in ("B", "A@0,0", "A@x", "A@-1,0"):
        with pytest.raises(DataError):
            resolve_view({"A": a}, key)
