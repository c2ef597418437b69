"""Words of the sources: those of the field, unique class names, docstrings that begin well."""

from __future__ import annotations

import ast
import gc
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("engine", "workbench", "apps", "tests", "benchmarks", "docs", "notebooks")
KINDS = {".py", ".md", ".js", ".css", ".ipynb", ".toml", ".loom", ".gv"}
MADE = {"_site", "corpus", "conformance"}
"""Folders of what is built, and of files of other tools."""

MOST_RELATIVE = 100
"""Docstrings that may begin with What, Whether, How or Where."""

OLD = {
    "golden model": r"\b[Tt]wins?\b|_twins?\b",
    "fork server": r"\b_?[Nn]urser(?:y|ies)\b",
    "spawn": r"\"bear\"|\bborn\b",
    "reap": r"\b_?bur(?:y|ied|ies)\b|\bBURIED\b",
    "register": r"\badopt(?:s|ed)?\b",
    "session worker": r"\b_?[Ss]eats?\b|\bseated\b",
    "page backend": r"[Dd]esks?\b",
    "supervisor": r"\bclass \w*Hub\b|\b_hub\b|\bself\.hub\b|\bthe hub's thread\b",
    "session token": r"\bnew_word\b|\bself\.word\b|\bsent\.word\b",
    "queued run": r"\bclass Turn\b|\bself\._turn\b",
    "estimate context": r"\bclass Known\b|\bKnown\(",
    "arrival times": r"\bclass Passing\b|\bPassing\(",
    "fiber-tree level": r"\bclass Nest\(|exact\.nests\b",
    "statement instances": r"\b_?[Ff]irings?\b",
    "lower bounds": r"\b_?floors\b|\.floor\(self|\bdef floor\(self, units",
    "order ideals": r"\bclass Places\b|\bmethod\.places\b",
    "candidates": r"\bclass Ways?\b|\bmethod\.ways\b|\bspace\.ways\b",
    "integers": r"\b[Ww]hole numbers?\b|\bWholes\b",
    "not, and, or, step": r"\bdef (?:opposite|both|either|jump)\(m\b|\bimport (?:opposite|jump)\b",
    "floats": r"\bnumbers? with a point\b",
    "narrator, narration": r"\b_?[Tt]ellers?\b|\bsteps\.words\b|\bsteps/words\b",
    "fan-out-free graph": r"\bclass Web\b|passes\.web\b",
    "slack": r"\bclass Lead\b|passes\.lead\b",
    "transposed convolution": r"\bturned convolutions?\b",
    "packages, architecture": r"\b[Tt]he house\b|\ba room of\b|\beach room\b|\bEach room\b",
}
"""Words that the sources had, and those of the field that took their place."""


def sources(*kinds: str) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in kinds and not MADE & set(path.relative_to(ROOT).parts):
                yield path
    if ".md" in kinds:
        yield from (path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md")


Declared = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def declared(tree: ast.Module) -> Iterator[Declared]:
    """The module, and each class and function in it: expressions, which have none, are left out."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Declared):
            yield node
        left += (
            inner
            for inner in ast.iter_child_nodes(node)
            if isinstance(inner, ast.stmt | ast.excepthandler | ast.match_case)
        )


def relative(texts: Iterator[str]) -> list[str]:
    """The texts that say what something does in a clause, instead of saying it."""
    return [text for text in texts if re.match(r"(?:What|Whether|How|Where)\b", text)]


@pytest.fixture(scope="module")
def declarations() -> dict[Path, list[Declared]]:
    gc.disable()  # millions of nodes, none of which is garbage before all are made
    try:
        return {
            path: [*declared(ast.parse(path.read_text(encoding="utf-8")))]
            for path in sources(".py")
        }
    finally:
        gc.enable()


def test_classes_have_names_of_their_own(declarations: dict[Path, list[Declared]]) -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, nodes in declarations.items():
        if (ROOT / "tests") in path.parents or path.stem.endswith("_pb2"):
            continue
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_docstrings_say_what_things_do_and_are(
    declarations: dict[Path, list[Declared]],
) -> None:
    found = (ast.get_docstring(node) for nodes in declarations.values() for node in nodes)
    texts = [text for text in found if text]
    assert len(texts) > 6_000
    assert relative(iter(["What it does.", "Whatever", "Return what it does."])) == [
        "What it does."
    ]
    assert len(relative(iter(texts))) < MOST_RELATIVE


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return {
        path: path.read_text(encoding="utf-8") for path in sources(*KINDS) if path != Path(__file__)
    }


@pytest.mark.parametrize("word", OLD)
def test_the_sources_speak_the_words_of_the_field(word: str, texts: dict[Path, str]) -> None:
    pattern = re.compile(OLD[word])
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path, text in texts.items()
        for match in pattern.finditer(text)
    ]
    assert not found, f"say {word}: {found[:20]}"


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("golden model", "the twins do"), ("fork server", "a nursery"),
        ("page backend", "helpDesk"), ("integers", "whole number"),
        ("candidates", "class Ways:"), ("slack", "class Lead:"),
    ],
)  # fmt: skip
def test_old_words_are_seen(word: str, text: str) -> None:
    assert re.search(OLD[word], text)
