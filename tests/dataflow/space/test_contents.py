"""Which tensors have the same coordinates, told from the program and its inputs."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.estimate import EstimateContext
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.space.contents import Contents
from fuseloom.models import load
from fuseloom.program import check_data, parse
from fuseloom.results.method import Budget

TWICE = """A: 4x4 csr
B: 4x4 csr
C: 4x4 csr
S[i,j] = A[i,k] * B[k,j]
T[i,m] = A[i,l] * C[l,m]
Y[i,j] = S[i,j] + T[i,j]"""


def test_equal_coordinates_make_equal_contents_whatever_the_values_and_names() -> None:
    program = parse(TWICE)
    pattern = np.eye(4) + np.eye(4, k=1)
    given = {"A": pattern, "B": pattern * 3.0, "C": pattern}
    contents = Contents(program, check_data(program, given))
    assert contents["A"] == contents["B"] == contents["C"]
    assert contents["S"] == contents["T"] != contents["Y"]
    assert list(contents.equal_contents("S")) == ["S", "T"]
    given["C"] = np.eye(4)
    other = Contents(program, check_data(program, given))
    assert other["S"] != other["T"]


def test_shared_coordinates_are_those_that_executing_finds() -> None:
    """Of two decoders the second has what the first has; found out one by one it is the same."""
    model, data = load("gpt3", "random")
    program = model.program
    stored = check_data(program, data)
    shared = Dataflow(program, stored)
    shared.lower_bounds(Budget())
    alone = EstimateContext(program, stored)
    contents = Contents(program, stored)
    second = [n for n in program.producers if any(t != n for t in contents.equal_contents(n))]
    assert len(second) > 60
    for name in shared.units:
        alone.make_up(name)
        assert alone.elements(name) == shared.context.elements(name), name
