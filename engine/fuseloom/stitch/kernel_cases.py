"""Cases for kernels: the arrays that each reads in a run of its module, and what it has to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuseloom.errors import LimitError
from fuseloom.stitch.graph import DenseComputation, DenseModule
from fuseloom.stitch.kernel_code import KernelCode
from fuseloom.stitch.meaning.evaluation import value_of
from fuseloom.stitch.meaning.values import Array, DenseValue

MOST_KEPT = 2**32
"""Bytes of all values of a computation."""


@dataclass(frozen=True, eq=False)
class StitchedCase:
    """A kernel, arrays that it reads, and those that it has to write.

    Attributes
    ----------
    code : KernelCode
    inputs, expected : tuple of array
        In the order of the kernel's ``inputs`` and ``outputs``.
    """

    code: KernelCode
    inputs: tuple[Array, ...]
    expected: tuple[Array, ...]


def kernel_cases(
    module: DenseModule,
    computation: DenseComputation,
    codes: Sequence[KernelCode],
    inputs: Mapping[str, Array],
) -> tuple[StitchedCase, ...]:
    """Evaluate a computation operation by operation, and return a case for each kernel with code.

    Parameters
    ----------
    module : DenseModule
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    codes : sequence of KernelCode
    inputs : mapping
        Arrays for the parameters, by name.

    Raises
    ------
    LimitError
        If all values together are too large.
    ProgramError
        If an operation has no meaning.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> from fuseloom.stitch.kernel_code import kernel_codes
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   y = f32[3] multiply(x, x)
    ...   ROOT z = f32[3] add(x, y)
    ... }''')
    >>> fusion = fuse(module.main)
    >>> (case,) = kernel_cases(module, fusion.computation, kernel_codes(module, fusion),
    ...                        {"x": np.float32([1, 2, 3])})
    >>> case.expected
    (array([ 2.,  6., 12.], dtype=float32),)
    """
    kept = sum(one.shape.byte_size for one in computation.operations)
    if kept > MOST_KEPT:
        raise LimitError(
            f"the values of {computation.name} take {kept:,} bytes, more than {MOST_KEPT:,}",
            hint="check a smaller module",
        )
    values: dict[str, DenseValue] = {}
    for one in computation.operations:
        if one.opcode == "parameter":
            values[one.name] = np.asarray(inputs[one.name], order="C")
        else:
            values[one.name] = value_of(module, one, [values[name] for name in one.operands])

    def arrays(operations: Sequence[Any]) -> tuple[Array, ...]:
        return tuple(np.asarray(values[one.name], order="C") for one in operations)

    return tuple(
        StitchedCase(code, arrays(code.phased.inputs), arrays(code.phased.outputs))
        for code in codes
        if code.phased is not None
    )


def relative_difference(found: Array, wanted: Array, least: float = 0.0) -> float:
    """Compare an array with the one that it has to be.

    Parameters
    ----------
    found, wanted : array
    least : float
        The least that differences are divided by.

    Returns
    -------
    float
        The largest difference by the largest finite element, or by ``least`` (the difference
        itself if both are 0); infinity for another shape or type, for NaN or infinities at other
        places, and for other numbers of a type that is exact.

    Examples
    --------
    >>> relative_difference(np.float64([1, 4]), np.float64([2, 4]))
    0.25
    """
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    if found.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    if not np.isfinite(found[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    a, b = found[finite].astype(wide), wanted[finite].astype(wide)
    return float(np.abs(a - b).max()) / (max(float(np.abs(b).max()), least) or 1.0)
