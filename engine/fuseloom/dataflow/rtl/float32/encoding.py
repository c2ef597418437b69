"""Fields of a binary32 encoding, normalisation, and rounding to nearest, ties to even.

The format is that of IEEE 754-2019, section 3.4: a sign, an exponent with a bias of 127 and a
fraction of 23 bits.  Subnormal numbers are treated as numbers: their exponent is 1 and their hidden
bit 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import C, Cat, Module, Mux

from fuseloom.dataflow.rtl.float32.component import WIDTH, wire

FRACTION_BITS = 23
SIGNIFICAND_BITS = FRACTION_BITS + 1
"""Bits of a significand with its hidden bit."""
EXPONENT_BITS = 8
BIAS = 127
QUIET_NAN = 0x7FC00000
"""The NaN that every operation gives."""
INFINITY = 0x7F800000
"""The encoding of positive infinity."""


@dataclass(frozen=True)
class Unpacked:
    """The fields of an operand; its finite value is ``significand * 2**(exponent - 150)``."""

    sign: Any
    exponent: Any
    """The exponent with its bias, at least 1 (8 bits)."""
    significand: Any
    """The fraction below the hidden bit (24 bits)."""
    is_zero: Any
    is_infinite: Any
    is_nan: Any


def unpacked(m: Module, name: str, bits: Any) -> Unpacked:
    """Split an encoding; ``name`` begins the names of the signals."""
    fraction, exponent = bits[:FRACTION_BITS], bits[FRACTION_BITS : WIDTH - 1]
    is_small = wire(m, f"{name}_is_small", 1, exponent == 0)
    is_special = wire(m, f"{name}_is_special", 1, exponent.all())
    has_fraction = wire(m, f"{name}_has_fraction", 1, fraction.any())
    return Unpacked(
        sign=bits[WIDTH - 1],
        exponent=Cat(exponent[0] | is_small, exponent[1:]),
        significand=Cat(fraction, ~is_small),
        is_zero=is_small & ~has_fraction,
        is_infinite=is_special & ~has_fraction,
        is_nan=is_special & has_fraction,
    )


def leading_zeros(m: Module, name: str, value: Any) -> Any:
    """The number of zeros above the highest one, by a binary search; of 0, all ones.

    The result has as many bits as the number of bits of ``value`` needs.
    """
    steps = len(value).bit_length()
    rest = Cat(C(0, (1 << steps) - len(value)), value)
    found = []
    for step in reversed(range(steps)):
        half = 1 << step
        rest = wire(m, f"{name}_rest_{step}", 2 * half, rest)
        is_lower = wire(m, f"{name}_zeros_{step}", 1, rest[half:] == 0)
        found.append(is_lower)
        rest = Mux(is_lower, rest[:half], rest[half:])
    return wire(m, f"{name}_zeros", steps, Cat(*reversed(found)))


def shifted_left(m: Module, name: str, value: Any, amount: Any) -> Any:
    """The value, shifted left within its width."""
    width = len(value)
    for step in range(len(amount)):
        by = min(1 << step, width)
        shifted = Cat(C(0, by), value[: width - by])
        value = wire(m, f"{name}_left_{step}", width, Mux(amount[step], shifted, value))
    return value


def shifted_right(m: Module, name: str, value: Any, amount: Any) -> Any:
    """The value, shifted right; its lowest bit is also 1 if a one was shifted out (sticky)."""
    width = len(value)
    for step in range(len(amount)):
        by = min(1 << step, width - 1)
        shifted = Cat(value[: by + 1].any(), value[by + 1 :])
        value = wire(m, f"{name}_right_{step}", width, Mux(amount[step], shifted, value))
    return value


def rounded(m: Module, name: str, sign: Any, exponent: Any, significand: Any) -> Any:
    """Round to nearest, ties to even, and encode; too large numbers become infinite.

    Parameters
    ----------
    m : Module
        The module that the circuit becomes a part of.
    name : str
        The beginning of the names of its signals.
    sign : Value
        The sign of the result (1 bit).
    exponent : Value
        The exponent with its bias, at least 1, of a significand whose highest bit is 1.
    significand : Value
        At least 26 bits, of which the highest has the weight of the hidden bit.  It may be 0 where
        the exponent is 1, or where the value is 0.  The lowest bit is sticky: it stands for
        everything below it.

    Returns
    -------
    Value
        The encoding (32 bits).
    """
    kept, guard = significand[-SIGNIFICAND_BITS:], significand[-SIGNIFICAND_BITS - 1]
    below = significand[: -SIGNIFICAND_BITS - 1]
    up = wire(m, f"{name}_up", 1, guard & (below.any() | kept[0]))
    field = Mux(kept[-1], exponent[:EXPONENT_BITS], 0)
    magnitude = wire(m, f"{name}_magnitude", WIDTH - 1, Cat(kept[:FRACTION_BITS], field) + up)
    is_large = wire(m, f"{name}_is_large", 1, kept[-1] & (exponent >= (1 << EXPONENT_BITS) - 1))
    return Cat(Mux(is_large, C(INFINITY, WIDTH - 1), magnitude), sign)


def selected(*cases: tuple[Any, Any], otherwise: Any) -> Any:
    """The value of the first condition that holds."""
    for condition, value in reversed(cases):
        otherwise = Mux(condition, value, otherwise)
    return otherwise
