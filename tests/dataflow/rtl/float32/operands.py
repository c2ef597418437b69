"""Operands that units are tested with, as bit patterns, and the results that they must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.golden.functions import larger
from fuseloom.program.functions import FUNCTIONS, Op

Words = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

F32 = np.float32
INFINITY = F32(np.inf)


def words(numbers: npt.ArrayLike) -> Words:
    """The bit patterns of numbers."""
    return np.asarray(numbers, F32).view(np.uint32)


def neighbours(number: float) -> list[np.float32]:
    """A number and those beside it."""
    middle = F32(number)
    return [np.nextafter(middle, -INFINITY), middle, np.nextafter(middle, INFINITY)]


def special() -> Words:
    """Zeros, NaN, infinities, ends of ranges, halfway cases, and the neighbours of each."""
    smallest, normal, largest = 2.0**-149, 2.0**-126, float(np.finfo(F32).max)
    numbers = [F32(0), INFINITY, F32(largest), np.nextafter(F32(largest), F32(0))]
    middle = (
        smallest, 3 * smallest, normal - smallest, normal, 2 * normal, 2.0**-75, 2.0**-64, 2.0**-63,
        2.0**-25, 2.0**-24, 2.0**-23, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, np.log(2.0), 1 / 3, 88.722839,
        87.33655, 103.97208, 2.0**23, 2.0**24, 3.0 * 2.0**23, 2.0**31, 2.0**32, 2.0**63, 2.0**127,
    )  # fmt: skip
    for number in middle:
        numbers += neighbours(number)
    positive = words(numbers)
    nans = np.array([0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF], np.uint32)
    integers = np.array([1, 2, 0x01000001, 0x01000003, 0x7FFFFFBF, 0x7FFFFFC0], np.uint32)
    positive = np.unique(np.concatenate([positive, nans, integers]))
    return np.concatenate([positive, positive | np.uint32(1 << 31)])


def pairs(each: Words) -> tuple[Words, Words]:
    """All pairs."""
    a, b = np.meshgrid(each, each, indexing="ij")
    return a.ravel(), b.ravel()


def uniform(count: int, random: np.random.Generator) -> tuple[Words, Words]:
    """Random bit patterns."""
    a, b = random.integers(0, 1 << 32, (2, count), np.uint32)
    return a, b


def _fractions(count: int, random: np.random.Generator) -> Words:
    """Random fractions, of which many end in zeros or ones: ties, and what is next to them."""
    drawn = random.integers(0, 1 << 23, count, np.uint32)
    low = (1 << random.integers(0, 24, count, np.uint32)) - np.uint32(1)
    kind = random.integers(0, 4, count)
    return np.select([kind == 0, kind == 1], [drawn & ~low, drawn | low], drawn) & 0x7FFFFF


def _encoded(exponents: npt.NDArray[np.int64], random: np.random.Generator) -> Words:
    signs = random.integers(0, 2, len(exponents), np.uint32)
    fields = np.clip(exponents, 0, 255).astype(np.uint32)
    return (signs << 31 | fields << 23 | _fractions(len(exponents), random)).astype(np.uint32)


def near(count: int, random: np.random.Generator) -> tuple[Words, Words]:
    """Pairs of near exponents; of a quarter, the product or the quotient is next to the ends."""
    first = random.integers(0, 256, count)
    apart = random.integers(-2, 3, count) * random.integers(0, 14, count)
    second = first + apart
    kind = random.integers(0, 8, count)
    second = np.where(kind == 0, 127 - first + random.integers(-26, 3, count), second)
    second = np.where(kind == 1, first - 127 + random.integers(-3, 3, count), second)
    second = np.where(kind == 2, first + 127 + random.integers(-3, 26, count), second)
    return _encoded(first, random), _encoded(second, random)


def moderate(count: int, random: np.random.Generator) -> tuple[Words, Words]:
    """Numbers of size 2**-27 to 2**32, uniform in exponent: domains of exp and of integers."""
    a, b = random.integers(100, 160, (2, count))
    return _encoded(np.where(a > 134, a - 14, a), random), _encoded(b, random)


def to_integer(a: Floats) -> Words:
    """Towards 0, the nearest integer of 32 bits, of NaN 0."""
    inside = np.clip(np.nan_to_num(np.trunc(a.astype(np.float64)), posinf=2e9 * 2, neginf=-4e9),
                     -(2**31), 2**31 - 1)  # fmt: skip
    return np.where(np.isnan(a), 0, inside).astype(np.int64).astype(np.uint32)


ROUNDED: Mapping[str, Callable[[Floats, Floats], npt.NDArray[np.float32]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": larger,
    "relu": lambda a, _: FUNCTIONS[Op.RELU].in_float32(a),
    "from_int": lambda a, _: a.view(np.int32).astype(F32),
}
"""The functions whose results are exactly those of NumPy."""

EXACT: Mapping[str, Callable[[Doubles], Doubles]] = {
    "exp": np.exp,
    "rsqrt": lambda a: 1 / np.sqrt(a),
}
"""Functions whose results are near to those in double precision."""


def ulp_errors(results: Floats, exact: Doubles) -> Doubles:
    """Distances from exact values in units in the last place of these; 2**128 stands for infinity.

    Where both are NaN the distance is 0, where one is, infinite.
    """
    top = 2.0**128
    wanted = np.clip(exact, -top, top)
    found = np.clip(results.astype(np.float64), -top, top)
    exponents = np.frexp(np.where(np.isnan(wanted), 1, wanted))[1] - 1
    ulp = np.ldexp(1.0, np.clip(exponents, -126, 127) - 23)
    errors = np.abs(found - wanted) / ulp
    errors[np.isnan(errors)] = np.inf
    errors[np.isnan(results) & np.isnan(exact)] = 0
    return errors
