"""Products by the BLAS that NumPy is built with, in the type of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.graph import DenseOperation

_TYPES = ("f32", "f64")


def is_library_product(operation: DenseOperation, elements: Sequence[str]) -> bool:
    """Tell if BLAS has a dot of operands of these types of elements.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> dot = DenseOperation("y", "dot", TensorShape("f32", (4, 4)), ("a", "b"))
    >>> is_library_product(dot, ("f32", "f32")), is_library_product(dot, ("bf16", "bf16"))
    (True, False)
    """
    own = operation.array.element if operation.opcode == "dot" else ""
    return own in _TYPES and all(one == own for one in elements)


def library_product(
    operation: DenseOperation,
    left: npt.NDArray[Any],
    right: npt.NDArray[Any],
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Compute a dot; sums are rounded where BLAS rounds them.

    Parameters
    ----------
    operation : DenseOperation
        For which :func:`is_library_product` is true.
    left, right : array
    out : array, optional
        Of the shape of the result, row by row; written to, and returned.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> dot = DenseOperation("y", "dot", TensorShape("f32", (2, 2)), ("a", "b"), {
    ...     "lhs_contracting_dims": (1,), "rhs_contracting_dims": (1,)})
    >>> library_product(dot, np.ones((2, 3), "f4"), np.ones((2, 3), "f4"))
    array([[3., 3.],
           [3., 3.]], dtype=float32)
    """
    more, dims = operation.attributes, operation.array.dims
    orders, shapes = [], []
    for side, value in (("lhs", left), ("rhs", right)):
        batch = more.get(f"{side}_batch_dims", ())
        summed = more.get(f"{side}_contracting_dims", ())
        free = [dim for dim in range(value.ndim) if dim not in (*batch, *summed)]
        parts = (batch, free, summed) if side == "lhs" else (batch, summed, free)
        orders.append([dim for part in parts for dim in part])
        shapes.append([prod(value.shape[dim] for dim in part) for part in parts])
    a = left.transpose(orders[0]).reshape(shapes[0])
    b = right.transpose(orders[1]).reshape(shapes[1])
    made = np.empty(dims, operation.array.dtype) if out is None else out
    np.matmul(a, b, out=made.reshape(shapes[0][0], shapes[0][1], shapes[1][2]))
    return made
