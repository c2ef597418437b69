"""Vectors produced by the reference simulator: every token, timestamp, clock and output."""

import copy
from pathlib import Path
from typing import Any

import pytest

import engine.dataflow.sim.compiled.simulation  # noqa: F401 -- registers the kernels
from engine.dataflow.sim.conformance.conform import check, conform
from engine.dataflow.sim.conformance.vectors import load_vectors
from engine.errors import SimulationError

HERE = Path(__file__).parent
FILES = ("prims.json", "kernels.json")


CASES = [
    pytest.param(vector, engine, id=f"{Path(name).stem}-{k}-{vector['kind']}-{engine}")
    for name in FILES
    for k, vector in enumerate(load_vectors(HERE / name))
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


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert conform(HERE / "prims.json", "interpreter") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "120 passed, 0 failed"


def test_what_is_not_implemented_counts_as_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors.json"
    file.write_text(
        '[{"kind": "x", "cap": null, "clocks": {}, "outputs": {}, "dequeued": {},'
        ' "nodes": [{"op": "genref", "name": "g"}]}]'
    )
    assert conform(file, "interpreter") == 1
    assert capsys.readouterr().out.splitlines() == [
        "FAILED 0 x (unbounded): not implemented: genref",
        "not implemented: genref (in 1 vectors)",
        "0 passed, 1 failed",
    ]


@pytest.mark.parametrize("text", ["{}", "[1]", "no json"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "vectors.json"
    file.write_text(text)
    with pytest.raises(SimulationError, match=r"vectors\.json"):
        load_vectors(file)
