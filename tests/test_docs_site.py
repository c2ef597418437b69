"""The documentation as it is built: without a warning, complete, nothing from elsewhere."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import zlib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fuseloom as fl
from fuseloom_workbench.base import glossary

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'>\s]+)"""
)
"""The pattern of URLs that a browser fetches by itself, from another host."""
ELSEWHERE = re.compile(r"""(?:url\(|@import\s)\s*["']?((?:https?:)?//[^"')\s]+)""")


@pytest.fixture(scope="module")
def helpers() -> Any:
    """Modules of ``docs``, which is no package."""
    sys.path.insert(0, str(DOCS))
    names = ("tables", "measured", "reference", "around", "accessible")
    try:
        yield {name: import_module(name) for name in names}
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, as the command of CONTRIBUTING builds them; a warning is an error there."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(DOCS / "build.py"), "site", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return folder


@pytest.fixture(scope="module")
def names(site: Path) -> dict[str, str]:
    """Every name of the reference, and its address."""
    *_, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)
    lines = zlib.decompress(packed).decode().splitlines()
    rows = (line.split(" ", 4) for line in lines)
    return {name: address for name, kind, _, address, _ in rows if kind.startswith("py:")}


def test_every_public_name_is_in_the_reference(names: dict[str, str], helpers: Any) -> None:
    reference = helpers["reference"]
    places = reference.places()
    assert {full.rpartition(".")[0] for full in places} == {reference.TOP, *reference.PACKAGES}
    lost = sorted({place for place in places.values() if place not in names})
    assert not lost
    assert set(reference.PACKAGES) <= names.keys()
    assert set(reference.COMPONENTS) <= names.keys()
    assert {f"fuseloom.{name}" for name in fl.__all__} - {"fuseloom.__version__"} <= names.keys()


def test_every_room_that_is_handed_on_has_a_page(helpers: Any) -> None:
    assert {*fl._PACKAGES.values()} <= {*helpers["reference"].PACKAGES}


def test_every_component_is_in_the_reference(helpers: Any) -> None:
    """Views that are not part of the bench's frame alone."""
    bases = {
        "SessionComponent", "PatternPanel", "CallsPanel", "KernelsPanel", "SelectingPanel",
        "SystemsPanel",
    }  # fmt: skip
    frame = {"TopBar", "Rail", "Connection", "DataLabel", *bases}
    found = set()
    for path in (ROOT / "workbench").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        kinds = "|".join(bases)
        found.update(re.findall(rf"^class (\w+)\((?:{kinds})\)", text, re.MULTILINE))
    shown = {full.rpartition(".")[2] for full in helpers["reference"].COMPONENTS}
    assert found - frame <= shown


def test_public_things_say_what_they_are(helpers: Any) -> None:
    reference = helpers["reference"]
    for place in {*reference.places().values()} - {*reference.PACKAGES}:
        package, _, name = place.rpartition(".")
        thing = getattr(import_module(package), name)
        if not isinstance(thing, ModuleType):
            lines = reference.directive(place)  # of data it has what is said there
            assert lines[0].startswith(".. py:data") or thing.__doc__, place


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        assert not FETCHED.findall(page.read_text(encoding="utf-8")), page.name
    for sheet in site.rglob("*.css"):
        assert not ELSEWHERE.findall(sheet.read_text(encoding="utf-8")), sheet.name


def test_lists_have_terms_and_folds_have_names(site: Path, helpers: Any) -> None:
    """The pages that Sphinx and its theme make have none of the faults that axe calls serious."""
    assert doctest.testmod(helpers["accessible"]).failed == 0
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert sum(page.count('class="sig-lines"') for page in pages) > 50
    assert sum(page.count('<summary aria-label="Pages below ') for page in pages) > 20
    for page in pages:
        assert not re.search(r"<summary>\s*<span", page)  # others have words
        assert not re.search(r"<dl[^>]*>\s*<dd", page)


def test_what_would_be_fetched_is_found() -> None:
    assert FETCHED.findall('<script src="https://cdn.example/a.js">')
    assert FETCHED.findall('<link rel="stylesheet" href="//fonts.example/b.css">')
    assert not FETCHED.findall('<a href="https://arxiv.org/abs/2511.04768">')
    assert ELSEWHERE.findall("src: url(https://fonts.example/c.woff2)")


def test_every_document_has_a_page(site: Path) -> None:
    made = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.html")}
    for page in DOCS.rglob("*.md"):
        if "_site" not in page.parts:
            assert page.relative_to(DOCS).with_suffix("").as_posix() in made
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"notebooks/{notebook.stem}" in made


def test_tables_are_those_of_the_code(helpers: Any) -> None:
    """If this fails, run ``python docs/build.py``."""
    tables = helpers["tables"]
    for name, made in tables.MADE.items():
        assert tables.page(name, made()) == (DOCS / name).read_text(encoding="utf-8"), name
    assert [row for _, rows in tables.GROUPS for row in rows] == list(glossary.ROWS)


def test_recorded_figures_are_where_the_page_says(helpers: Any) -> None:
    measured = helpers["measured"]
    assert not measured.missing()
    text = measured.benchmarks()
    assert all(f"benchmarks.{name}" in text or f"{name}.py" in text for name in measured.RECORDED)


def test_notebooks_become_pages(helpers: Any) -> None:
    """Text and code as they are; links lead to pages, and those to documents stay on the site."""
    around = helpers["around"]
    assert doctest.testmod(around).failed == 0
    cells = [
        {
            "cell_type": "markdown",
            "source": ["# One\n", "[two](02_b.ipynb#x) [doc](../docs/runs.md)"],
        },
        {"cell_type": "code", "source": ["1 + 1"]},
    ]
    page = around.as_page({"cells": cells}, "01_a")
    assert "# One\n[two](02_b.md#x) [doc](../runs.md)" in page
    assert "```python\n1 + 1\n```" in page


def test_terms_of_the_glossary_are_in_order() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8").partition(":::{glossary}\n")[2]
    terms = re.findall(r"^\n(\S.*)$", text, re.MULTILINE)
    assert len(terms) > 50
    assert terms == sorted(terms, key=str.casefold)
