"""Product of two binary32 numbers."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, signed

from fuseloom.dataflow.rtl.float32.component import WIDTH, FloatUnit, wire
from fuseloom.dataflow.rtl.float32.encoding import (
    BIAS,
    INFINITY,
    QUIET_NAN,
    SIGNIFICAND_BITS,
    leading_zeros,
    rounded,
    selected,
    shifted_left,
    shifted_right,
    unpacked,
)


class Multiplier(FloatUnit):
    """``a * b``, correctly rounded, of all numbers; combinational."""

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        x, y = unpacked(m, "x", self.a), unpacked(m, "y", self.b)
        product = wire(m, "product", 2 * SIGNIFICAND_BITS, x.significand * y.significand)
        total = wire(m, "total", signed(10), x.exponent + y.exponent - BIAS)

        # The highest bit of the product counts 2**(total + 1).  Shifted left by ``total``, or right
        # by its opposite, the product is subnormal; nothing is shifted further left than that.
        zeros = leading_zeros(m, "product", product)
        is_tiny = wire(m, "is_tiny", 1, total <= 0)
        is_deep = wire(m, "is_deep", 1, zeros > total)
        left = wire(
            m, "left", len(zeros), selected((is_tiny, 0), (is_deep, total), otherwise=zeros)
        )
        right = wire(m, "right", 7, Mux(is_tiny, -total, 0))
        exponent = wire(m, "exponent", 9, Mux(is_tiny, 1, total + 1 - left))
        normal = shifted_right(m, "normal", shifted_left(m, "normal", product, left), right)

        sign = x.sign ^ y.sign
        is_zero = x.is_zero | y.is_zero
        is_infinite = x.is_infinite | y.is_infinite
        is_nan = x.is_nan | y.is_nan | (is_zero & is_infinite)
        m.d.comb += self.z.eq(
            selected(
                (is_nan, C(QUIET_NAN, WIDTH)),
                (is_infinite, Cat(C(INFINITY, WIDTH - 1), sign)),
                (is_zero, Cat(C(0, WIDTH - 1), sign)),
                otherwise=rounded(m, "rounded", sign, exponent, normal),
            )
        )
        return m
