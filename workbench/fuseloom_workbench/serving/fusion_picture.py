"""The picture of the home page: one model, cut in four ways, and the cycles that each takes.

``python docs/build.py`` writes it into ``fusion.html``, so that the server computes nothing; a test
fails where that file is not what the engine gives.  Colours are those of the page's theme.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape

from fuseloom.wording import counted, grouped
from fuseloom_workbench.base.assets import asset
from fuseloom_workbench.serving.door_pictures import REGIONS

ASSET = "serving/fusion.html"
MODEL, DATA = "gcn", "karate"
CELL, GAP, ROW, TOP = 11, 1, 34, 24
STRIP, NUMBERS = 66, 330
"""The left edge of the statements, and the right edge of the bars, in units of the picture."""


@dataclass(frozen=True)
class CutModel:
    """A model under one preset.

    Attributes
    ----------
    name : str
        Of the preset.
    regions : tuple of int
        Statements of each region, in order.
    cycles : int
        Of the simulated run.
    """

    name: str
    regions: tuple[int, ...]
    cycles: int


def shown_picture() -> str:
    """The picture as SVG text, as it was written."""
    return asset(ASSET)


@cache
def cut_models() -> tuple[CutModel, ...]:
    """The model under each of its presets, under its best orders, simulated."""
    import fuseloom as fl

    model, data = fl.load(MODEL, DATA)
    made = []
    for name, schedule in model.presets.items():
        compiled = fl.compile(model.program, schedule, data)
        sizes = tuple(len(one.region.statements) for one in compiled.regions)
        made.append(CutModel(name, sizes, fl.simulate(compiled, data).cycles))
    return tuple(made)


def computed_picture() -> str:
    """The picture, computed anew.

    A row for each preset: a cell for each statement, on a ground for each region, then a bar and
    the number of cycles.
    """
    rows = cut_models()
    statements, most = sum(rows[0].regions), max(row.cycles for row in rows)
    best = min(row.cycles for row in rows)
    left = STRIP + statements * (CELL + GAP) + 14
    title = f"{counted(statements, 'statement')} of a graph network; a colour is a fused region"
    drawn = [_text(0, 10, title, "ink2")]
    for number, row in enumerate(rows):
        y = TOP + ROW * number
        drawn.append(_text(0, y + 14, row.name, "ink"))
        drawn.append(_strip(row, y))
        length = round((NUMBERS - left) * row.cycles / most, 1)
        token = "good" if row.cycles == best else "line2"
        drawn.append(_box(left, y + 3, length, 14, token))
        weight = ' font-weight="700"' if row.cycles == best else ""
        told = f"{grouped(row.cycles)} cycles"
        drawn.append(_text(left + length + 6, y + 14, told, "ink", weight))
    label = f"{title}: " + ", ".join(
        f"{row.name}, {counted(len(row.regions), 'region')}, {grouped(row.cycles)} cycles"
        for row in rows
    )
    height = TOP + ROW * len(rows) - 8
    return (
        f'<svg class="fusion" viewBox="0 0 420 {height}" role="img" '
        f'aria-label="{escape(label)}">{"".join(drawn)}</svg>\n'
    )


def _strip(row: CutModel, y: int) -> str:
    """The statements of a row: cells, on a ground for each region."""
    drawn, x = [], float(STRIP)
    for number, count in enumerate(row.regions):
        width = count * (CELL + GAP) - GAP
        token = f"r{1 + number % REGIONS}"
        drawn.append(_box(x - 1, y, width + 2, 20, token, ' fill-opacity="0.35" rx="3"'))
        drawn += [_box(x + n * (CELL + GAP) + 1, y + 5, CELL - 2, 10, token) for n in range(count)]
        x += count * (CELL + GAP)
    return "".join(drawn)


def _box(x: float, y: float, width: float, height: float, token: str, more: str = "") -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'fill="var(--{token})"{more}/>'
    )


def _text(x: float, y: float, words: str, token: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="var(--{token})"{more}>{escape(words)}</text>'
