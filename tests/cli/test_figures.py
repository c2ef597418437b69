"""``fuseloom figures``."""

from __future__ import annotations

import json
import sys

import pytest

from fuseloom.cli import main
from fuseloom.cli.figures import exit_code, require_packages
from fuseloom.errors import DataError
from fuseloom.experiments.claims import ClaimKind, Got, Published, judged
from fuseloom.experiments.registry import chosen


@pytest.fixture(autouse=True)
def _own_store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))


def run(*words: str) -> int:
    return main(["figures", "--size", "smoke", "--jobs", "0", *words])


def test_a_figure_is_run_and_judged(capsys) -> None:
    assert run("18") == 0
    shown = capsys.readouterr()
    assert "18.spread" in shown.out
    assert "holds" in shown.out
    assert "nested ijlk" in shown.err
    assert run("18", "--json") == 0
    shown = capsys.readouterr()
    assert "nested" not in shown.err
    made = json.loads(shown.out)
    assert {c["id"] for c in made["claims"]} == {"18.spread", "18.best"}
    assert all(c["ok"] and c["figure"] == "18" for c in made["claims"])
    assert made["figures"][0]["title"]
    assert [(t["kind"], t["numbers"], t["hold"]) for t in made["totals"]] == [
        ("calibrated", 1, 1),
        ("bound or property", 1, 1),
    ]


@pytest.mark.deep
def test_in_worker_processes(capsys) -> None:
    words = ["figures", "5", "--size", "smoke", "--jobs", "1"]
    assert main([*words, "--markdown"]) == 0
    assert "(`5.cycles`) | " in capsys.readouterr().out


def test_a_page_of_claims(tmp_path, capsys) -> None:
    page = tmp_path / "page.md"
    assert run("table4", "9", "--report", str(page)) == 0
    text = page.read_text(encoding="utf-8")
    assert "## Table 4" in text
    assert "63,063,000" in text
    assert "I_q" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("19",), "no table or figure is called '19'"),
        (("18", "--json", "--markdown"), "contradict"),
        (("18", "--report", "/no/such/folder/page.md"), "no folder"),
        (("18", "--store", "/proc/none/runs.sqlite"), ""),
        (("18", "--data-dir", "/no/such"), "no folder"),
    ],
)
def test_what_is_refused(words, told, capsys) -> None:
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "Traceback" not in error


def test_packages_are_looked_for_before_anything_is_run(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("18", "--output", str(tmp_path / "plots")) == 2
    shown = capsys.readouterr()
    assert "matplotlib, which is not installed" in shown.err
    assert "nested" not in shown.err


def test_tools_are_looked_for_before_kernels_become_hardware(monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    require_packages(drawn=False, heavy=True, recipes=chosen(["18"]))
    with pytest.raises(DataError, match="iverilog, which is not installed"):
        require_packages(drawn=False, heavy=True, recipes=chosen(["13"]))


def test_the_exit_code() -> None:
    kind = ClaimKind.PREDICTED
    close = Published("1.a", "a", kind, expected=1.0, within=0.1)
    why = Published("1.b", "b", kind, expected=1.0, within=0.1, why="w")
    assert exit_code([judged(close, Got(1.0)), judged(why, Got(3.0))]) == 0
    assert exit_code([judged(close, Got(2.0))]) == 1
    assert exit_code([judged(close, None)]) == 1
