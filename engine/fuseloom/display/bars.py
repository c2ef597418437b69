"""Amounts as bars, to be compared at a glance."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.display.drawing import Drawing, width_of
from fuseloom.display.markup import Markup, tag

LENGTH, HIGH, ROW, TOP = 240.0, 16.0, 26.0, 26.0
"""Pixels: of the longest bar, height of a bar, from bar to bar, and the head."""


def bars(amounts: Mapping[str, float], unit: str = "", *, best: bool = True) -> Drawing:
    """A bar per amount, the longest one as long as the picture allows, with its number behind it.

    Parameters
    ----------
    amounts : mapping
        Names to amounts that are not negative.
    unit : str, optional
        What the amounts count; stands above the bars.
    best : bool
        Whether the least amount is marked, where not all are equal.

    Examples
    --------
    >>> print(bars({"unfused": 22268, "partial": 14106}, "cycles"))
    cycles
    unfused  22,268
    partial  14,106
    """
    texts = {name: f"{amount:,.0f}" for name, amount in amounts.items()}
    left = max(map(width_of, texts), default=0.0) + 12
    most = max(amounts.values(), default=0.0)
    least = min(amounts.values(), default=0.0)
    pieces = [tag("text", unit, x=left, y=15.0, class_="quiet")]
    for k, (name, amount) in enumerate(amounts.items()):
        top = TOP + ROW * k
        long = LENGTH * amount / most if most else 0.0
        marked = "values" if best and amount == least < most else "scan"
        pieces += [
            tag("text", name, x=left - 10, y=top + 13, text_anchor="end"),
            tag(
                "g",
                tag("rect", x=left, y=top, width=max(1.5, long), height=HIGH, class_="box"),
                class_=marked,
            ),
            tag("text", texts[name], x=left + long + 8, y=top + 13, class_="mono"),
        ]
    wide = max(map(len, texts), default=0)
    figures = max(map(len, texts.values()), default=0)
    lines = [f"{name:{wide}}  {text:>{figures}}" for name, text in texts.items()]
    said = "; ".join(f"{name}: {text} {unit}".rstrip() for name, text in texts.items())
    return Drawing(
        said or "no amounts",
        "\n".join([unit, *lines] if unit else lines),
        left + LENGTH + 16 + max(map(width_of, texts.values()), default=0.0),
        TOP + ROW * len(amounts),
        Markup("".join(pieces)),
    )
