"""``fuseloom conform``: what it prints of vectors that pass, fail or cannot run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.dataflow.sim.conformance.judge import PRIMITIVES

HERE = Path(__file__).parent.parent / "conformance"
INTERPRETER = ("--engine", "interpreter")
UNKNOWN = (
    '[{"kind": "x", "cap": null, "clocks": {}, "outputs": {}, "dequeued": {},'
    ' "nodes": [{"op": "genref", "name": "g"}]}]'
)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(("name", "count"), [("prims", 120), ("kernels", None)])
def test_conform(name: str, count: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = PRIMITIVES if name == "prims" else HERE / f"{name}.json"
    count = count or len(json.loads(vectors.read_text()))
    assert main(["conform", str(vectors), *INTERPRETER]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{count} passed, 0 failed"


def test_what_is_not_implemented_counts_as_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors.json"
    file.write_text(UNKNOWN)
    assert main(["conform", str(file), *INTERPRETER]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "FAILED 0 x (unbounded): not implemented: genref",
        "not implemented: genref (in 1 vector)",
        "0 passed, 1 failed",
    ]
    assert main(["conform", str(file), *INTERPRETER, "--json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert (made["passed"], made["failed"], made["not_implemented"]) == (0, 1, {"genref": 1})
    assert made["failures"][0]["differences"] == ["not implemented: genref"]


@pytest.mark.parametrize("text", ["[]", "{}", "3"])
def test_a_file_without_vectors_proves_nothing(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors.json"
    file.write_text(text)
    assert main(["conform", str(file), *INTERPRETER]) == 2
    assert "holds no conformance vectors" in capsys.readouterr().err
