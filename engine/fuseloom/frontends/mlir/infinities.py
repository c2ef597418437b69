"""Constants with infinite elements, which no input has: logarithms of zeros.

An input holds finite numbers.  Minus infinity is ``log(0 * ones)`` wherever ``ones`` has elements;
a constant is the sum of its finite elements and of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from fuseloom.frontends.mlir.values import (
    Array,
    ConstantTensor,
    DeferredConstant,
    DimensionSize,
    View,
    literal_array,
)
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access


class Assigning(Protocol):
    """A builder that adds inputs and statements to a program."""

    def constant(self, data: ConstantTensor) -> View: ...

    def assign(
        self,
        name: str,
        op: Op,
        operands: Sequence[Access],
        indices: tuple[str, ...],
        sizes: tuple[DimensionSize, ...],
        place: SourcePlace,
        *,
        constant: float | None = None,
    ) -> View: ...


def infinite_signs(data: ConstantTensor) -> tuple[float, ...]:
    """Return 1 or -1, or both, for the infinities that a constant may have as elements."""
    if isinstance(data.literal, DeferredConstant):
        return data.literal.signs
    if data.splat is not None:
        return (float(np.sign(data.splat)),) if np.isinf(data.splat) else ()
    values = None if data.element.startswith(("i", "s", "u")) else data.array()
    if values is None:
        return ()
    return tuple(sign for sign in (1.0, -1.0) if (values == sign * np.inf).any())


def _places(wanted: float, values: Array) -> Array:
    """Return 1 where an element is the wanted one, and 0 elsewhere."""
    return np.where(values == wanted, 1.0, 0.0)


def with_infinities(builder: Assigning, data: ConstantTensor, signs: Sequence[float]) -> View:
    """A constant, by statements: its finite elements, and where it is infinite."""
    literal, element = data.literal, data.element

    def values(shape: tuple[int, ...]) -> Array:
        return literal_array(literal, element, shape)

    def part(name: str, of: Callable[[Array], Array], fmt: Format | None) -> View:
        made = DeferredConstant(lambda shape: of(values(shape)), data.place)
        wanted = replace(data, name=name, literal=made, element="f64", format=fmt)
        return builder.constant(wanted)

    out = tuple(f"d{n}" for n in range(data.rank))
    splat = data.splat is not None
    bare = splat or (isinstance(literal, DeferredConstant) and literal.bare)
    sum_: View | None = None
    if not bare:
        sum_ = part(f"{data.name}_finite", lambda x: np.where(np.isfinite(x), x, 0.0), data.format)
    for sign in signs:
        ones = part(
            f"{data.name}_places",
            partial(_places, sign * np.inf),
            data.format if splat else Format.compressed(data.rank),
        )
        zeros = builder.assign(
            f"{data.name}_zeros", Op.SCALE, [Access(ones.tensor, out)], out, data.sizes,
            data.place, constant=0.0,
        )  # fmt: skip
        least = builder.assign(
            f"{data.name}_least", Op.LOG, [Access(zeros.tensor, out)], out, data.sizes, data.place
        )
        if sum_ is None:
            sum_ = least if sign < 0.0 else builder.assign(
                data.name, Op.SCALE, [Access(least.tensor, out)], out, data.sizes, data.place,
                constant=-1.0,
            )  # fmt: skip
            continue
        sum_ = builder.assign(
            data.name, Op.ADD if sign < 0.0 else Op.SUB,
            [Access(sum_.tensor, out), Access(least.tensor, out)], out, data.sizes, data.place,
        )  # fmt: skip
    assert sum_ is not None  # there are signs
    return sum_
