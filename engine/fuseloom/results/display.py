"""Checks and records of runs as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fuseloom.display import Markup, shown, table, tag
from fuseloom.results.check import Check
from fuseloom.results.record import RunRecord
from fuseloom.wording import counted, grouped


def check_html(check: Check | None) -> Markup:
    """The verdict, green or red; a paragraph to be put into something."""
    if check is None:
        return tag("p", "Not compared with what it should be.", class_="quiet")
    sign = "✓" if check.ok else "✕"
    return tag("p", f"{sign} {check}", class_="good" if check.ok else "bad")


def check_shown(check: Check) -> Markup:
    """The verdict by itself."""
    return shown(check_html(check))


def figures_html(
    regions: Iterable[tuple[str, float, float, float]],
    total: tuple[float, float, float],
    more: Sequence[tuple[str, Sequence[str]]] = (),
) -> Markup:
    """Cycles, FLOPs and bytes by region.

    Parameters
    ----------
    more : sequence of (str, sequence of str)
        Further columns with their texts, a last one for the total.
    """
    named = [(name, *map(grouped, figures)) for name, *figures in regions]
    rows = [(*row, *(texts[k] for _, texts in more)) for k, row in enumerate(named)]
    foot = ("total", *map(grouped, total), *(texts[-1] for _, texts in more))
    heads = ["region", "cycles", "FLOPs", "bytes", *(head for head, _ in more)]
    return table(heads, rows, figures=range(1, len(heads)), foot=foot if len(rows) > 1 else None)


def record_html(record: RunRecord) -> Markup:
    """Show the subject of a run, its figures and its verdict."""
    data = "" if record.data is None else f" on {record.data.label}"
    regions = [(r.name, r.cycles, r.flops, r.bytes) for r in record.regions]
    return shown(
        tag(
            "h4",
            f"{record.name}{data}: {counted(record.cycles, 'cycle')} on machine "
            f"{record.machine.name}",
        ),
        figures_html(regions, (record.cycles, record.flops, record.bytes)),
        check_html(record.check),
        tag("p", tag("code", record.schedule or "every statement by itself"), class_="quiet"),
    )
