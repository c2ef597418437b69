"""Tables of claims, and the page of the documentation."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

from fuseloom.experiments.claims import ClaimKind, ClaimVerdict, Got, Published, judged
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, RecipeResults
from fuseloom.experiments.report import (
    COLUMNS,
    cells,
    commit,
    heading,
    markdown_table,
    page,
    text_report,
)

ROOT = Path(__file__).parent.parent.parent


def claim(id_: str, kind: ClaimKind = ClaimKind.PREDICTED, **given) -> Published:
    return Published(id_, "cycles", kind, **given)


FITTED = {"expected": 100.0, "within": 0.01, "script": "Fig. 12", "fitted": "the weights"}
CLAIMS = [
    judged(
        claim("12.a", expected=100.0, to=0.5, prints="100×", section="8", place="Fig. 12"),
        Got(100.5),
        seconds=2.0,
        bytes=3e9,
    ),
    judged(claim("12.b", ClaimKind.CALIBRATED, **FITTED, why="it is\n wrong"), Got(50.0)),
    judged(claim("12.c", ClaimKind.PROPERTY, most=1.0), Got(50.0), notes="estimated"),
    judged(claim("12.d", ClaimKind.OURS, most=1.0, basis="b"), None, reason="it was not run"),
    judged(claim("12.e", ClaimKind.OURS, expected=4.0, within=0.1, basis="b"), Got(4.1)),
]


def test_a_table_for_a_terminal() -> None:
    """The kinds apart, each with what is to be said beside its claims."""
    lines = text_report(CLAIMS)
    assert lines[0].startswith("Predicted: ")
    assert "the paper's" in lines[1]
    told = "12.a 100.5 100× – FuseFlow §8, Fig. 12 1.0050 ±0.5 holds 2.0 3.00"
    assert " ".join(lines[2].split()) == told
    assert any("differs (estimated)" in line for line in lines)
    assert "12.b: calibrated: the weights" in lines
    assert "12.b: it is wrong" in lines
    assert "12.d, 12.e: compared with b" in lines
    assert "12.d: it was not run" in lines
    assert lines[-4:] == [
        "predicted: 1 number: 1 holds",
        "calibrated: 1 number: 1 differs, explained",
        "bound or property: 1 number: 1 differs",
        "ours: 2 numbers: 1 holds; 1 is missing",
    ]
    assert text_report([]) == ["no claims at this size"]


def test_the_papers_column_has_what_the_paper_prints() -> None:
    at = [column.title for column in COLUMNS].index
    rows = {one.published.id: cells(one) for one in CLAIMS}
    assert rows["12.a"][at("the paper's")] == "100×"
    assert rows["12.a"][at("its script's")] == "–"
    assert rows["12.b"][at("the paper's")] == "–"
    assert rows["12.b"][at("its script's")] == "100"
    assert rows["12.e"][at("the paper's")] == rows["12.e"][at("ratio")] == "–"
    assert rows["12.e"][at("tolerance")] == "4 ±10 %"


def test_a_table_in_markdown() -> None:
    lines = markdown_table(CLAIMS)
    assert {line.count("|") for line in lines} == {len(COLUMNS) + 1}
    assert "cycles (`12.a`)" in lines[2]


def test_the_commit_is_one_of_the_history() -> None:
    """Of code that is in no repository nothing is said."""
    named = commit()
    assert named == "" or re.match(r", commit [0-9a-f]{7,40} \d{4}-\d\d-\d\d", named)


def test_headings() -> None:
    assert [heading(x) for x in ("table4", "16a", "ours")] == ["Table 4", "Fig. 16a", "Beyond"]


def test_the_page_of_a_run(few) -> None:
    """Every recipe has a section with its command, every claim a row."""
    text = page([*few.values()], ExperimentSize.SMOKE, AccountingMode.PAPER, 1.0)
    for id_, figure in few.items():
        assert f"## {heading(id_)}: {figure.recipe.title}" in text
        assert f"`fuseloom figures {id_} --size smoke --mode paper`" in text
        for claim in figure.claims:
            assert claim.verdict is ClaimVerdict.HOLDS
            assert f"(`{claim.published.id}`) |" in text
    assert "| Predicted: a published number, and nothing fitted | " in text
    assert "the kinds are not added up" in text
    assert "for some rows; 0 were wrong" in text
    assert "```text" in text
    assert "None" not in text


def test_the_page_says_what_was_not_compared(few) -> None:
    figure = few["18"]
    (label, result), *others = figure.results.items()
    odd = RecipeResults({label: replace(result, compared=False), **dict(others)})
    text = page([replace(figure, results=odd)], ExperimentSize.SMOKE, AccountingMode.PAPER, 1.0)
    assert "for some rows, except for 1 for which the comparison would take too long; 0" in text


def test_the_commit_on_the_page_exists() -> None:
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    (named,) = re.findall(r", commit ([0-9a-f]{7,40}) ", text)
    whole = git("rev-parse", "--is-shallow-repository")
    if whole.returncode == 0 and whole.stdout.strip() == "false":
        assert git("cat-file", "-e", f"{named}^{{commit}}").returncode == 0, named


def git(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
