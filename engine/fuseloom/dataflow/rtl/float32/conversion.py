"""Conversions between integers of 32 bits in two's complement and binary32 numbers."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux

from fuseloom.dataflow.rtl.float32.component import WIDTH, FloatUnit, wire
from fuseloom.dataflow.rtl.float32.encoding import (
    BIAS,
    SIGNIFICAND_BITS,
    leading_zeros,
    rounded,
    selected,
    shifted_left,
    unpacked,
)

_TOP = BIAS + WIDTH - 1
"""The exponent, with its bias, of 2**31."""


class FromInteger(FloatUnit):
    """The number nearest to the integer ``a``, ties to even; combinational."""

    operands = 1

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        sign = self.a[WIDTH - 1]
        flipped = self.a ^ sign.replicate(WIDTH)
        magnitude = wire(m, "magnitude", WIDTH, flipped + sign)
        zeros = leading_zeros(m, "magnitude", magnitude)
        normal = shifted_left(m, "normal", magnitude, zeros[:5])
        exponent = wire(m, "exponent", 8, _TOP - zeros)
        m.d.comb += self.z.eq(rounded(m, "rounded", sign, exponent, normal))
        return m


class ToInteger(FloatUnit):
    """The integer next to ``a`` towards 0; combinational.

    Beyond the integers of 32 bits, the nearest of them; 0 where ``a`` is NaN.
    """

    operands = 1
    max_ulp = 0.0

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        x = unpacked(m, "x", self.a)
        is_large = wire(m, "is_large", 1, x.exponent >= _TOP)
        is_fraction = wire(m, "is_fraction", 1, x.exponent < BIAS)
        shift = wire(m, "shift", 5, _TOP - x.exponent)
        aligned = Cat(C(0, WIDTH - SIGNIFICAND_BITS), x.significand)
        magnitude = wire(m, "magnitude", WIDTH, Mux(is_fraction, 0, aligned >> shift))
        flipped = magnitude ^ x.sign.replicate(WIDTH)
        m.d.comb += self.z.eq(
            selected(
                (x.is_nan, C(0, WIDTH)),
                (is_large, Cat((~x.sign).replicate(WIDTH - 1), x.sign)),
                otherwise=(flipped + x.sign)[:WIDTH],
            )
        )
        return m
