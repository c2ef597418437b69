"""The results of a sweep, as a notebook shows them."""

from __future__ import annotations

from fuseloom.display import Content, Markup, bar, shown, table, tag
from fuseloom.exploration.sweep.explored import SHOWN, Explored, ExploredRow
from fuseloom.wording import counted


def explored_html(found: Explored) -> Markup:
    """The configurations with the fewest cycles first, as far as there is room."""
    ranked = found.ranked
    known = [row.figure for row in ranked if row.figure < float("inf")]
    most = max(known[:SHOWN], default=1.0) or 1.0
    heads = (*found.axes, "estimated", "cycles", "bytes", "state")
    n = len(found.axes)
    done = sum(row.cycles is not None for row in ranked)
    open_ = "" if found.complete else "; not complete"
    return shown(
        tag("h4", f"{counted(len(found), 'configuration')}, {done:,} of them simulated{open_}"),
        table(
            heads,
            [_cells(row, found, most) for row in ranked],
            figures=(n, n + 2),
            limit=SHOWN,
        ),
    )


def _cells(row: ExploredRow, found: Explored, most: float) -> list[Content]:
    cycles = bar(row.cycles / most, f"{row.cycles:,}") if row.cycles is not None else ""
    state = "" if row.state is None else row.state.value
    return [
        *(row.values[name] for name in found.axes),
        "" if row.estimated is None else f"{row.estimated:,.0f}",
        cycles,
        "" if row.bytes is None else f"{row.bytes:,.0f}",
        f"{state}: {row.reason}" if row.reason else state,
    ]
