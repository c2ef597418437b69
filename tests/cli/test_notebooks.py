"""``fuseloom notebooks``: files in a folder, and what is there already stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.cli import notebooks
from tests.cli.commands import error, output

ROOT = Path(__file__).parent.parent.parent


def test_all_notebooks_and_examples_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a" / "course"
    text = output(capsys, "notebooks", str(folder))
    sources = {path.name: path for path in ROOT.glob("notebooks/*.ipynb")}
    assert {path.name for path in folder.glob("*.ipynb")} == {*sources}
    for name, path in sources.items():
        assert (folder / name).read_bytes() == path.read_bytes()
    examples = {path.name for path in ROOT.glob("docs/examples/*")}
    assert {path.name for path in (folder / "examples").iterdir()} == examples
    assert f"{len(sources)} notebooks" in text
    assert "pip install 'fuseloom[notebooks]'" in text


def test_nothing_is_overwritten_without_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "03_orders.ipynb"
    mine.write_text("my answers")
    line = error(capsys, "notebooks", str(tmp_path))
    assert f"{mine} is there already" in line
    assert "--force" in line
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    output(capsys, "notebooks", str(tmp_path), "--force")
    assert mine.read_bytes() == (ROOT / "notebooks" / mine.name).read_bytes()


def test_a_place_that_cannot_be_written_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert "file" in error(capsys, "notebooks", str(tmp_path / "file" / "course"))


def test_an_installation_without_them_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "SOURCES", {"": ("nowhere", "*")})
    assert "this installation has no nowhere" in error(capsys, "notebooks", str(tmp_path))
