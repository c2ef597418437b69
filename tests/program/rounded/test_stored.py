"""Reading stored tensors, whole and in part."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program import Format, Tensor, parse
from fuseloom.program.rounded import EvaluationBudget, TooMuchError
from fuseloom.program.rounded import stored as module
from fuseloom.program.rounded.stored import from_stored, is_grid, listed_from
from fuseloom.program.rounded.tensors import Grid, Listed
from fuseloom.program.storage import StoredTensor

ARRAY = np.array([[0, 2.0, 0, 1], [0, 0, 0, 0], [5, 0, 3.0, 0]])


def stored(fmt: str) -> StoredTensor:
    tensor = parse(f"A: 3x4 {fmt}\nB[i,j] = relu(A[i,j])").tensor("A")
    return StoredTensor.from_dense(tensor, ARRAY)


@pytest.mark.parametrize("fmt", ["dense", "dense order 1,0", "csr", "csc", "coo", "dcsr"])
@pytest.mark.parametrize(
    "box", [(None, None), ([2], None), (None, [0, 3]), ([0, 2], [1, 2]), ([], None)]
)
def test_what_is_stored_inside_a_box(fmt: str, box: tuple[list[int] | None, ...]) -> None:
    chosen = tuple(None if b is None else np.array(b, dtype=np.int64) for b in box)
    elements = from_stored(stored(fmt), chosen)
    assert isinstance(elements, Grid) is fmt.startswith("dense") is is_grid(stored(fmt))
    assert isinstance(listed_from(stored(fmt), chosen), Listed)
    listed = elements.listed()
    found = {
        tuple(c): v for c, v in zip(listed.coords.T.tolist(), listed.values.tolist(), strict=False)
    }
    rows, columns = (range(n) if b is None else b for n, b in zip((3, 4), box, strict=False))
    want = {
        (i, j): ARRAY[i, j] for i in rows for j in columns if ARRAY[i, j] or fmt.startswith("dense")
    }
    assert found == want
    again = from_stored(stored(fmt)).restricted(chosen).listed()
    assert {tuple(c) for c in again.coords.T.tolist()} == set(want)


def test_transposing_a_grid_and_a_list() -> None:
    for fmt in ("dense", "csr"):
        turned = from_stored(stored(fmt)).transposed([1, 0]).listed()
        assert {(j, i) for i, j in turned.coords.T.tolist()} >= {(0, 1), (2, 2), (2, 0), (0, 3)}


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "dcsr", "csf order 1,0"])
@pytest.mark.parametrize("rows", [[0, 1, 2], [0, 2]])
def test_compressed_tensors_whose_fibers_are_equal_are_grids(fmt: str, rows: list[int]) -> None:
    array = np.zeros((3, 4))
    array[np.ix_(rows, [1, 3])] = np.arange(1.0, 1 + 2 * len(rows)).reshape(-1, 2)
    tensor = parse(f"A: 3x4 {fmt}\nB[i,j] = relu(A[i,j])").tensor("A")
    made = from_stored(StoredTensor.from_dense(tensor, array))
    empty_fibers = {"csr": rows == [0, 2], "csc": True, "coo": True}.get(fmt, False)
    assert isinstance(made, Listed) is empty_fibers
    listed = made.listed()
    spread = np.zeros((3, 4))
    spread[tuple(listed.coords)] = listed.values
    assert np.array_equal(spread, array)
    half = from_stored(StoredTensor.from_dense(tensor, array), (np.array([2]), np.array([0, 3])))
    assert half.listed().coords.T.tolist() == [[2, 3]]


def test_a_column_of_many_elements_is_picked_some_fibers_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 50)) * (rng.random((60, 50)) < 0.4)
    given = StoredTensor.from_dense(Tensor("A", (60, 50), Format.compressed(2)), dense)
    box = (None, np.array([3, 17]))
    whole = from_stored(given, box).listed()
    monkeypatch.setattr(module, "AT_A_TIME", 64)
    parts = from_stored(given, box).listed()
    assert np.array_equal(whole.coords, parts.coords)
    assert np.array_equal(whole.values, parts.values)
    with pytest.raises(TooMuchError):
        from_stored(given, None, EvaluationBudget(1000.0, 1e9))
    from_stored(given, box, EvaluationBudget(4e4, 1e9))
