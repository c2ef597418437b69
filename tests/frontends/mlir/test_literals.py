"""Constants of a file, and sizes it leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.frontends.mlir import from_mlir
from tests.frontends.mlir.texts import OPEN

from .files import imported


def test_constants() -> None:
    given = imported("constants")
    assert given.wanted == ("x",)
    np.testing.assert_array_equal(given.data["few"].to_dense(), [[0, 2], [-1, 0]])
    np.testing.assert_array_equal(given.data["bytes"].to_dense(), [[1, 2], [3, -1]])
    np.testing.assert_array_equal(given.data["ones"].to_dense(), np.ones((2, 2)))


def test_open_sizes() -> None:
    assert imported("unknown_sizes").program.tensor("A").shape == (5, 6)
    assert from_mlir(OPEN, shapes={"A": (3, 4)}).program.tensor("x").shape == (4,)
    assert from_mlir(OPEN).program.tensor("A").shape == (4, 5)
    assert any("A 4x5" in note for note in from_mlir(OPEN).notes)
    with pytest.raises(ProgramError, match="the shape given for it says 5"):
        from_mlir(OPEN, shapes={"A": (3, 4), "x": (5,)})
    with pytest.raises(ProgramError, match="has 2 dimensions"):
        from_mlir(OPEN, shapes={"A": (3,)})
