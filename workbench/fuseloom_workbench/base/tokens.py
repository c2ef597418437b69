"""The colours of the bench, and whether they can be read and told apart.

Reads ``tokens.css`` and computes contrasts (WCAG 2) and distances (CIE 1976) as people see them
with normal sight, protanopia and deuteranopia (Machado, Oliveira and Fernandes 2009, full
severity)::

    python -m fuseloom_workbench.base.tokens
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from fuseloom.wording import counted
from fuseloom_workbench.base.assets import asset
from fuseloom_workbench.base.palette import RUN_KINDS

THEMES = ("light", "dark")
TEXT, MARK = 4.5, 3.0
"""Least contrast of text, and of lines and marks, with what is behind (WCAG 2, AA)."""
DISTANCE = 11.0
"""Least distance of two colours of a set that are told apart by colour."""
FAMILIES = ("scan", "repeat", "join", "locate", "values", "compute", "acc", "write")
REGIONS = tuple(f"r{k}" for k in range(1, 9))
RUNS = tuple(kind.token for kind in RUN_KINDS.values())
SETS = {
    "families": FAMILIES,
    "regions": REGIONS,
    "runs": RUNS,
    "path, edges, accent": ("crit", "ghost", "accent"),
    "requests": ("reads", "writes"),
    "rows": ("misses", "conflicts"),
}
"""Sets whose members are told apart by colour; states have a sign and words besides."""
SIGHT = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
_TOKEN = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
Colour = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """One figure: of a pair of tokens, in a theme, and the least it must be."""

    theme: str
    what: str
    pair: tuple[str, str]
    value: float
    least: float

    @property
    def ok(self) -> bool:
        return self.value >= self.least

    def __str__(self) -> str:
        sign = "ok  " if self.ok else "FAIL"
        return (
            f"{sign} {self.theme:5} {self.what:22} {self.pair[0]} / {self.pair[1]}: "
            f"{self.value:.2f} (at least {self.least})"
        )


def tokens(theme: str) -> dict[str, str]:
    """Colours of a theme by name, as ``#rrggbb``."""
    which = 2 + THEMES.index(theme)
    return {m[1]: m[which] for m in _TOKEN.finditer(asset("base/tokens.css"))}


def linear(colour: str) -> Colour:
    """Linear red, green and blue, 0 to 1."""
    coded = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """Ratio of two colours' luminances, 1 to 21."""
    light = sorted(float(linear(x) @ (0.2126, 0.7152, 0.0722)) for x in (a, b))
    return (light[1] + 0.05) / (light[0] + 0.05)


def distance(a: str, b: str, sight: str) -> float:
    """Return the visual distance of two colours (CIE 1976 Lab)."""
    return float(np.linalg.norm(_lab(a, sight) - _lab(b, sight)))


def _lab(colour: str, sight: str) -> Colour:
    seen = np.clip(np.array(SIGHT[sight]) @ linear(colour), 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ seen / (0.95047, 1.0, 1.08883)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _texts() -> Iterator[tuple[str, str]]:
    """Text, and what is behind it."""
    fills = [f"{name}-f" for name in (*FAMILIES, *REGIONS)]
    for ink, grounds in (
        ("ink", ["pane", "bg", "sunk", "accent-bg", *fills]),
        ("ink2", ["pane", "sunk", "accent-bg", *fills]),
        ("ink3", ["pane", "sunk", "accent-bg"]),
        ("accent", ["pane", "accent-bg"]),
        ("on-accent", ["accent"]),
        ("crit", ["pane", "crit-bg"]),
        ("good", ["pane", "good-bg"]),
        ("warn", ["pane", "warn-bg"]),
        ("bad", ["pane", "bad-bg"]),
        ("pinned", ["pane"]),
        ("pane", [*REGIONS, *FAMILIES, "ink"]),
    ):
        yield from ((ink, ground) for ground in grounds)
    yield from ((name, f"{name}-f") for name in FAMILIES)


def _marks() -> Iterator[tuple[str, str]]:
    memory = ("reads", "writes", "moved", "misses", "conflicts")
    for name in (*FAMILIES, *REGIONS, *RUNS, *memory, "ghost", "crit", "busy"):
        yield name, "pane"
    yield from (("ghost", "sunk"), ("crit", "sunk"))


def findings() -> list[Finding]:
    """Every figure that is held to a bound."""
    found: list[Finding] = []
    for theme in THEMES:
        colours = tokens(theme)
        for what, pairs, least in (("text", _texts(), TEXT), ("mark", _marks(), MARK)):
            for pair in pairs:
                value = contrast(*(colours[x] for x in pair))
                found.append(Finding(theme, f"contrast of {what}", pair, value, least))
        for name, members in SETS.items():
            for sight in SIGHT:
                closest = _closest(members, colours, sight)
                found.append(Finding(theme, f"{name}, {sight}", *closest, DISTANCE))
    return found


def _closest(
    members: Sequence[str], colours: dict[str, str], sight: str
) -> tuple[tuple[str, str], float]:
    pairs = {(a, b): distance(colours[a], colours[b], sight) for a, b in combinations(members, 2)}
    pair = min(pairs, key=lambda p: pairs[p])
    return pair, pairs[pair]


def main() -> int:
    """Print every figure; 1 if one is out of bounds."""
    found = findings()
    for finding in found:
        print(finding)
    wrong = sum(not finding.ok for finding in found)
    print(f"{counted(len(found), 'figure')}, {wrong} out of bounds")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
