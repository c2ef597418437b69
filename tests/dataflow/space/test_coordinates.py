"""Coordinates are found out of what is asked for, and of what that is computed from."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.method import Dataflow
from fuseloom.program import parse

TEXT = """A: 3x3 csr
T[i,j] = relu(A[i,j])
U[i,j] = exp(T[i,j])
V[i,j] = relu(A[i,j])
W[i,j] = exp(T[i,j])
output U, V, W"""


def test_what_is_asked_for_and_no_more() -> None:
    method = Dataflow(parse(TEXT), {"A": np.eye(3)})
    knows = method.context.patterns.knows
    method.coordinates.find(["U"])
    assert [name for name in method.units if knows(name)] == ["T", "U"]
    method.coordinates.find(["W", "A"])
    assert [name for name in method.units if knows(name)] == ["T", "U", "W"]
