"""The pictures on the doors of the home page: what the engine computes, in the page's colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from fuseloom_workbench.base.assets import asset
from fuseloom_workbench.serving import door_pictures
from fuseloom_workbench.serving.door_pictures import ASSET, computed_pictures, shown_pictures

PICTURES = shown_pictures()


def test_they_are_what_the_engine_gives():
    """If this fails, run ``python docs/build.py``."""
    assert computed_pictures() == asset(ASSET)


def test_they_tell_what_is_drawn_by_its_numbers():
    label, drawn = door_pictures.dataflow_picture()
    assert label.endswith("35 nodes")
    squares = [path for path in drawn.split("<path") if 'fill="none"' not in path]
    assert sum(path.count("z") for path in squares) == 35
    label, drawn = door_pictures.calls_picture()
    assert label == "5 calls of an unsharp mask in 3 tiles"
    assert drawn.count("z") == 5 + 3 * 5  # wholes, and a part of each in every tile


@pytest.mark.parametrize("name", PICTURES)
def test_each_has_a_label_and_colours_of_both_themes(name):
    picture = ElementTree.fromstring(PICTURES[name])
    assert picture.get("data-door") == name
    assert picture.get("role") == "img"
    assert re.search(r"\d", picture.get("aria-label", ""))
    known = set(re.findall(r"--([\w-]+):", asset("base/tokens.css")))
    for part in picture:
        colours = [part.get("fill", "none"), part.get("stroke", "none")]
        for colour in colours:
            token = re.fullmatch(r"var\(--([\w-]+)\)|none", colour)
            assert token, colour
            assert token[1] is None or token[1] in known
    numbers = [float(n) for n in re.findall(r"M([\d.]+) ", PICTURES[name])]
    assert max(numbers) <= door_pictures.WIDTH
