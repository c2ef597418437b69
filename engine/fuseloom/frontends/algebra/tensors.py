"""Tensors of a program under the dimensions that a front end counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuseloom.program.types import Access


@dataclass(frozen=True)
class TensorView:
    """A tensor of the program whose dimensions are called otherwise, or repeated.

    Transposing, inserting and repeating dimensions only rename the indices of a tensor.

    Attributes
    ----------
    tensor : str
        Name in the program.
    axes : tuple
        Per dimension of the view that of the tensor, each of which occurs once; None where all
        coordinates have the same element.
    """

    tensor: str
    axes: tuple[int | None, ...]

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def plain(self) -> bool:
        """True if dimension ``d`` is dimension ``d`` of the tensor throughout."""
        return self.axes == tuple(range(len(self.axes)))

    @property
    def held(self) -> list[int]:
        """Dimensions of the view, without repeated ones, in the order of the tensor's."""
        at = {axis: d for d, axis in enumerate(self.axes) if axis is not None}
        return [at[axis] for axis in range(len(at))]

    def read(self, indices: Sequence[str]) -> Access:
        """A use of the tensor where the dimensions of the view have these indices.

        >>> TensorView("A", (1, None, 0)).read(("i", "j", "k"))
        Access(tensor='A', indices=('k', 'i'))
        """
        return Access(self.tensor, tuple(indices[d] for d in self.held))


def axes_of(dimensions: Sequence[str | None], indices: Sequence[str]) -> tuple[int | None, ...]:
    """Per dimension, by its index, the one of a tensor with these indices; None if it lacks it.

    >>> axes_of(("i", "j", None), ("j", "k"))
    (None, 0, None)
    """
    at = {x: axis for axis, x in enumerate(indices)}
    return tuple(None if x is None else at.get(x) for x in dimensions)
