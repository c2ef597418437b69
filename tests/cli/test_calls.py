"""``fuseloom calls``: compositions by name, sizes of tiles, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuseloom.calls.pipelines import PIPELINES
from fuseloom.cli import calls
from fuseloom.cli.main import main
from fuseloom.comparison.composed import COMPOSED

SMALL = ("softmax", "--extents", "h=32,w=16", "--rounds", "1")


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["calls", *arguments, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


def test_the_command_knows_the_names_of_the_pipelines() -> None:
    assert tuple(PIPELINES) == calls.PIPELINES
    assert tuple(COMPOSED) == calls.COMPOSED


def test_a_document_has_what_scripts_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    made = _json(capsys, *SMALL, "--tile", "8")
    assert made["tile"] == 8
    assert made["extents"] == {"h": 32, "w": 16}
    assert made["recompute"] == dict.fromkeys(["t1", "t2", "t3", "t4", "t5"], 1.0)
    assert made["pipeline"].count("compute ") == 5
    assert made["max_abs_error"] < 1e-6
    assert set(made["measured"]) == {"fused", "unfused_fresh", "unfused_preallocated"}
    assert made["verdict"] in ("fuse", "do not fuse")
    assert made["reason"]


def test_of_several_sizes_the_fastest_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    made = _json(capsys, *SMALL, "--tile", "2,32,2", "--threads", "2")
    assert {one["tile"] for one in made["tried"]} == {2, 32}
    assert made["measured"]["fused"] == min(one["fused"] for one in made["tried"])
    assert made["pipeline"].count("parallel for") == 1


def test_breaks_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    made = _json(capsys, *SMALL, "--tile", "8", "--break", "2,3")
    assert (made["breaks"], made["tile"]) == ([2, 3], 8)
    assert made["pipeline"].count("for n in") + made["pipeline"].count("for i in") == 3


def test_a_table_and_the_code_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", *SMALL, "--tile", "8", "--code"]) == 0
    out = capsys.readouterr().out
    assert "def fused(A, t5, n, m):" in out
    assert "tile" in out
    assert "fuse, on 1 thread:" in out


def test_bytes_through_levels_and_the_time_of_calls_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = _json(capsys, *SMALL, "--tile", "8")
    assert made["room"] < made["working_set"]
    assert [one["level"] for one in made["traffic"]][-1] == "memory"
    whole = 4 * 32 * 16
    assert made["traffic"][-1]["bytes"] == 3 * whole  # A is read twice, t5 is written
    assert sum(one["bytes"] for one in made["traffic"]) > 3 * whole
    assert all(one["overhead"] > 0 for one in made["tried"])


def test_generated_cpp_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    made = _json(capsys, *SMALL, "--tile", "8", "--language", "c++")
    assert made["language"] == "c++"
    assert "routines::max_rows(" in made["source"]
    assert made["max_abs_error"] < 1e-6


def test_measured_calls_are_kept_as_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    _json(capsys, *SMALL, "--tile", "8,16", "--keep")
    assert main(["runs", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    schedules = {row["schedule"] for row in rows}
    assert schedules == {"tiles of 8", "tiles of 16", "whole calls"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sofmax",), "is no pipeline"),
        (("softmax", "--extents", "q=2"), "has no extent q"),
        (("softmax", "--extents", "h"), "is no extent"),
        (("softmax", "--tile", "0"), "is no size of tiles"),
        (("softmax", "--tile", "8,x"), "is no size of tiles"),
        (("softmax", "--break", "9"), "no place before call 9"),
        (("softmax", "--break", "x"), "is no call to break before"),
        (("softmax", "--threads", "0"), "at least 1"),
    ],
)
def test_bad_input_is_refused(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calls", *arguments]) == 2
    assert says in capsys.readouterr().err
