"""The reciprocal of the square root of a binary32 number, by a table."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import C, Cat, Module, signed

from fuseloom.dataflow.rtl.float32.component import WIDTH, FloatUnit, delayed, wire
from fuseloom.dataflow.rtl.float32.encoding import (
    BIAS,
    FRACTION_BITS,
    INFINITY,
    QUIET_NAN,
    leading_zeros,
    rounded,
    selected,
    shifted_left,
    unpacked,
)
from fuseloom.dataflow.rtl.float32.polynomials import STAGES, evaluated, reciprocal_roots

_BITS = 31
"""Bits below the binary point of values of the table."""
_SEGMENTS = 7
"""Bits of the number of segments of [1, 2) and of [2, 4)."""


class ReciprocalRoot(FloatUnit):
    """``1 / sqrt(a)``; 5 stages.

    ``a = m * 4**n`` with m in [1, 4), whose value comes from a quadratic polynomial on each of 256
    segments; it is never subnormal.

    * Stage 1: subnormal numbers are normalised.
    * Stages 2 to 4: the polynomial.
    * Stage 5: rounding.

    A zero gives infinity with its sign, infinity 0, other negative numbers NaN.  The largest error
    of all arguments is 0.623 units in the last place; 2.4 % of the results are not the nearest.
    """

    stages = STAGES + 2
    operands = 1
    max_ulp = 0.65

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        x = unpacked(m, "x", self.a)
        zeros = leading_zeros(m, "x", x.significand)
        normal = shifted_left(m, "normal", x.significand, zeros)
        fraction = delayed(m, wire(m, "fraction", FRACTION_BITS, normal[:FRACTION_BITS]))
        exponent = delayed(m, wire(m, "exponent", signed(10), x.exponent - zeros - BIAS))
        is_nan = x.is_nan | (x.sign & ~x.is_zero)
        flags = wire(m, "flags", 4, Cat(x.sign, is_nan, x.is_zero, x.is_infinite))
        sign, is_nan, is_zero, is_infinite = delayed(m, flags, self.stages - 1)

        place, segment = fraction[:-_SEGMENTS], fraction[-_SEGMENTS:]
        table = reciprocal_roots(1 << _SEGMENTS, _BITS)
        value = evaluated(m, table, Cat(segment, exponent[0]), place)
        # The value is in [1/2, 1); an odd exponent went into it.
        field = wire(m, "field", 8, BIAS - 1 - delayed(m, exponent[1:].as_signed(), STAGES))
        result = selected(
            (is_nan, C(QUIET_NAN, WIDTH)),
            (is_zero, Cat(C(INFINITY, WIDTH - 1), sign)),
            (is_infinite, C(0, WIDTH)),
            otherwise=rounded(m, "rounded", C(0, 1), field, value),
        )
        m.d.comb += self.z.eq(delayed(m, wire(m, "result", WIDTH, result)))
        return m
