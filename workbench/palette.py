"""Colours by meaning; every use also carries a text, a number or a marker."""

from __future__ import annotations

REGION_FILLS = (
    "#cfe3ff",
    "#ffe6b8",
    "#d3efd0",
    "#e9d8fb",
    "#ffd5d0",
    "#d4eef0",
    "#ecebc4",
    "#e3e6ea",
)
"""Light fills for dark text, in both themes; a region's number tells repeats apart."""

OKABE_ITO = {
    "unfused": "#D55E00",
    "partial": "#0072B2",
    "full": "#009E73",
    "other preset": "#E69F00",
    "yours": "#CC79A7",
    "kept": "#56B4E9",
}
"""Series of the cost plot.  Source: M. Okabe and K. Ito, "Color universal design", 2008."""

MARKERS = {
    "unfused": "square",
    "partial": "diamond",
    "full": "triangle",
    "other preset": "hex",
    "yours": "circle",
    "kept": "inverted_triangle",
}


def region_fill(number: int) -> str:
    """The fill of region ``number``, counted from 0."""
    return REGION_FILLS[number % len(REGION_FILLS)]
