"""Sum and difference of two binary32 numbers."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux

from fuseloom.dataflow.rtl.float32.component import WIDTH, FloatUnit, wire
from fuseloom.dataflow.rtl.float32.encoding import (
    EXPONENT_BITS,
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

_GUARD_BITS = 3
"""Guard, round and sticky bit, which suffice for a correctly rounded sum."""


class Adder(FloatUnit):
    """``a + b``, or ``a - b``, correctly rounded, of all numbers; combinational.

    One path for all cases: the smaller magnitude is aligned, both are added, and the sum is
    normalised by its leading zeros, at most until the exponent is that of subnormal numbers.

    Parameters
    ----------
    subtract : bool
        Whether the sign of ``b`` is flipped.
    """

    def __init__(self, subtract: bool = False) -> None:
        self.subtract = subtract
        super().__init__()

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        a = self.a
        b = Cat(self.b[: WIDTH - 1], ~self.b[WIDTH - 1]) if self.subtract else self.b
        swap = wire(m, "swap", 1, b[: WIDTH - 1] > a[: WIDTH - 1])
        x = unpacked(m, "large", wire(m, "large", WIDTH, Mux(swap, b, a)))
        y = unpacked(m, "small", wire(m, "small", WIDTH, Mux(swap, a, b)))
        differ = wire(m, "differ", 1, x.sign ^ y.sign)

        distance = wire(m, "distance", EXPONENT_BITS, x.exponent - y.exponent)
        guards = C(0, _GUARD_BITS)
        aligned = shifted_right(m, "aligned", Cat(guards, y.significand), distance)
        width = SIGNIFICAND_BITS + _GUARD_BITS + 1
        addend = wire(m, "addend", width, Cat(aligned, C(0, 1)) ^ differ.replicate(width))
        total = wire(m, "total", width, Cat(guards, x.significand) + addend + differ)

        # Shifting left by as much as the exponent makes the sum, whose highest bit is the carry,
        # subnormal.
        zeros = leading_zeros(m, "total", total)
        is_deep = wire(m, "is_deep", 1, zeros > x.exponent)
        shift = wire(m, "shift", len(zeros), Mux(is_deep, x.exponent, zeros))
        exponent = wire(m, "exponent", EXPONENT_BITS + 1, x.exponent + 1 - shift)
        normal = shifted_left(m, "normal", total, shift)

        # What cancels is positive; of zeros with one sign, so is the sum.
        sign = wire(m, "sign", 1, Mux(total == 0, x.sign & y.sign, x.sign))
        is_invalid = x.is_nan | (x.is_infinite & y.is_infinite & differ)
        m.d.comb += self.z.eq(
            selected(
                (is_invalid, C(QUIET_NAN, WIDTH)),
                (x.is_infinite, Cat(C(INFINITY, WIDTH - 1), x.sign)),
                otherwise=rounded(m, "sum", sign, exponent, normal),
            )
        )
        return m
