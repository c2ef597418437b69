"""The location of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.exploration.store import RunStore, default_path


def test_the_file_has_a_place_and_can_have_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FUSELOOM_RUNS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path().name == "runs.sqlite"
    assert tmp_path in default_path().parents
    monkeypatch.setenv("FUSELOOM_RUNS", "~/mine.sqlite")
    assert default_path() == tmp_path / "mine.sqlite"
    RunStore().close()
    assert (tmp_path / "mine.sqlite").is_file()
