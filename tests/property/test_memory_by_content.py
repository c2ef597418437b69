"""A run takes memory by what its tensors hold, however large their dimensions are.

Each engine runs in a process of its own: what an array takes shows only there.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

MOST = 150 << 20
"""Bytes that such a run may add to what importing takes, the kernels' code included."""

PRODUCT = """
import json, resource, sys
import numpy as np
import scipy.sparse as sp
import fuseloom as fl
from fuseloom.dataflow.sim.compiled import warmup

wide = 2**31 - 1
def two(row, column):
    at = (np.array([0, wide - 1]), np.array([row, column]))
    return sp.coo_array((np.array([2.0, 3.0]), at), shape=(wide, wide))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

before = peak()
program = fl.parse(f"A: {wide}x{wide} dcsr\\nB: {wide}x{wide} dcsr\\nT[i,j] = A[i,k] * B[k,j]")
compiled = fl.compile(program, f"order T: {sys.argv[2]}")
data = {
    name: fl.StoredTensor.from_coo(program.tensor(name), np.stack(m.coords, axis=1), m.data)
    for name, m in {"A": two(5, wide - 1), "B": two(wide - 1, 7)}.items()
}
run = fl.simulate(compiled, data, engine=sys.argv[1])
coordinates, values = run.outputs["T"].to_coo()
print(json.dumps({
    "more": peak() - before, "cycles": run.cycles, "tokens": run.tokens,
    "at": coordinates.tolist(), "values": values.tolist(),
}))
"""


@pytest.mark.parametrize("order", ["i,k,j", "k,i,j"])
def test_two_elements_in_two_to_the_31(order: str) -> None:
    made = {}
    for engine in ("compiled", "interpreter"):
        ran = subprocess.run(
            [sys.executable, "-c", PRODUCT, engine, order],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        made[engine] = json.loads(ran.stdout)
        assert made[engine].pop("more") <= MOST
    assert made["compiled"] == made["interpreter"]
    assert made["compiled"]["at"] == [[2**31 - 2, 7]]
    assert made["compiled"]["values"] == [9.0]
