"""Tensors and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuseloom.access.constructs.construct import Array, Construct, TermPart, require_extents
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import TENSOR


def _tensor(_: Sequence[AccessShape], attributes: tuple[Any, ...]) -> AccessShape:
    name, extents = attributes
    return AccessShape((), require_extents(extents, f"tensor {name}"))


def _given(*_: object) -> Array:
    raise AssertionError("the interpreter looks tensors up")


def _literal(_: Sequence[AccessShape], attributes: tuple[Any, ...]) -> AccessShape:
    return AccessShape((), ())


def _number(
    _: Sequence[Array], shapes: Sequence[AccessShape], attributes: tuple[Any, ...]
) -> Array:
    return np.array(attributes[0], dtype=np.float64)


CONSTRUCTS = (
    Construct(
        TENSOR, (TermPart.WORD, TermPart.LIST), "a tensor that is given; a term names it alone",
        _tensor, _given,
    ),
    Construct("literal", (TermPart.NUMBER,), "a number", _literal, _number),
)  # fmt: skip
