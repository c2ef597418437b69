"""Which results hold integers, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from fuseloom.program.integral import integral_tensors

HEAD = "x: 6 dense\nw: 6 dense\nf[i] = floor(x[i])\ng[i] = round(w[i])\n"


@pytest.mark.parametrize(
    ("line", "integral"),
    [
        ("y[i] = f[i] * g[i]", True),
        ("y[i] = f[i] - 3", True),
        ("y[i] = max(f[i], g[i])", True),
        ("y = sum[i] (f[i] * g[i])", True),
        ("y[i] = relu(-f[i])", True),
        ("y[i] = sign(x[i])", True),
        ("y[i] = f[i] * w[i]", False),
        ("y[i] = f[i] + 0.5", False),
        ("y[i] = f[i] / g[i]", False),
        ("y[i] = exp(f[i])", False),
        ("y[i] = max(f[i], 0.5)", False),
    ],
)
def test_kinds(line: str, integral: bool) -> None:
    """Where they are said to be, runs give integers, of large numbers, too."""
    program = parse(HEAD + line)
    found = integral_tensors(program)
    assert {"f", "g"} <= found
    assert ("y" in found) is integral
    rng = np.random.default_rng(1)
    data = {name: rng.normal(size=6) * 10.0 ** rng.integers(0, 9, 6) for name in "xw"}
    run = simulate(compile_program(program), data)
    assert run.check().ok
    for name in found & run.outputs.keys():
        values = run.outputs[name].values
        assert np.array_equal(values, np.rint(values)), name
