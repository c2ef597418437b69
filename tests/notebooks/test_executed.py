"""Executed copies of notebooks: kept until the notebook changes, and shown on its page."""

from __future__ import annotations

import doctest
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest

DOCS = Path(__file__).parents[2] / "docs"
CODE = 'from IPython.display import HTML\nHTML("<svg class=one></svg>")'


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The modules of ``docs``, which is no package, with copies of their own."""
    monkeypatch.syspath_prepend(str(DOCS))
    found = {name: import_module(name) for name in ("executed", "around")}
    monkeypatch.setattr(found["executed"], "COPIES", tmp_path / "copies")
    yield found
    for name in found:
        sys.modules.pop(name, None)


def test_examples(modules: Any) -> None:
    assert doctest.testmod(modules["executed"]).failed == 0


def test_a_copy_is_shown_until_the_notebook_changes(modules: Any, tmp_path: Path) -> None:
    executed, around = modules["executed"], modules["around"]
    path = tmp_path / "01_one.ipynb"
    cells = [nbformat.v4.new_markdown_cell("# One"), nbformat.v4.new_code_cell(CODE)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert executed.kept(path.stem, notebook) is None
    assert "before it is run" in around.as_page(notebook, path.stem)
    executed.keep(path)
    page = around.as_page(notebook, path.stem, executed.kept(path.stem, notebook))
    assert page.endswith("````````{raw} html\n<svg class=one></svg>\n````````\n")
    assert "before it is run" not in page
    notebook["cells"][1]["source"] = ["1 + 1"]
    assert executed.kept(path.stem, notebook) is None


def test_live_components_are_not_copied(modules: Any) -> None:
    executed = modules["executed"]
    output = {
        "output_type": "display_data",
        "data": {"text/html": "<script>1</script>", "text/plain": "Row"},
    }
    assert executed.markdown([output, output]) == executed.LIVE
    style = {"output_type": "display_data", "data": {"text/html": "<style>a</style>"}}
    assert executed.markdown([style]) == ""


def test_a_cell_that_fails_makes_no_copy(modules: Any) -> None:
    with pytest.raises(ValueError, match="ended with an error"):
        modules["executed"].markdown([{"output_type": "error"}])
