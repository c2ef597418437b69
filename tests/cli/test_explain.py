"""``simulate --explain`` and ``--trace-out``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuseloom.cli import main
from tests.cli.commands import output

KARATE = ("simulate", "--model", "gcn", "--data", "karate", "--preset", "full")
SAM = Path(__file__).parent.parent / "conformance" / "sam"
IMPORTED = (
    "simulate", "--sam", str(SAM / "mat_residual.gv"),
    "--tensors", str(SAM / "mat_residual__small.npz"),
)  # fmt: skip


@pytest.mark.parametrize(
    "engine", ["compiled", pytest.param("interpreter", marks=pytest.mark.deep)]
)
def test_explained_for_people(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed = output(capsys, *KARATE, "--explain", "--engine", engine)
    assert printed.count("critical path:\n") == 1
    assert "twice as fast, " in printed
    assert "fullest channels:\n" in printed
    assert ", the sum of:\n" in printed
    assert "default: float32 multiplication in 45 nm, M. Horowitz" in printed


@pytest.mark.deep  # takes seconds
def test_explained_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = json.loads(output(capsys, *KARATE, "--explain", "--json"))["regions"]
    (imported,) = json.loads(output(capsys, *IMPORTED, "--explain", "--json"))["regions"]
    for region in (program, imported):
        path = region["path"]
        assert path["start"] == 0
        assert sum(share["cycles"] for share in path["summary"]) == region["cycles"]
        assert len(path["segments"]) == path["pieces"]
        clock = 0
        for segment in path["segments"]:
            assert segment["start"] == clock
            clock = segment["stop"]
        assert clock == region["cycles"]
        joules = sum(term["joules"] for term in region["energy_terms"])
        assert joules == pytest.approx(region["energy"]["joules"], rel=1e-12)
        assert all(c["mean"] >= 0 and c["most"] >= 1 for c in region["channels"] if c["tokens"])


def test_unasked_it_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    (region,) = json.loads(output(capsys, *KARATE, "--json"))["regions"]
    assert region["path"] is region["channels"] is region["nodes"] is None
    assert region["energy_terms"] is None


def test_an_energy_of_a_machine_file_is_shown_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[energy]\nmultiply = 2.5\n")
    printed = output(capsys, *KARATE, "--explain", "--machine", str(file))
    rows = [line.split() for line in printed.splitlines()]
    assert any(row[2:] and row[2] == "2.5" and "multiply" in row for row in rows)
    assert "the machine's own: [energy] multiply = 2.5" in printed


def test_an_imported_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert "critical path:\n" in output(capsys, *IMPORTED, "--explain")


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("command", [KARATE, IMPORTED])
def test_a_trace(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    output(capsys, *command, "--trace-out", str(path))
    assert json.loads(path.read_text())["traceEvents"]
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]


def test_a_trace_that_cannot_go_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*KARATE, "--trace-out", str(tmp_path / "none" / "trace.json")]) == 2
    assert "is no folder" in capsys.readouterr().err
