"""Numbers as people read them; every figure carries its unit."""

from __future__ import annotations

import math
from collections.abc import Callable

from fuseloom.wording import MANY, agreeing, counted, grouped

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def count(value: float, unit: str) -> str:
    """A count with thousands separators, e.g. ``12,345 cycles`` or ``1 cycle``."""
    if not math.isfinite(value):
        return f"unknown {unit}"
    text = grouped(value)
    return f"{text} {agreeing(text, unit.removesuffix('s'), unit)}"


def short(value: float, unit: str) -> str:
    """A count that fits a narrow place: ``1.23 M cycles`` from a million on."""
    for size, prefix in _PREFIXES if abs(value) < MANY else ():
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{'' if unit == 'B' else ' '}{unit}"
    return count(value, unit)


def change(more: float, unit: str = "", form: Callable[[float, str], str] = short) -> str:
    """A difference with its sign, e.g. ``+1,234 cycles`` or ``−5``; less than a half is ``±0``."""
    if not math.isfinite(more):
        return form(more, unit)
    whole = round(more)
    sign = "+" if whole > 0 else "−" if whole < 0 else "±"
    return f"{sign}{form(abs(whole), unit)}".rstrip()


def ratio(value: float) -> str:
    """A speed-up, e.g. ``2.31×``."""
    return f"{value:.2f}×" if math.isfinite(value) else "—"


def seconds(value: float) -> str:
    """A duration, in milliseconds below one second."""
    return f"{value * 1e3:.0f} ms" if value < 1 else f"{value:.1f} s"


def about(value: float) -> str:
    """A rough duration in words, e.g. ``about 40 seconds``."""
    if value < 1:
        return "less than a second"
    if value < 90:
        rounded = round(value, -1) if value > 10 else round(value)
        return f"about {rounded:.0f} second{'s' * (rounded != 1)}"
    return f"about {counted(value / 60, 'minute')}"


def signed(share: float) -> str:
    """A deviation, e.g. ``+12 %`` or ``−5 %``; less than half a percent is ``±0 %``."""
    text = f"{share * 100:+.0f} %".replace("-", "−")
    return f"±{text[1:]}" if text[1:] == "0 %" else text


def scientific(value: float) -> str:
    """A small number with one digit, e.g. ``3e-7``."""
    if not math.isfinite(value):  # a run that nobody has compared
        return "unknown"
    digits, _, power = f"{value:.0e}".partition("e")
    return f"{digits}e{int(power)}" if value else "0"
