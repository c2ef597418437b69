"""The largest bound on the rounding errors of a result."""

from __future__ import annotations

import numpy as np

from fuseloom.program import parse
from fuseloom.program.inputs import check_data
from fuseloom.program.rounded import largest_bound


def test_the_bound_goes_by_what_is_added_up_not_by_the_sum() -> None:
    program = parse("x: 100 dense\ny = sum[i] x[i]\nz = y * y")
    x = np.tile([1e4, -1e4], 50)
    data = check_data(program, {"x": x})
    in_float32 = float(np.sum((x + 0.1).astype(np.float32))) - 10.0
    assert abs(in_float32) <= largest_bound(program, data, "y") < 10.0
    assert largest_bound(program, check_data(program, {"x": 0 * x}), "y") < 1e-30
