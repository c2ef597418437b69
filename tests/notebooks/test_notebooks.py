"""Every notebook runs from top to bottom in a fresh kernel, and so do its solutions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from fuseloom_workbench.notebook.exercises import exercises

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FOLDED = re.compile(r"<details><summary>Solutions?</summary>\n(.*?)</details>", re.DOTALL)
BLOCK = re.compile(r"```python\n(.*?)```|`(check\(\"[^`]*\))`", re.DOTALL)


@pytest.fixture(scope="module")
def executed() -> Iterator[Any]:
    """The module of ``docs``, which is no package, that keeps what notebooks show."""
    folder = str(FOLDER.parent / "docs")
    sys.path.insert(0, folder)
    try:
        yield import_module("executed")
    finally:
        sys.path.remove(folder)


def test_there_are_notebooks() -> None:
    assert [path.name[:3] for path in NOTEBOOKS] == [f"{k:02d}_" for k in range(len(NOTEBOOKS))]


def solutions(text: str) -> list[str]:
    """The code in the solutions of a cell: blocks, and checks in a line."""
    return [m[1] or m[2] for folded in FOLDED.findall(text) for m in BLOCK.finditer(folded)]


def with_solutions(notebook: Any) -> tuple[Any, list[str]]:
    """A notebook with a cell behind each that has solutions, and the exercises that they solve."""
    cells, solved = [], []
    for cell in notebook.cells:
        cells.append(cell)
        found = solutions(cell.source) if cell.cell_type == "markdown" else []
        if any("check(" in code for code in found):
            code = "\n".join(map(_asserted, found))
            cells.append(nbformat.v4.new_code_cell(code, metadata={"solution": True}))
            solved += re.findall(r"check\(\"([\d.]+)\"", "\n".join(found))
    notebook.cells = cells
    return notebook, solved


def _asserted(code: str) -> str:
    """Code whose checks have to find nothing wrong."""
    return re.sub(r"^check\((.*)\)$", r"assert (_c := check(\1)).ok, _c", code, flags=re.MULTILINE)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, executed: Any) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), (
        "commit notebooks without outputs"
    )
    notebook, solved = with_solutions(notebook)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    number = path.name[:2].lstrip("0") or "0"
    assert set(solved) <= {key for key in exercises() if key.partition(".")[0] == number}
    notebook.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata]
    pictures_are_for_both_themes(executed.shown(notebook))


def pictures_are_for_both_themes(shown: list[str]) -> None:
    """Each picture has a style for light and dark, or is a table that the page styles."""
    pictures = [part for one in shown for part in re.split(r"`{8}(?:\{raw\} html)?\n?", one)]
    pictures = [part for part in pictures if part.lstrip().startswith("<")]
    assert pictures
    for picture in pictures:
        assert "<script" not in picture
        if 'class="fuseloom"' in picture:
            assert 'html[data-theme="dark"] .fuseloom' in picture
            assert "light-dark(" in picture
        else:
            assert 'class="dataframe"' in picture
            assert "color" not in picture


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_exercise_is_asked_before_it_is_solved(path: Path) -> None:
    """Each has a cell of its own, in the order of their numbers."""
    number = int(path.name[:2])
    asked = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            asked += re.findall(r"^check\(\"([\d.]+)\", ", cell.source, re.MULTILINE)
    mine = [key for key in exercises() if int(key.partition(".")[0]) == number]
    assert asked == mine
