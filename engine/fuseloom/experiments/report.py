"""Claims as tables: text for a terminal, Markdown, and the page of the documentation."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import fuseloom
from fuseloom.experiments.claims import Claim, ClaimVerdict, number
from fuseloom.experiments.driver import Figure
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.exploration.store.identity import engine_version
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import agreeing, counted

COLUMNS = (
    TextColumn("claim", align=Align.LEFT),
    TextColumn("ours"),
    TextColumn("the paper's"),
    TextColumn("ratio"),
    TextColumn("tolerance"),
    TextColumn("verdict", align=Align.LEFT),
    TextColumn("seconds"),
    TextColumn("GB"),
)


def cells(claim: Claim) -> tuple[str, ...]:
    """A claim as the cells of a row."""
    ratio = "–" if claim.ratio is None else f"{claim.ratio:.4f}"
    return (
        claim.published.id,
        number(claim.got),
        number(claim.expected),
        ratio,
        claim.published.tolerance,
        claim.verdict.value + (f" ({claim.notes})" if claim.notes else ""),
        f"{claim.seconds:.1f}",
        f"{claim.bytes / 1e9:.2f}",
    )


def text_report(claims: Sequence[Claim]) -> list[str]:
    """A table, what every claim that does not hold has to say, and a line that counts them."""
    lines = text_table(COLUMNS, [cells(claim) for claim in claims])
    for claim in claims:
        told = claim.reason or (claim.published.why if not claim.ok else "")
        if told:
            lines.append(f"{claim.published.id}: {' '.join(told.split())}")
    return [*lines, verdicts(claims)]


def verdicts(claims: Iterable[Claim]) -> str:
    """Return the number of the claims, and of those of each verdict."""
    every = [claim.verdict for claim in claims]
    if not every:
        return "no claims at this size"
    counts = {verdict: every.count(verdict) for verdict in ClaimVerdict}
    texts = {
        ClaimVerdict.HOLDS: agreeing(counts[ClaimVerdict.HOLDS], "holds", "hold"),
        ClaimVerdict.EXPLAINED: agreeing(
            counts[ClaimVerdict.EXPLAINED], "differs, explained", "differ, each explained"
        ),
        ClaimVerdict.DIFFERS: agreeing(counts[ClaimVerdict.DIFFERS], "differs", "differ"),
        ClaimVerdict.MISSING: agreeing(counts[ClaimVerdict.MISSING], "is missing", "are missing"),
    }
    parts = [f"{count:,} {texts[verdict]}" for verdict, count in counts.items() if count]
    return f"{counted(len(every), 'claim')}: {'; '.join(parts)}"


def markdown_table(claims: Sequence[Claim]) -> list[str]:
    """The same table in Markdown, each claim in words."""
    lines = [
        "| claim | ours | the paper's | ratio | tolerance | verdict | seconds | GB |",
        "|---|--:|--:|--:|--:|---|--:|--:|",
    ]
    for claim in claims:
        _, *rest = cells(claim)
        rest[3] = rest[3].replace("|", "\\|")
        lines.append(f"| {claim.published.text} (`{claim.published.id}`) | {' | '.join(rest)} |")
    return lines


def markdown_section(figure: Figure) -> list[str]:
    """A recipe with its claims: what it shows, how it is made, its numbers, and what differs."""
    recipe = figure.recipe
    command = f"fuseloom figures {recipe.id} --size {figure.size.value} --mode {figure.mode.value}"
    lines = [f"## {heading(recipe.id)}: {recipe.title}", "", recipe.text, "", f"`{command}`", ""]
    if figure.claims:
        lines += [*markdown_table(figure.claims), ""]
        for claim in figure.claims:
            told = claim.reason or (claim.published.why if not claim.ok else "")
            if told:
                lines.append(f"* `{claim.published.id}`: {' '.join(told.split())}")
        if lines[-1]:
            lines.append("")
    for panel in figure.panels:
        if not panel.plotted:
            lines += [f"{panel.title}:", "", "```text", *panel.text.splitlines(), "```", ""]
    return lines


def heading(id_: str) -> str:
    """Return the heading of a recipe: ``Table 4``, ``Fig. 16a``, or one beyond the paper."""
    if id_ == "ours":
        return "Beyond"
    return f"Table {id_.removeprefix('table')}" if id_.startswith("table") else f"Fig. {id_}"


def page(
    figures: Sequence[Figure], size: ExperimentSize, mode: AccountingMode, seconds: float
) -> str:
    """The page of the documentation: every claim of a run, and what it was run on."""
    claims = [claim for figure in figures for claim in figure.claims]
    every = {
        result.key or id(result): result
        for figure in figures
        for _, result in figure.results.items()
    }
    cpu = sum(result.cpu for result in every.values())
    peak = max((result.peak for result in every.values()), default=0.0)
    runs = [result for result in every.values() if not result.estimated]
    wrong = sum(not result.ok for result in runs)
    large = sum(not result.compared for result in runs)
    apart = f", except for {large} for which the comparison would take too long" if large else ""
    lines = [
        "# Reproduction",
        "",
        f"Made by `fuseloom figures --size {size.value} --mode {mode.value} --report "
        "docs/reproduction.md`; no number on this page is typed by hand. "
        f"{verdicts(claims)}.",
        "",
        f"* {counted(len(runs), 'run')} and {counted(len(every) - len(runs), 'estimate')} took "
        f"{cpu / 60:,.0f} "
        f"minutes of CPU time and {peak / 1e9:.1f} GB at most. Producing this page took "
        f"{seconds:,.0f} s, using results cached by earlier runs. Seconds in the tables are wall "
        "time on a machine that did other work, too; a run that several claims need counts for "
        "each.",
        "* Every run's results were compared with the dense reference, on large data for some "
        f"rows{apart}; {wrong} were wrong.",
        f"* Engine {engine_version()}{_commit()}, Python {platform.python_version()}, "
        f"{counted(os.cpu_count() or 1, 'core')}.",
        "* `estimated`: the run is beyond the budget, and `--heavy` does it. `stand-in data`: the "
        "graph was generated at random with the published one's nodes, edges and two-hop paths.",
        "* `differs, explained`: the number is outside its tolerance, and the arithmetic below the "
        "table says why.",
        "",
    ]
    for figure in figures:
        lines += markdown_section(figure)
    return "\n".join(lines).rstrip() + "\n"


def _commit() -> str:
    """The commit that this code is of, where it is in a repository."""
    root = Path(fuseloom.__file__).parent.parent
    command = ["git", "-C", str(root), "log", "-1", "--format=%h %cs"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return f", commit {done.stdout.strip()}"
