"""The arrays nodes read, and data that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim import bind, output_tensor
from fuseloom.errors import DataError, SimulationError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor
from tests.dataflow.sim.doubling import X, doubled, matrix, run


def test_views_are_stored_again_in_their_order() -> None:
    dense = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    result = run(doubled("B@1,0", "X@1,0"), matrix(dense))
    stored = output_tensor(result, X, "X@1,0")
    stored.verify()
    assert stored.tensor.format.mode_order == (1, 0)
    assert (stored.to_dense() == 2 * np.array(dense)).all()


def test_wrong_data() -> None:
    with pytest.raises(DataError, match="B"):
        bind(doubled(), {"C": matrix([[1]], "C")})
    csr = Tensor("B", (1, 1), Format((LevelFormat.DENSE, LevelFormat.COMPRESSED), (0, 1)))
    with pytest.raises(SimulationError, match="rows scans level 0 of B, which is dense"):
        bind(doubled(), {"B": StoredTensor.from_dense(csr, [[1.0]])})
    with pytest.raises(SimulationError, match="does not write level 0 of Y"):
        output_tensor(run(doubled(), matrix([[1]])), Tensor("Y", (1, 1), Format.compressed(2)))
