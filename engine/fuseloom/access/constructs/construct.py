"""Constructs of the language: their arguments, shape rule and meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Attribute, Path
from fuseloom.errors import ProgramError

Array: TypeAlias = npt.NDArray[np.float64]


class ShapeError(ProgramError):
    """A term that has no shape: operands that do not fit their construct.

    Attributes
    ----------
    path : tuple of int
        The way from the root of the term to the part at fault.
    """

    rule = "shape"
    path: Path = ()


class TermPart(Enum):
    """A kind of argument, as the text of a term has it."""

    TERM = "a term"
    INTEGER = "an integer"
    NUMBER = "a number"
    WORD = "a word"
    LIST = "a list such as (list 0 1)"
    SHAPE = "a shape such as (shape 3 3)"
    ACCESS_SHAPE = "a pair of shapes such as (access-shape (shape 3) (shape 4 5))"


ShapeRule: TypeAlias = Callable[[Sequence[AccessShape], tuple[Any, ...]], AccessShape]
Meaning: TypeAlias = Callable[[Sequence[Array], Sequence[AccessShape], tuple[Any, ...]], Array]


@dataclass(frozen=True)
class Construct:
    """A construct of the language.

    Attributes
    ----------
    name : str
    parts : tuple of TermPart
        Its arguments, in the order of the text.
    text : str
        What it does, in a sentence.
    shape : callable
        The shapes of the operands and the attributes to the shape of the result; it raises
        :class:`ShapeError`.
    meaning : callable
        The values of the operands, their shapes and the attributes to the value of the result, an
        array whose dimensions are those of the shape.
    """

    name: str
    parts: tuple[TermPart, ...]
    text: str
    shape: ShapeRule
    meaning: Meaning

    @property
    def operands(self) -> int:
        """The number of its operands."""
        return self.parts.count(TermPart.TERM)

    @property
    def attribute_parts(self) -> tuple[TermPart, ...]:
        """The kinds of its attributes."""
        return tuple(part for part in self.parts if part is not TermPart.TERM)

    def signature(self) -> str:
        """The construct as its users write it, with the kinds of its arguments.

        Examples
        --------
        >>> from fuseloom.access.constructs import CONSTRUCTS
        >>> CONSTRUCTS["slice"].signature()
        '(slice TERM INTEGER INTEGER INTEGER)'
        """
        return f"({' '.join([self.name, *(part.name for part in self.parts)])})"


def require(condition: bool, message: str, hint: str | None = None) -> None:
    """Refuse operands that do not fit.

    Raises
    ------
    ShapeError
        If the condition does not hold.

    Examples
    --------
    >>> require(True, "never said")
    """
    if not condition:
        raise ShapeError(message, hint=hint)


def require_dimension(shape: AccessShape, number: int, of: str) -> None:
    """Refuse the number of a dimension that a pattern does not have.

    Raises
    ------
    ShapeError
        If there is no such dimension.

    Examples
    --------
    >>> require_dimension(AccessShape((3,), (4,)), 1, "slice")
    """
    count = len(shape.dims)
    require(
        0 <= number < count,
        f"{of}: {shape} has no dimension {number}",
        f"its dimensions are 0 to {count - 1}" if count else "it has no dimension at all",
    )


def require_extents(extents: Attribute, of: str, least: int = 1) -> Dims:
    """Refuse extents below a number.

    Raises
    ------
    ShapeError
        If one is.

    Examples
    --------
    >>> require_extents((3, 3), "windows")
    (3, 3)
    """
    assert isinstance(extents, tuple)
    for extent in extents:
        require(extent >= least, f"{of}: {extent} is less than {least}")
    return extents
