"""Layers that are mapped onto an array, and calls that are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuseloom.access.constructs.construct import Array
from fuseloom.access.terms import Term


@dataclass(frozen=True)
class Layer:
    """A computation as a term, with data and the result that it must have.

    Attributes
    ----------
    name : str
        The kernel, the statement, or the function that a module called with its number.
    term : Term
    data : mapping
        The arrays of its tensors.
    result : array
        What its source computes of the data (of PyTorch's layers without a bias), in the shape of
        the term.
    """

    name: str
    term: Term
    data: Mapping[str, Array]
    result: Array


@dataclass(frozen=True)
class OtherCall:
    """A computation that is no term for an array.

    Attributes
    ----------
    name : str
    reason : str
    """

    name: str
    reason: str
