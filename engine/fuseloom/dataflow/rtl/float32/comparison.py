"""The maximum of two binary32 numbers, and the maximum of a number and zero."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux

from fuseloom.dataflow.rtl.float32.component import WIDTH, FloatUnit, wire
from fuseloom.dataflow.rtl.float32.encoding import unpacked


class Maximum(FloatUnit):
    """The larger of ``a`` and ``b``; combinational.

    Of equal numbers the first, zeros with different signs included; NaN where one is NaN, that of
    ``b`` where both are.  This is ``fuseloom.dataflow.sim.golden.functions.larger``.
    """

    max_ulp = 0.0

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        x, y = unpacked(m, "x", self.a), unpacked(m, "y", self.b)
        keys = []
        for name, operand in (("x_key", x), ("y_key", y)):
            # Negative numbers in reverse and below the others: the order of the keys, as unsigned
            # integers, is that of the numbers, but for the two zeros.
            bits = self.a if operand is x else self.b
            flipped = bits[: WIDTH - 1] ^ operand.sign.replicate(WIDTH - 1)
            keys.append(wire(m, name, WIDTH, Cat(flipped, ~operand.sign)))
        is_second = y.is_nan | (~x.is_nan & (keys[1] > keys[0]) & ~(x.is_zero & y.is_zero))
        m.d.comb += self.z.eq(Mux(is_second, self.b, self.a))
        return m


class Relu(FloatUnit):
    """0 where ``a < 0``, otherwise ``a``: -0 and NaN stay as they are; combinational.

    This is ``fuseloom.program.functions.Op.RELU`` of a machine.
    """

    operands = 1
    max_ulp = 0.0

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        x = unpacked(m, "x", self.a)
        m.d.comb += self.z.eq(Mux(x.sign & ~x.is_nan & ~x.is_zero, 0, self.a))
        return m
