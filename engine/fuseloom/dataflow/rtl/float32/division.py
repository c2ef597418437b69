"""Quotient of two binary32 numbers, by a digit recurrence."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, signed

from fuseloom.dataflow.rtl.float32.component import WIDTH, FloatUnit, delayed, wire
from fuseloom.dataflow.rtl.float32.encoding import (
    BIAS,
    INFINITY,
    QUIET_NAN,
    SIGNIFICAND_BITS,
    Unpacked,
    leading_zeros,
    rounded,
    selected,
    shifted_left,
    shifted_right,
    unpacked,
)

_STEPS = 9
"""Stages of the recurrence."""
_DIGITS = 3
"""Bits of the quotient that a stage finds; 26 are needed: 24, a guard bit, and one more where the
quotient of the significands is below 1."""
_EXPONENT = signed(10)
"""The shape of the exponent of a quotient of subnormal numbers, with its bias."""


class Divider(FloatUnit):
    """``a / b``, correctly rounded, of all numbers; 11 stages.

    The first normalises both operands, nine find three bits each of the quotient by restoring
    division (the remainder is compared with the divisor and doubled, bit by bit), the last one
    makes small quotients subnormal and rounds.
    """

    stages = _STEPS + 2

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        x, y = unpacked(m, "x", self.a), unpacked(m, "y", self.b)
        dividend, x_zeros = _normalised(m, "dividend", x)
        divisor, y_zeros = _normalised(m, "divisor", y)
        sign = x.sign ^ y.sign
        is_nan = x.is_nan | y.is_nan | (x.is_zero & y.is_zero) | (x.is_infinite & y.is_infinite)
        is_infinite = x.is_infinite | y.is_zero
        is_zero = x.is_zero | y.is_infinite
        exponent = x.exponent - x_zeros - y.exponent + y_zeros + BIAS
        kept = wire(m, "kept", 4, Cat(sign, is_nan, is_infinite, is_zero))
        sign, is_nan, is_infinite, is_zero = delayed(m, kept, _STEPS + 1)
        exponent = delayed(m, wire(m, "exponent", _EXPONENT, exponent), _STEPS + 1)

        remainder, divisor = delayed(m, Cat(dividend, C(0, 1))), delayed(m, divisor)
        quotient: Any = C(0, 0)
        for step in range(_STEPS):
            for digit in range(_DIGITS):
                name = f"step_{step}_{digit}"
                # The remainder is below twice the divisor, so the sign decides.
                rest = wire(m, f"{name}_rest", SIGNIFICAND_BITS + 1, remainder - divisor)
                fits = wire(m, f"{name}_fits", 1, remainder >= divisor)
                smaller = Mux(fits, rest, remainder)[:SIGNIFICAND_BITS]
                remainder = wire(m, f"{name}_next", SIGNIFICAND_BITS + 1, Cat(C(0, 1), smaller))
                quotient = Cat(fits, quotient)
            remainder, quotient = delayed(m, remainder), delayed(m, quotient)
            divisor = delayed(m, divisor)

        found = wire(m, "found", len(quotient) + 1, Cat(remainder.any(), quotient))
        is_below_one = ~found[-1]
        normal = Mux(is_below_one, Cat(C(0, 1), found[:-1]), found)
        lowered = wire(m, "lowered", _EXPONENT, exponent - is_below_one)
        is_tiny = wire(m, "is_tiny", 1, lowered < 1)
        right = wire(m, "right", 8, Mux(is_tiny, 1 - lowered, 0))
        significand = shifted_right(m, "subnormal", normal, right)
        biased = wire(m, "biased", 9, Mux(is_tiny, 1, lowered))
        result = selected(
            (is_nan, C(QUIET_NAN, WIDTH)),
            (is_infinite, Cat(C(INFINITY, WIDTH - 1), sign)),
            (is_zero, Cat(C(0, WIDTH - 1), sign)),
            otherwise=rounded(m, "rounded", sign, biased, significand),
        )
        m.d.comb += self.z.eq(delayed(m, wire(m, "result", WIDTH, result)))
        return m


def _normalised(m: Module, name: str, operand: Unpacked) -> tuple[Any, Any]:
    """The significand with its highest bit set, and the number of bits it was shifted by."""
    zeros = leading_zeros(m, name, operand.significand)
    return shifted_left(m, name, operand.significand, zeros), zeros
