"""Points and lines between two axes, with names beside the points.

Names stand where nothing else does; where there is no such place near a point, its name is only
told when it is pointed at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fuseloom.display.drawing import Drawing, width_of
from fuseloom.display.markup import Markup, tag

LEFT, RIGHT, TOP, BOTTOM = 74.0, 24.0, 16.0, 46.0
"""Pixels around the area of the plot."""
DOT, LETTER = 4.5, 13.0
"""Radius of a point, and height of a name."""
_SPACE = 0.07
"""Share of the area that is left free beyond the outermost points."""


@dataclass(frozen=True)
class PlotMark:
    """A point with a name.

    Attributes
    ----------
    kind : str
        ``good``, ``bad`` or ``quiet`` in these colours; otherwise in that of accents.

    Examples
    --------
    >>> marks = [PlotMark(2, 10, "slow", "bad"), PlotMark(4, 5, "fast", "good")]
    >>> print(plot(marks, x="lanes", y="cycles", title="Twice the lanes"))
    Twice the lanes
    slow: lanes 2, cycles 10
    fast: lanes 4, cycles 5
    """

    x: float
    y: float
    name: str = ""
    kind: str = "accent"


@dataclass(frozen=True)
class PlotLine:
    """A line through points, with a name at its last one.

    Attributes
    ----------
    broken : bool
        Drawn with gaps: a limit, or what is expected.

    Examples
    --------
    >>> limit = PlotLine([(0, 0), (2, 8)], "at most", broken=True)
    >>> drawn = plot([PlotMark(1, 4)], [limit], x="bytes", y="FLOPs", title="Below a limit")
    >>> "at most" in drawn._repr_html_()
    True
    """

    points: Sequence[tuple[float, float]]
    name: str = ""
    broken: bool = False


@dataclass(frozen=True)
class _Axis:
    """The axis that maps values to positions between two pixels."""

    low: float
    high: float
    start: float
    stop: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high = self._of(self.low), self._of(self.high)
        share = (self._of(value) - low) / (high - low)
        return self.start + (self.stop - self.start) * share

    def _of(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self) -> list[float]:
        """Round values, some of them on the axis."""
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1, 2, 5) if self.high / self.low < 1000 else (1,)
            found = [m * 10.0**d for d in decades for m in steps]
        else:
            rough = (self.high - self.low) / 7
            unit = 10.0 ** math.floor(math.log10(rough))
            step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)
            first = math.ceil(self.low / step)
            found = [step * k for k in range(first, first + 12)]
        return [value for value in found if self.low <= value <= self.high]


def plot(
    marks: Iterable[PlotMark],
    lines: Iterable[PlotLine] = (),
    *,
    x: str,
    y: str,
    title: str,
    log: bool = False,
    width: float = 640.0,
    height: float = 340.0,
) -> Drawing:
    """Points and lines.

    Parameters
    ----------
    x, y : str
        What the axes are, with units.
    title : str
        What is shown, in a sentence, for those who cannot see it.
    log : bool
        Whether both axes go by factors; then all values are above 0.  Otherwise both begin at 0
        where nothing is negative.

    Examples
    --------
    >>> made = plot([PlotMark(1, 2, "a")], x="bytes", y="cycles", title="What a takes")
    >>> print(made)
    What a takes
    a: bytes 1, cycles 2
    """
    dots, paths = list(marks), list(lines)
    every = [(m.x, m.y) for m in dots] + [point for line in paths for point in line.points]
    across = _axis([p[0] for p in every], LEFT, width - RIGHT, log)
    up = _axis([p[1] for p in every], height - BOTTOM, TOP, log)
    pieces = [*_frame(across, up, x, y), *(_drawn(line, across, up) for line in paths)]
    taken = [_around(across(m.x), up(m.y)) for m in dots]
    for line in paths:
        taken += _along([(across(px), up(py)) for px, py in line.points])
        if line.name:
            end = (across(line.points[-1][0]), up(line.points[-1][1]) - 6)
            pieces.append(_text(*end, line.name, "end", "quiet"))
            taken.append(_box(*end, line.name, "end"))
    for mark in dots:
        px, py = across(mark.x), up(mark.y)
        said = f"{mark.name}: {x} {number(mark.x)}, {y} {number(mark.y)}"
        dot = tag("circle", tag("title", said), cx=px, cy=py, r=DOT, fill=f"var(--{mark.kind})")
        pieces.append(dot)
        place = _free(px, py, mark.name, taken, width) if mark.name else None
        if place is not None:
            taken.append(_box(*place[:2], mark.name, place[2]))
            pieces.append(_text(*place[:2], mark.name, place[2]))
    rows = [f"{m.name}: {x} {number(m.x)}, {y} {number(m.y)}" for m in dots]
    rows += [f"{line.name} (line)" for line in paths if line.name]
    return Drawing(title, "\n".join([title, *rows]), width, height, Markup("".join(pieces)))


def number(value: float) -> str:
    """A number in few letters.

    Examples
    --------
    >>> [number(v) for v in (201940.0, 12.5, 0.1924, 0)]
    ['201,940', '12.5', '0.192', '0']
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _axis(values: Sequence[float], start: float, stop: float, log: bool) -> _Axis:
    low, high = min(values, default=1.0), max(values, default=1.0)
    if log:
        low, high = math.log10(low), math.log10(high)
        more = max((high - low) * _SPACE, 0.1)
        return _Axis(10 ** (low - more), 10 ** (high + more), start, stop, log)
    low = min(low, 0.0)
    more = (high - low) * _SPACE or 1.0
    return _Axis(low if low == 0 else low - more, high + more, start, stop, log)


def _frame(across: _Axis, up: _Axis, x: str, y: str) -> Iterable[Markup]:
    for value in across.ticks():
        at = across(value)
        yield _rule(at, up.start, at, up.stop)
        yield _text(at, up.start + 15, number(value), "middle", "quiet")
    for value in up.ticks():
        at = up(value)
        yield _rule(across.start, at, across.stop, at)
        yield _text(across.start - 7, at + 4, number(value), "end", "quiet")
    middle = (up.start + up.stop) / 2
    yield _text((across.start + across.stop) / 2, up.start + 36, x, "middle")
    yield tag("text", y, x=0.0, y=0.0, text_anchor="middle",
              transform=f"translate(14 {middle:.1f}) rotate(-90)")  # fmt: skip


def _rule(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return tag("path", d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", stroke="var(--line)")


def _drawn(line: PlotLine, across: _Axis, up: _Axis) -> Markup:
    path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in line.points)
    return tag("path", d=f"M{path}", stroke="var(--ink2)", stroke_width=1.5, fill="none",
               stroke_dasharray="6 4" if line.broken else None)  # fmt: skip


def _text(x: float, y: float, text: str, anchor: str, kind: str | None = None) -> Markup:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)


Box = tuple[float, float, float, float]


def _around(x: float, y: float) -> Box:
    return (x - DOT, y - DOT, x + DOT, y + DOT)


def _along(points: Sequence[tuple[float, float]]) -> list[Box]:
    """Small boxes on a line, so that names keep away from it."""
    return [
        (x0 + (x1 - x0) * k / 40, y0 + (y1 - y0) * k / 40) * 2
        for (x0, y0), (x1, y1) in pairwise(points)
        for k in range(41)
    ]


def _box(x: float, y: float, text: str, anchor: str) -> Box:
    wide = width_of(text)
    left = {"start": x, "end": x - wide, "middle": x - wide / 2}[anchor]
    return (left, y - LETTER + 2, left + wide, y + 2)


def _free(
    x: float, y: float, text: str, taken: Sequence[Box], width: float
) -> tuple[float, float, str] | None:
    """A place beside a point where nothing stands yet, if there is one near."""
    for far in range(4):
        up, down = y - 9 - LETTER * far, y + 17 + LETTER * far
        for place in (
            (x + 9, y + 4, "start"), (x - 9, y + 4, "end"), (x, up, "middle"), (x, down, "middle"),
            (x + 9, up, "start"), (x + 9, down, "start"), (x - 9, up, "end"), (x - 9, down, "end"),
        ):  # fmt: skip
            left, top, right, bottom = _box(*place[:2], text, place[2])
            inside = left >= LEFT and right <= width - 2 and top >= 0
            if inside and not any(
                left < r and right > b and top < e and bottom > t for b, t, r, e in taken
            ):
                return place
    return None
