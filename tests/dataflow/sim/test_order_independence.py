"""A program means the same under every order: why a sum of nothing is absent, not 0.

The reference simulator emits an explicit 0 for an empty fiber. An accumulator over the same
reduction emits nothing there. A function that follows would tell the two apart (exp(0) = 1), so
the result would depend on the dataflow order; on the default machine it does not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import SimulationError

PROGRAM = """
M: 3x3 [compressed, compressed] order {modes}
v: 3 dense
T[i] = M[i,j] * v[j]
E[i] = exp(T[i])
"""
MATRIX = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
ADD_ROW = "R: 3 dense\nO[i] = E[i] + R[i]"


def run(modes: str, machine: Machine) -> np.ndarray:
    """exp of a product with an empty row, plus a dense vector, under i,j or j,i."""
    text = PROGRAM.format(modes=modes) + ADD_ROW
    program = fl.parse(text)
    compiled = fl.compile(program, "fuse T..O")
    data = {"M": MATRIX, "v": np.array([0.1, 0.2, 0.3]), "R": np.ones(3)}
    result = fl.simulate(compiled, data, machine, engine="interpreter")
    return result.outputs["O"].to_dense()


def test_both_orders_agree_on_the_default_machine() -> None:
    by_rows, by_columns = (run(modes, Machine.default()) for modes in ("0,1", "1,0"))
    np.testing.assert_allclose(by_rows, by_columns, rtol=1e-6)
    assert by_rows[1] == 1.0  # the empty row has no exp: only the added 1


def test_an_explicit_zero_would_make_the_meaning_depend_on_the_order() -> None:
    machine = Machine.default()
    literal = replace(machine, quirks=replace(machine.quirks, sum_of_nothing_is_zero=True))
    # Compressed rows hide the empty one from the scanner, so make it visible: dense rows.
    program = fl.parse(
        "M: 3x3 csr\nv: 3 dense\nR: 3 dense\nT[i] = M[i,j] * v[j]\nE[i] = exp(T[i])\n"
        "O[i] = E[i] + R[i]"
    )
    data = {"M": MATRIX, "v": np.array([0.1, 0.2, 0.3]), "R": np.ones(3)}
    compiled = fl.compile(program, "fuse T..O")
    right = fl.simulate(compiled, data, machine, engine="interpreter")
    wrong = fl.simulate(compiled, data, literal, engine="interpreter")
    assert right.check().ok
    assert right.outputs["O"].to_dense()[1] == 1.0
    assert wrong.outputs["O"].to_dense()[1] == pytest.approx(2.0)
    assert not wrong.check().ok


def test_cancelling_a_run() -> None:
    model, data = fl.load("gcn", "karate")
    compiled = fl.compile(model.program, model.presets["unfused"])
    with pytest.raises(SimulationError, match="cancelled"):
        fl.simulate(compiled, data, engine="interpreter", progress=lambda share, text: False)
