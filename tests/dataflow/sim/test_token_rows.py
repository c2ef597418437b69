"""Streams drawn token by token."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from fuseloom.dataflow.sim.token_rows import MOST, streams
from fuseloom.dataflow.sim.tokens import DONE, Stop
from fuseloom.errors import SimulationError


def boxes(svg: str) -> list[tuple[str, str]]:
    """Class and text of every token."""
    space = "{http://www.w3.org/2000/svg}"
    groups = [g for g in ElementTree.fromstring(svg).iter(f"{space}g") if g.get("class")]
    return [(g.get("class") or "", g.findtext(f"{space}text") or "") for g in groups]


def test_tokens_have_the_colour_of_their_stream() -> None:
    drawn = boxes(streams({"crd i": "0@1 S0@2 D@3", "val": [np.float32(0.5), Stop(0), DONE]}).svg)
    assert drawn == [
        *[("scan", "0"), ("write", "S0"), ("write", "D")],
        *[("values", "0.5"), ("write", "S0"), ("write", "D")],
    ]
    assert boxes(streams({"s": "R S D"}, kinds={"s": "sig"}).svg)[0] == ("repeat", "R")
    assert boxes(streams({"a": "-1 D"}, kinds={"a": "val"}).svg)[0] == ("values", "-1")


def test_a_wrong_token_is_marked() -> None:
    assert streams({"crd": "0 1 D"}, wrong={"crd": 1}).svg.count("box bad") == 1


def test_long_streams_say_what_is_left_out() -> None:
    drawing = streams({"crd": ["1"] * (MOST + 3)})
    assert len(boxes(drawing.svg)) == MOST
    assert "+3" in drawing.svg


def test_what_is_no_token_is_refused() -> None:
    with pytest.raises(SimulationError, match="'x' is not a token"):
        streams({"crd": "0 x"})
    assert str(streams({})) == ""
