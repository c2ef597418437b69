"""Calls of accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuseloom.access.constructs.construct import Array, Construct, TermPart, require
from fuseloom.access.shapes import AccessShape

SYSTOLIC_ARRAY = "systolicArray"


def _shape(shapes: Sequence[AccessShape], attributes: tuple[Any, ...]) -> AccessShape:
    rows, columns = attributes
    activations, weights = shapes
    require(
        len(activations.access) == 1 and activations.compute == (rows,),
        f"{SYSTOLIC_ARRAY}: an array of {rows} rows streams vectors, ((batch), ({rows})), "
        f"not {activations}",
    )
    require(
        weights == AccessShape((), (rows, columns)),
        f"{SYSTOLIC_ARRAY}: it holds weights of shape ((), ({rows}, {columns})), not {weights}",
    )
    return AccessShape((activations.access[0], columns), ())


def _product(
    values: Sequence[Array], _: Sequence[AccessShape], attributes: tuple[Any, ...]
) -> Array:
    return np.asarray(values[0] @ values[1])


CONSTRUCTS = (
    Construct(
        SYSTOLIC_ARRAY,
        (TermPart.INTEGER, TermPart.INTEGER, TermPart.TERM, TermPart.TERM),
        "products of streamed vectors with the weights that an array of rows and columns holds",
        _shape,
        _product,
    ),
)
