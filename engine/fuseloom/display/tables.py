"""Tables of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fuseloom.display.markup import Content, Markup, joined, tag

ROWS = 200
"""Rows that are shown, of a longer table."""
WIDE = 90
"""Pixels of the longest bar."""


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[Content]],
    *,
    figures: Iterable[int] = (),
    foot: Sequence[Content] | None = None,
    caption: str = "",
    limit: int = ROWS,
) -> Markup:
    """A table with a head; the first cell of a row names it.

    Parameters
    ----------
    figures : iterable of int
        Columns of numbers, aligned on the right.
    foot : sequence, optional
        A last row, of sums.
    limit : int
        Rows that are shown; how many are left out is told below.

    Examples
    --------
    >>> print(table(["node", "cycles"], [["<A>", "12"]], figures=[1]))
    <table><thead><tr><th scope="col">node</th><th class="figure" scope="col">cycles</th></tr></thead><tbody><tr><th scope="row">&lt;A&gt;</th><td class="figure">12</td></tr></tbody></table>
    """  # noqa: E501
    right = frozenset(figures)

    def kind(column: int) -> str | None:
        return "figure" if column in right else None

    def row(cells: Sequence[Content]) -> Markup:
        first, *others = cells
        return tag(
            "tr",
            tag("th", first, scope="row", class_=kind(0)),
            (_cell(cell, kind(k)) for k, cell in enumerate(others, start=1)),
        )

    every = list(rows)
    body = [row(cells) for cells in every[:limit]]
    left_out = len(every) - limit
    if left_out > 0:
        text = f"… and {left_out:,} more row{'s' if left_out > 1 else ''}"
        body.append(tag("tr", tag("td", text, colspan=str(len(heads)), class_="quiet")))
    return tag(
        "table",
        tag("caption", caption) if caption else None,
        tag(
            "thead",
            tag("tr", (tag("th", h, class_=kind(k), scope="col") for k, h in enumerate(heads))),
        ),
        tag("tbody", body),
        tag("tfoot", row(foot)) if foot else None,
    )


def bar(share: float, text: str) -> Markup:
    """A bar for a cell, and what it stands for.

    Parameters
    ----------
    share : float
        Its length as a share of the longest, from 0 to 1.

    Examples
    --------
    >>> bar(0.5, "50%")
    '<span class="bar" style="width:45px"></span> 50%'
    """
    wide = max(1, round(WIDE * min(share, 1.0)))
    return joined([tag("span", class_="bar", style=f"width:{wide}px"), f" {text}"])


def _cell(cell: Content, kind: str | None) -> Markup:
    if isinstance(cell, Markup) and cell.startswith("<td"):
        return cell
    return tag("td", cell, class_=kind)
