"""The text of a schedule that was found: it gives the regions that it was found with."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import Dataflow
from fuseloom.program import parse
from fuseloom.results.method import Budget, Part

TEXT = """A: 4x4 csr
T[i,j] = relu(A[i,j])
U[i,j] = exp(A[i,j])
V[i,j] = relu(T[i,j])
Y[i,j] = U[i,j] + V[i,j]
output Y"""
DATA = {"A": np.eye(4) + np.eye(4, k=1)}


def first(method: Dataflow, *units: int) -> Part:
    found = next(iter(method.candidates(units, Budget())))
    assert isinstance(found, Part)
    return found


@pytest.mark.parametrize("base", ["", "sequence U, T", "block 2"])
def test_regions_that_are_not_neighbours_are_so_in_its_sequence(base: str) -> None:
    method = Dataflow(parse(TEXT), DATA, base=Schedule.parse(base))
    place = {name: k for k, name in enumerate(method.units)}
    parts = [first(method, *sorted(place[name] for name in names)) for names in ("TV", "UY")]
    text = method.schedule(parts[::-1])  # in whatever order they are given
    made = compile_program(parse(TEXT), text)
    assert [r.graph for r in made.regions] == [p.choice.compiled.graph for p in parts]
    assert ("block 2" in text) == (base == "block 2")
    assert text.count("sequence") == 1


def test_runs_of_neighbours_need_no_sequence() -> None:
    method = Dataflow(parse(TEXT), DATA)
    parts = [first(method, *units) for units in ((2,), (3,), (0, 1))]
    assert "sequence" not in method.schedule(parts)
    kept = Dataflow(parse(TEXT), DATA, base=Schedule.parse("sequence U, T"))
    parts = [first(kept, *units) for units in ((2,), (3,), (0, 1))]
    assert "sequence U, T" in kept.schedule(parts).split("; ")
