"""The folder of files of events."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuseloom.dataflow.sim.events import files


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.ENVIRONMENT, str(tmp_path))


def test_names_are_new_and_known_again(tmp_path: Path) -> None:
    one, other = files.new_file(), files.new_file()
    assert one != other
    assert one.parent == other.parent == files.folder() == tmp_path / "events"
    assert files.known_file(str(one)) == one
    region = one.with_name(f"{one.stem}.3{one.suffix}")
    assert files.known_file(str(region)) == region
    assert files.known_file(f"/elsewhere/{one.name}") == one


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.events", "", "0123.events", ".events"])
def test_other_names_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="no file of events"):
        files.known_file(path)


def test_the_oldest_go_first() -> None:
    made = []
    for age in (3, 1, 2):
        path = files.new_file()
        path.write_bytes(bytes(10))
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
        made.append(path)
    files.prune(25)
    assert [path.exists() for path in made] == [False, True, True]
    files.prune(10)
    assert [path.exists() for path in made] == [False, True, False]
