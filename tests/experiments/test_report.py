"""Tables of claims, and the page of the documentation."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.experiments.claims import ClaimVerdict, Got, Published, judged
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, RecipeResults
from fuseloom.experiments.report import heading, markdown_table, page, text_report, verdicts

CLAIMS = [
    judged(Published("12.a", "cycles", "s", 100.0, 0.01), Got(100.5), seconds=2.0, bytes=3e9),
    judged(Published("12.b", "cycles", "s", 100.0, 0.01, why="it is\n wrong"), Got(50.0)),
    judged(Published("12.c", "cycles", "s", most=1.0), Got(50.0), notes="estimated"),
    judged(Published("12.d", "cycles", "s", most=1.0), None, reason="it was not run"),
]


def test_a_table_for_a_terminal() -> None:
    lines = text_report(CLAIMS)
    assert "the paper's" in lines[0]
    assert lines[1].split()[:6] == ["12.a", "100.5", "100", "1.0050", "±1", "%"]
    assert lines[1].endswith("holds                    2.0  3.00")
    assert "differs (estimated)" in lines[3]
    assert "12.b: it is wrong" in lines
    assert "12.d: it was not run" in lines
    assert lines[-1] == "4 claims: 1 holds; 1 differs, explained; 1 differs; 1 is missing"
    assert verdicts([]) == "no claims at this size"


def test_a_table_in_markdown() -> None:
    lines = markdown_table(CLAIMS)
    assert {line.count("|") for line in lines} == {9}
    assert "cycles (`12.a`)" in lines[2]


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
    assert "for some rows; 0 were wrong" in text
    assert "```text" in text
    assert "None" not in text


def test_the_page_says_what_was_not_compared(few) -> None:
    figure = few["18"]
    (label, result), *others = figure.results.items()
    odd = RecipeResults({label: replace(result, compared=False), **dict(others)})
    text = page([replace(figure, results=odd)], ExperimentSize.SMOKE, AccountingMode.PAPER, 1.0)
    assert "for some rows, except for 1 for which the comparison would take too long; 0" in text
