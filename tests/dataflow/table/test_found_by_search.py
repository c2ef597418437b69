"""Programs and orders that random search once found wrong, each now right."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse

CASES = {
    "an accumulated level behind another in a concat": (
        "A: 3 dense\nB: 3x3x2 [dense, compressed, compressed]\n"
        "T[k,j] = A[i] * B[i,k,j]\nU[m,j] = concat[m](T[m,j], T[m,j])",
        "i',i,m,j",
    ),
    "an output that accumulates the index of another reduction": (
        "A: 2x3 dcsr\nb: scalar\nC: 3 compressed\nT[m] = max[l] A[l,m]\nU[] = T[m] * b[]\n"
        "V[m,i] = product(U[], T[m], C[i])\nW[l] = V[l,i] * b[]",
        "i,l',l",
    ),
    "a dense broadcast in front of a concat": (
        "A: 4 compressed\nb: scalar\nC: 3 dense\noption broadcast_add dense\n"
        "T[k] = b[] + A[k]\nU[m] = concat[m](T[m], C[m])\nV[m] = sigmoid(U[m])",
        "m",
    ),
    "a reduction that shares an index but not the views below it": (
        "A: 2x3 dense\nb: scalar\n"
        "T[i] = product(A[i,j], b[], b[])\nU[] = T[l]\nV[j] = product(U[], A[i,j], T[i])",
        "i,j,j'",
    ),
    "a dense operand looked up in a union whose other part has it, too": (
        "b: 1x3 dense\nA: 1x3 dcsr\nT[i,j] = abs(b[i,j])\nU[i,j] = max(b[i,j], T[i,j])\n"
        "V[i,j] = U[i,j] - T[i,j]\nW[i,j] = V[i,j] * A[i,j]\nY[i,j] = V[i,j] - W[i,j]",
        "i,j",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_found_by_search(name: str) -> None:
    text, order = CASES[name]
    program = parse(text)
    names = [s.out.tensor for s in program.statements]
    schedule = Schedule.parse(f"fuse {names[0]}..{names[-1]}")
    (region,) = fuse(program, schedule)
    built = compile_region(region, tuple(order.split(",")))
    rng = np.random.default_rng(0)
    for density in (0.0, 0.3, 0.6, 1.0):
        data = {
            t: np.where(
                rng.random(program.tensor(t).shape) < density,
                rng.integers(1, 9, program.tensor(t).shape),
                0,
            )
            for t in program.inputs
        }
        run = simulate(Compilation(program, schedule, (built,)), data, engine="interpreter")
        assert run.check().ok, run.check()
