"""Piecewise quadratic approximation of a function on [0, 1), in fixed point.

The coefficients are computed here, in decimal arithmetic of 40 digits, so they are the same on
every platform: the quadratic polynomial of a segment agrees with the function at both ends and in
the middle.  With segments of width h its error is at most ``0.0081 * h**3`` times the largest third
derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

from amaranth.hdl import Module, Signal

from fuseloom.dataflow.rtl.float32.component import delayed, wire

STAGES = 3
"""Registers of :func:`evaluated`: after the table, and after each multiplication."""
_DIGITS = 40


@dataclass(frozen=True)
class QuadraticTable:
    """``c0 + s * (c1 + s * c2 * t) * t`` of each segment, where t in [0, 1) is the place in it.

    ``s`` is -1 if the function falls, otherwise 1, so that all coefficients are positive.
    """

    bits: int
    """Bits below the binary point of values and coefficients."""
    falls: bool
    rows: tuple[tuple[int, int, int], ...]
    """The coefficients c0, c1, c2 of each segment, times ``2**bits``."""

    @classmethod
    def of(
        cls,
        functions: Sequence[Callable[[Decimal], Decimal]],
        segments: int,
        bits: int,
        falls: bool = False,
    ) -> QuadraticTable:
        """Approximate functions on [0, 1), one after another, by that many segments each."""
        rows = []
        with localcontext() as context:
            context.prec = _DIGITS
            scale = Decimal(1 << bits)
            for function in functions:
                for segment in range(segments):
                    start, middle, end = (
                        function((segment + place) / Decimal(segments)) * scale
                        for place in (Decimal(0), Decimal("0.5"), Decimal(1))
                    )
                    c0, c2 = round(start), round(2 * (start - 2 * middle + end))
                    # So the sum of the coefficients is the value at the end: no result passes it.
                    c1 = round(end) - c0 - c2
                    rows.append((c0, -c1 if falls else c1, c2))
        return cls(bits, falls, tuple(rows))

    def widths(self) -> tuple[int, int, int]:
        """The bits of each coefficient."""
        first, second, third = (max(column).bit_length() for column in zip(*self.rows, strict=True))
        return first, second, third


def evaluated(m: Module, table: QuadraticTable, segment: Any, place: Any) -> Any:
    """The approximation, :data:`STAGES` cycles later.

    Parameters
    ----------
    m : Module
        The module that the circuit becomes a part of.
    table : QuadraticTable
        The coefficients, of ``2**len(segment)`` segments.
    segment : Value
        The number of the segment.
    place : Value
        The place in it, all bits below the binary point.

    Returns
    -------
    Value
        The value times ``2**table.bits``, in as many bits as the first coefficient.  Truncated
        products make it wrong by less than 3, beside the error of the polynomial; it never passes
        the value at the end of the segment.
    """
    widths = table.widths()
    row = Signal(sum(widths), name="row")
    with m.Switch(segment):
        for number, (c0, c1, c2) in enumerate(table.rows):
            with m.Case(number):
                m.d.comb += row.eq(c0 | c1 << widths[0] | c2 << widths[0] + widths[1])
    row, place = delayed(m, row), delayed(m, place)
    c0, c1, c2 = row[: widths[0]], row[widths[0] : -widths[2]], row[-widths[2] :]

    high = place[-min(len(place), widths[2]) :]
    curvature = wire(m, "curvature", widths[2], (c2 * high) >> len(high))
    slope = c1 - curvature if table.falls else c1 + curvature
    slope = delayed(m, wire(m, "slope", widths[1] + (not table.falls), slope))
    c0, place = delayed(m, c0), delayed(m, place)

    change = wire(m, "change", len(slope), (slope * place) >> len(place))
    value = c0 - change if table.falls else c0 + change
    return delayed(m, wire(m, "value", widths[0], value))


@cache
def powers_of_two(segments: int, bits: int) -> QuadraticTable:
    """``2**t`` of t in [0, 1)."""

    def function(t: Decimal) -> Decimal:
        return Decimal(2) ** t

    return QuadraticTable.of([function], segments, bits)


@cache
def reciprocal_roots(segments: int, bits: int) -> QuadraticTable:
    """``1 / sqrt(1 + t)`` of t in [0, 1), and then ``1 / sqrt(2 + 2 * t)``.

    The value 1 is held as the largest below it, so that all have their highest bit at the same
    place; to fewer bits, it rounds to 1.
    """
    largest = 1 - Decimal(1) / (1 << bits)

    def first(t: Decimal) -> Decimal:
        return min(1 / (1 + t).sqrt(), largest)

    def second(t: Decimal) -> Decimal:
        return 1 / (2 + 2 * t).sqrt()

    return QuadraticTable.of([first, second], segments, bits, falls=True)
