"""Vectors produced by the reference simulator: every token, timestamp, clock and output."""

import copy
from pathlib import Path
from typing import Any

import pytest

import fuseloom.dataflow.sim.compiled.simulation  # noqa: F401 -- registers the kernels
from fuseloom.dataflow.sim.conformance.conform import check
from fuseloom.dataflow.sim.conformance.judge import PRIMITIVES
from fuseloom.dataflow.sim.conformance.vectors import load_vectors

HERE = Path(__file__).parent
FILES = (PRIMITIVES, HERE / "kernels.json")


CASES = [
    pytest.param(vector, engine, id=f"{name.stem}-{k}-{vector['kind']}-{engine}")
    for name in FILES
    for k, vector in enumerate(load_vectors(name))
    for engine in ("interpreter", "compiled")
]


@pytest.mark.parametrize(("vector", "engine"), CASES)
def test_vector(vector: dict[str, Any], engine: str) -> None:
    assert check(vector, engine) == []


def test_most_vectors_run_in_compiled_form() -> None:
    """The rest need primitives that only the reference simulator's own graphs contain."""
    compiled = sum(case.id.endswith("compiled") for case in CASES)
    assert compiled >= 130


def broken(change: str) -> dict[str, Any]:
    """The first worked example with one figure falsified."""
    vector = copy.deepcopy(load_vectors(HERE / "kernels.json")[0])
    match change:
        case "clock":
            vector["clocks"]["mul"] += 1
        case "time":
            vector["dequeued"]["v:x"][1][1] += 1
        case "token":
            vector["dequeued"]["v:x"][1][0] += 1
        case "missing token":
            vector["dequeued"]["v:x"].pop()
        case "output":
            vector["outputs"]["Xv.vals"][0] += 1
        case "elapsed":
            vector["elapsed"] += 1
    return vector


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ("clock", "mul ends at cycle 10, reference 11"),
        ("time", "stream v:x, token 1: 90@8, reference 90@9"),
        ("token", "stream v:x, token 1: 90@8, reference 91@8"),
        ("missing token", "stream v:x: 4 tokens taken, reference 3"),
        ("output", "Xv.vals is [40 90] (2), reference [41 90] (2)"),
        ("elapsed", "example_vecmul takes 12 cycles, reference 13"),
    ],
)
def test_a_falsified_vector_fails(change: str, reported: str) -> None:
    assert check(broken(change), "interpreter") == [reported]
