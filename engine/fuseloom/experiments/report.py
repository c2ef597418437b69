"""Claims as tables: text for a terminal, Markdown, and the page of the documentation."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

import fuseloom
from fuseloom.experiments.claims import Claim, ClaimKind, ClaimVerdict, Published, number
from fuseloom.experiments.driver import Figure
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.totals import TITLES, by_kind, told, totals
from fuseloom.exploration.store.identity import engine_version
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted

COLUMNS = (
    TextColumn("claim", align=Align.LEFT),
    TextColumn("ours"),
    TextColumn("the paper's"),
    TextColumn("its script's"),
    TextColumn("where", align=Align.LEFT),
    TextColumn("ratio"),
    TextColumn("tolerance"),
    TextColumn("verdict", align=Align.LEFT),
    TextColumn("seconds"),
    TextColumn("GB"),
)


def cells(claim: Claim) -> tuple[str, ...]:
    """A claim as the cells of a row: the paper's is what the paper prints, as it stands there."""
    one = claim.published
    published = one.kind is not ClaimKind.OURS
    ratio = "–" if claim.ratio is None or not published else f"{claim.ratio:.4f}"
    return (
        one.id,
        number(claim.got),
        one.prints or "–",
        number(one.expected) if one.script else "–",
        one.where or "–",
        ratio,
        one.tolerance if published or one.expected is None else _around(one),
        claim.verdict.value + (f" ({claim.notes})" if claim.notes else ""),
        f"{claim.seconds:.1f}",
        f"{claim.bytes / 1e9:.2f}",
    )


def _around(one: Published) -> str:
    """The tolerance of a claim of our own, with the number of ours that it is about."""
    return f"{number(one.expected)} {one.tolerance}" if one.tolerance != "exactly" else "exactly"


def remarks(claim: Claim) -> list[str]:
    """Return the remarks on a claim: its calibration, basis, wide tolerance and difference."""
    one = claim.published
    told = [f"calibrated: {one.fitted}"] if one.fitted else []
    told += [f"compared with {one.basis}"] if one.basis else []
    told += [f"the tolerance: {one.reason}"] if one.reason else []
    if claim.reason or not claim.ok:
        told += [claim.reason or one.why]
    return [" ".join(text.split()) for text in told if text]


def shared_remarks(claims: Sequence[Claim]) -> list[str]:
    """The remarks on claims, each once with the names of the claims that it is about."""
    about: dict[str, list[str]] = {}
    for claim in claims:
        for text in remarks(claim):
            about.setdefault(text, []).append(claim.published.id)
    return [f"{', '.join(f'`{id_}`' for id_ in ids)}: {text}" for text, ids in about.items()]


def text_report(claims: Sequence[Claim]) -> list[str]:
    """A table of each kind, the remarks on its claims, and a line that counts its numbers."""
    if not claims:
        return ["no claims at this size"]
    lines = []
    for kind, own in by_kind(claims):
        lines += [TITLES[kind], *text_table(COLUMNS, [cells(claim) for claim in own])]
        lines += [text.replace("`", "") for text in shared_remarks(own)]
        lines.append("")
    return [*lines, *(f"{total.kind.value}: {told(total)}" for total in totals(claims))]


def markdown_table(claims: Sequence[Claim]) -> list[str]:
    """The same table in Markdown, each claim in words."""
    titles = " | ".join(column.title for column in COLUMNS)
    sides = "|".join("---" if column.align is Align.LEFT else "--:" for column in COLUMNS)
    lines = [f"| {titles} |", f"|{sides}|"]
    for claim in claims:
        _, *rest = (cell.replace("|", "\\|") for cell in cells(claim))
        lines.append(f"| {claim.published.text} (`{claim.published.id}`) | {' | '.join(rest)} |")
    return lines


def markdown_kinds(claims: Sequence[Claim]) -> list[str]:
    """A table in Markdown for each kind, with the remarks on its claims."""
    lines = []
    for kind, own in by_kind(claims):
        lines += [f"{TITLES[kind]}:", "", *markdown_table(own), ""]
        if about := shared_remarks(own):
            lines += [*(f"* {text}" for text in about), ""]
    return lines


def markdown_section(figure: Figure) -> list[str]:
    """A recipe with its claims: what it shows, how it is made, its numbers, and what differs."""
    recipe = figure.recipe
    command = f"fuseloom figures {recipe.id} --size {figure.size.value} --mode {figure.mode.value}"
    lines = [f"## {heading(recipe.id)}: {recipe.title}", "", recipe.text, "", f"`{command}`", ""]
    lines += markdown_kinds(figure.claims)
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
        "docs/reproduction.md`; no number on this page is typed by hand. Each claim has one of "
        "four kinds, fixed before the run, and the kinds are not added up:",
        "",
        *_totals_table(claims),
        "",
        "A published number that several claims rest on counts once, with the worst of their "
        "verdicts. *The paper's* is what the paper prints, as it stands there; *its script's* is "
        "a constant in a script of its artefact. Places are sections, tables and figures, which "
        "all editions of the paper share; their pages differ.",
        "",
        f"* {counted(len(runs), 'run')} and {counted(len(every) - len(runs), 'estimate')} took "
        f"{cpu / 60:,.0f} "
        f"minutes of CPU time and {peak / 1e9:.1f} GB at most. Producing this page took "
        f"{seconds:,.0f} s, using results cached by earlier runs. Seconds in the tables are wall "
        "time on a machine that did other work, too; a run that several claims need counts for "
        "each.",
        "* Every run's results were compared with the dense reference, on large data for some "
        f"rows{apart}; {wrong} were wrong.",
        f"* Engine {engine_version()}{commit()}, Python {platform.python_version()}, "
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


def _totals_table(claims: Sequence[Claim]) -> list[str]:
    lines = [
        "| kind | numbers | hold | differ, explained | differ | missing | claims |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for total in totals(claims):
        counts = [total.numbers, *(total.count(verdict) for verdict in ClaimVerdict), total.claims]
        lines.append(f"| {TITLES[total.kind]} | {' | '.join(f'{n:,}' for n in counts)} |")
    return lines


def commit() -> str:
    """The commit that this code is of, where it is in a repository, and if it was changed since."""
    root = Path(fuseloom.__file__).parent.parent
    try:
        named = _git(root, "log", "-1", "--format=%h %cs")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", ".")
    except (OSError, subprocess.SubprocessError):
        return ""
    return f", commit {named}{' and changes to it' if changed else ''}"


def _git(root: Path, *words: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
