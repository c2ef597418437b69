"""Notes beside the run store."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.errors import StoreError
from fuseloom.experiments.notes import Notes, notes_path


def test_notes_stay(tmp_path) -> None:
    path = tmp_path / "folder" / "runs.figures.sqlite"
    with Notes(path) as notes:
        assert notes.get("a") is None
        notes.put("a", {"x": [1, 2.5, None]})
        notes.put("a", {"x": 3})
    with Notes(path) as notes, Notes(path) as other:
        assert notes.get("a") == other.get("a") == {"x": 3}
        other.put("b", "text")
        assert notes.get("b") == "text"


def test_they_lie_beside_the_runs() -> None:
    assert notes_path(Path("/a/runs.sqlite")) == Path("/a/runs.figures.sqlite")


def test_files_that_are_none(tmp_path) -> None:
    path = tmp_path / "wrong.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="cannot use"):
        Notes(path)
    assert path.read_bytes().startswith(b"no database")
    with pytest.raises(StoreError, match="cannot use"):
        Notes(path / "below")
    with Notes(tmp_path / "a.sqlite") as notes, pytest.raises(StoreError, match="cannot use"):
        notes.put("a", float("nan"))
