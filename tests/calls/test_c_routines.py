"""Arrays as parts that C functions take."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from fuseloom.calls.c_routines import CRoutine, array_of_part, part_of_array, part_structure
from fuseloom.errors import DataError

WHOLE = np.arange(60, dtype=np.int32).reshape(3, 4, 5)


@pytest.mark.parametrize(
    "array",
    [
        WHOLE, WHOLE[::-1], WHOLE[:, ::-2, 1:], WHOLE.T, WHOLE[:, 1:1], WHOLE[0], WHOLE[0, :, ::-1],
        np.broadcast_to(np.int32(3), (4, 2)),
    ],
)  # fmt: skip
def test_an_array_is_the_same_again(array) -> None:
    part = part_of_array(array)
    again = array_of_part(part, array.dtype)
    assert np.array_equal(again, array)
    assert again.size == 0 or np.shares_memory(again, array)


def test_elements_that_lie_between_elements_are_refused() -> None:
    mixed = np.zeros(4, np.dtype([("a", np.int32), ("b", np.int16)], align=False))
    with pytest.raises(DataError, match=r"lie \(6,\) bytes apart"):
        part_of_array(mixed["a"])


def test_a_routine_writes_into_a_view() -> None:
    @ctypes.CFUNCTYPE(None, ctypes.POINTER(part_structure(2)), ctypes.c_double, ctypes.c_bool)
    def fill(part, value, negated):
        array_of_part(part[0], np.dtype(np.float64))[:] = -value if negated else value

    whole = np.zeros((4, 4))
    CRoutine(fill)(whole[1:3, ::2], 2.5, True)
    assert whole.sum() == -10
    assert whole[1].tolist() == [-2.5, 0, -2.5, 0]
