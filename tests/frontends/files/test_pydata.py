"""Archives of PyData sparse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import read_tensor
from tests.frontends.files import dense

SHAPE = (3, 4, 5)
RNG = np.random.default_rng(6)
CUBE = np.round(RNG.normal(size=SHAPE), 2) * (RNG.random(SHAPE) < 0.3)


def coo(array: Any, **others: Any) -> dict[str, Any]:
    places = np.nonzero(array)
    parts = {
        "data": array[places],
        "coords": np.stack(places),
        "shape": np.array(array.shape),
        "fill_value": np.float64(0),
    }
    return {**parts, **others}


def grouped(array: Any, rows: tuple[int, ...], **others: Any) -> dict[str, Any]:
    """The parts of GCXS."""
    order = (*rows, *(a for a in range(array.ndim) if a not in rows))
    height = int(np.prod([array.shape[a] for a in rows]))
    flat = array.transpose(order).reshape(height, -1)
    row, column = np.nonzero(flat)
    parts = {
        "format": np.array("gcxs"),
        "data": flat[row, column],
        "indices": column,
        "indptr": np.r_[0, np.cumsum(np.bincount(row, minlength=height))],
        "compressed_axes": np.array(rows, dtype=np.int64),
        "shape": np.array(array.shape),
        "fill_value": np.float64(0),
    }
    return {**parts, **others}


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        (coo(CUBE), CUBE),
        (coo(CUBE, format=np.array("coo")), CUBE),
        (coo(CUBE[0]), CUBE[0]),
        (coo(np.zeros((2, 2, 2))), np.zeros((2, 2, 2))),
        *((grouped(CUBE, rows), CUBE) for rows in [(0,), (1,), (2,), (0, 2), (1, 2)]),
        (grouped(CUBE[0, 1], ()), CUBE[0, 1]),
    ],
)
def test_it_is_read(tmp_path: Path, parts: dict[str, Any], wanted: Any) -> None:
    np.savez(tmp_path / "a.npz", **parts)
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / "a.npz")), wanted)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (coo(CUBE, fill_value=np.float64(2)), "what is not stored is"),
        (coo(CUBE, fill_value=np.float64(np.nan)), "what is not stored is"),
        (coo(CUBE, coords=np.zeros((2, 3), dtype=int)), "coords have shape 2x3"),
        (coo(CUBE, coords=np.stack(np.nonzero(CUBE)) + 0.5), "dtype float64"),
        (coo(CUBE, coords=np.stack(np.nonzero(CUBE)) - 1), "outside"),
        (coo(CUBE, shape=np.array([], dtype=int)), "a single number"),
        (grouped(CUBE, (0,), compressed_axes=np.array([0, 0])), "are no axes of rank 3"),
        (grouped(CUBE, (0,), compressed_axes=np.array([7])), "are no axes of rank 3"),
        (grouped(CUBE, (0,), indptr=np.array([0, 1])), "does not rise from 0"),
        (
            grouped(CUBE, (0,), indices=grouped(CUBE, (0,))["indices"] + 19),
            "outside its 20 columns",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, parts: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(DataError, match=message):
        read_tensor(tmp_path / "a.npz")
