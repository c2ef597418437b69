"""The table of concepts names notebooks and exercises that there are, and every exercise once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuseloom_workbench.notebook.exercises import exercises

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
SECTIONS = ("3", "4.1", "4.2", "5", "6.1", "6.2", "7")
"""Sections of the paper, each of which has concepts in the table."""
CONCEPTS = (
    "POF, IIF, EKF", "global and factored", "higher-order reductions", "formats", "PyTorch",
    "scheduling language", "recomputation", "concordant", "partial order graph", "renaming",
    "merging", "permuted copies", "reference cells", "step 1", "step 2", "step 3", "step 4",
    "from a table to a graph", "parallelization", "sparsity blocking", "dataflow ordering",
    "fusion heuristic", "simulation", "hardware",
)  # fmt: skip
"""Words that name the concepts of these sections."""


def rows() -> list[list[str]]:
    """The rows of both tables, as cells."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def named(cell: str) -> list[str]:
    """The exercises that a cell names, each of a range."""
    found = []
    for word in filter(None, cell.split(", ")):
        first, _, last = word.partition("–")
        assert re.fullmatch(r"\d+\.\d+", first), word
        notebook, number = first.split(".")
        end = int(last.removeprefix(f"{notebook}.")) if last else int(number)
        found += [f"{notebook}.{k}" for k in range(int(number), end + 1)]
    return found


def tables() -> list[tuple[str, list[str]]]:
    """The cell of notebooks and the exercises of each row of both tables."""
    found = []
    for row in rows():
        if len(row) == 4 and row[0] not in {"section", "---"}:
            found.append((row[2], named(row[3])))
        elif len(row) == 3 and row[0] not in {"notebook", "---"}:
            found.append((row[0], named(row[1])))
    return found


def test_every_exercise_is_in_the_tables_once() -> None:
    told = [key for _, keys in tables() for key in keys]
    assert sorted(told) == sorted(set(told))
    assert set(told) == set(exercises())


def test_rows_lead_to_the_notebooks_of_their_exercises() -> None:
    for links, keys in tables():
        numbers = re.findall(r"\[(\d+)\]\(notebooks/(\d\d)_\w+\.md\)", links)
        assert {int(number) for number, _ in numbers} == {
            int(key.partition(".")[0]) for key in keys
        }
        assert all(int(number) == int(page) for number, page in numbers)
        assert keys or links.startswith("none: ")
        for name in re.findall(r"\]\(notebooks/(\w+)\.md\)", links):
            assert (ROOT / "notebooks" / f"{name}.ipynb").is_file()


def test_every_section_has_concepts() -> None:
    assert {row[0] for row in rows() if len(row) == 4} >= set(SECTIONS)


@pytest.mark.parametrize("words", CONCEPTS)
def test_every_concept_is_named(words: str) -> None:
    assert sum(words in row[1] for row in rows() if len(row) == 4) >= 1
