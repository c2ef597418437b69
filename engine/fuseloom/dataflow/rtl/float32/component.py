"""The interface of every unit: operands in, a result after a fixed number of cycles."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

WIDTH = 32
"""Bits of an operand and of a result."""


class FloatUnit(wiring.Component):
    """A function of one or two operands, each a bit pattern of 32 bits.

    Inputs ``a`` and, of two operands, ``b``; output ``z``.  A unit accepts operands in every cycle;
    ``z`` belongs to those of :attr:`stages` cycles ago, and nothing marks the cycles whose operands
    mean something.  Registers have no reset, so results of the first cycles are arbitrary.
    """

    stages: int = 0
    """Registers of the domain ``sync`` between operands and result; 0: purely combinational."""
    operands: int = 2
    """The number of operands: 1 or 2."""
    max_ulp: float = 0.5
    """A bound of the distance of a result from the exact value, in units in the last place of the
    exact value; 0.5 if all results are correctly rounded, 0 if they need no rounding."""

    def __init__(self) -> None:
        names = ("a", "b")[: self.operands]
        super().__init__({name: In(WIDTH) for name in names} | {"z": Out(WIDTH)})


def wire(m: Module, name: str, shape: Any, expression: Any) -> Any:
    """A signal of that shape, or of that many bits, that always has the value of an expression.

    An expression that is used twice is two circuits; a signal is one.
    """
    signal = Signal(shape, name=name)
    m.d.comb += signal.eq(expression)
    return signal


def delayed(m: Module, value: Any, cycles: int = 1) -> Any:
    """The value of that many cycles ago, through as many registers without a reset."""
    for _ in range(cycles):
        register = Signal.like(value, reset_less=True)
        m.d.sync += register.eq(value)
        value = register
    return value
