"""The picture of the home page: what the engine simulates, in the page's colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import fuseloom as fl
from fuseloom.cli.serve import PAGES
from fuseloom_workbench.base.assets import asset
from fuseloom_workbench.serving.fusion_picture import (
    ASSET,
    DATA,
    MODEL,
    computed_picture,
    cut_models,
    shown_picture,
)
from fuseloom_workbench.serving.home import home


def test_it_is_what_the_engine_gives():
    """If this fails, run ``python docs/build.py``."""
    assert computed_picture() == asset(ASSET) == shown_picture()
    assert shown_picture() in home(PAGES)


def test_rows_are_the_presets_and_their_runs():
    model, data = fl.load(MODEL, DATA)
    rows = cut_models()
    assert [row.name for row in rows] == list(model.presets)
    by_name = {row.name: row for row in rows}
    full = fl.compile(model.program, model.presets["full"], data)
    assert by_name["full"].regions == (12,)
    assert by_name["full"].cycles == fl.simulate(full, data).cycles
    assert min(rows, key=lambda row: row.cycles).name == "partial"


def test_cells_and_bars_are_those_of_the_rows():
    picture = ElementTree.fromstring(shown_picture())
    boxes = [part for part in picture if part.tag == "rect"]
    rows = cut_models()
    grounds = [box for box in boxes if box.get("fill-opacity")]
    assert len(grounds) == sum(len(row.regions) for row in rows)
    cells = [box for box in boxes if box.get("height") == "10"]
    assert len(cells) == sum(sum(row.regions) for row in rows)
    bars = [box for box in boxes if box.get("height") == "14"]
    lengths = [float(box.get("width", "")) for box in bars]
    shares = [row.cycles / max(row.cycles for row in rows) for row in rows]
    assert all(abs(a / max(lengths) - b) < 0.01 for a, b in zip(lengths, shares, strict=True))
    assert [box.get("fill") == "var(--good)" for box in bars].count(True) == 1
    known = set(re.findall(r"--([\w-]+):", asset("base/tokens.css")))
    assert {re.sub(r"var\(--|\)", "", part.get("fill", "")) for part in picture} <= known
    label = picture.get("aria-label", "")
    assert all(f"{row.name}, " in label and f"{row.cycles:,} cycles" in label for row in rows)
