"""Reports of internal errors: whole files, one per fault, without an end to the others."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from fuseloom import faults


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(faults.VARIABLE, str(tmp_path / "reports"))
    return tmp_path / "reports"


def fault(text: str = "a fault") -> KeyError:
    try:
        raise KeyError(text)
    except KeyError as error:
        return error


def test_a_report_says_what_it_is_about(folder: Path) -> None:
    with faults.about(program=lambda: "y[i] = x[i]", schedule=lambda: "outer"):
        made = faults.report("the schedule failed", fault(), schedule="inner")
    assert made.path is not None
    assert made.path.parent == folder
    saved = json.loads(made.path.read_text(encoding="utf-8"))
    assert saved["fuseloom"] == "internal error"
    assert saved["program"] == "y[i] = x[i]"
    assert saved["schedule"] == "inner"
    assert "raise KeyError(text)" in saved["traceback"]
    assert {"python", "fuseloom", "numpy"} <= saved["versions"].keys()
    assert str(made) == (
        f"internal error: the schedule failed: KeyError: 'a fault' (report: {made.path})"
    )


def test_the_same_fault_has_one_file_and_is_collected_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    error = fault()
    with caplog.at_level(logging.WARNING), faults.collected() as reports:
        for _ in range(3):
            faults.report("it failed", error)
        faults.report("it failed", fault("another"))
    assert len(reports) == len([*folder.iterdir()]) == 2
    assert not caplog.records
    faults.report("it failed", error)
    assert "report: " in caplog.records[0].getMessage()


def test_a_folder_that_takes_no_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(faults.VARIABLE, str(tmp_path / "file"))
    made = faults.report("it failed", fault())
    assert made.path is None
    assert str(made).endswith("(no report could be written)")


def test_the_oldest_reports_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "MOST_REPORTS", 3)
    made = [faults.report(f"number {k}", fault()).path for k in range(5)]
    assert {*folder.iterdir()} <= {*made}
    assert len([*folder.iterdir()]) == 3


def test_the_path_of_a_report_stays_whole(folder: Path) -> None:
    made = faults.report("it failed", fault("x" * 10_000))
    assert str(made).endswith(f"(report: {made.path})")
    assert len(str(made)) < 300 + len(str(made.path))
