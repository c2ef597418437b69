"""The limits are those of NumPy's float32."""

from __future__ import annotations

import numpy as np

from fuseloom.program import float32

INFO = np.finfo(np.float32)


def test_limits() -> None:
    assert float(INFO.max) == float32.LARGEST
    assert float(INFO.smallest_normal) == float32.NORMAL
    assert float(INFO.smallest_subnormal) == float32.SMALLEST
    assert float(INFO.eps) == 2 * float32.ROUNDOFF


def test_integers() -> None:
    most = float32.EXACT_INTEGERS
    assert np.float32(most - 1) + np.float32(1) == most
    assert np.float32(most) + np.float32(1) == most
    assert most == 2**float32.INTEGER_BITS
