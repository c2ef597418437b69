"""Colours by meaning; every use also carries a text, a number or a shape."""

from __future__ import annotations

from typing import NamedTuple


class RunKind(NamedTuple):
    """The marks for runs of a kind.

    Attributes
    ----------
    token : str
        Of ``tokens.css``: the colour.
    shape : str
        What ``costs/marks.js`` draws.
    sign : str
        The same shape as a character.
    text : str
        What it is called.
    """

    token: str
    shape: str
    sign: str
    text: str


RUN_KINDS = {
    "unfused": RunKind("run-unfused", "square", "■", "preset unfused"),
    "partial": RunKind("run-partial", "diamond", "◆", "preset partial"),
    "full": RunKind("run-full", "triangle", "▲", "preset full"),
    "preset": RunKind("run-other", "hexagon", "⬢", "other preset"),
    "own": RunKind("run-own", "circle", "●", "your own"),
    "searched": RunKind("run-searched", "star", "★", "found by a search"),
    "kept": RunKind("run-kept", "inverted", "▼", "kept in the run store"),
}
"""Kinds of runs; colours are told apart by protanopes and deuteranopes, too (``tokens.py``)."""
