"""Shapes of access patterns: which dimensions are iterated over, which are computed on."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

Dims: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class AccessShape:
    """The two shapes of an access pattern (Glenside §4.1).

    Attributes
    ----------
    access : tuple of int
        Extents of the dimensions that are iterated over.
    compute : tuple of int
        Extents of the dimensions that are computed on.

    Examples
    --------
    >>> rows = AccessShape((32,), (16,))
    >>> print(rows, rows.dims, rows.elements)
    ((32), (16)) (32, 16) 512
    """

    access: Dims
    compute: Dims

    @property
    def dims(self) -> Dims:
        """All extents: those of the access dimensions first."""
        return (*self.access, *self.compute)

    @property
    def elements(self) -> int:
        """Their product."""
        return prod(self.dims)

    def resplit(self, dims: Dims) -> AccessShape:
        """Other extents, as many of them access dimensions as now."""
        return AccessShape(dims[: len(self.access)], dims[len(self.access) :])

    def __str__(self) -> str:
        return f"({_parenthesised(self.access)}, {_parenthesised(self.compute)})"


def _parenthesised(dims: Dims) -> str:
    return f"({', '.join(map(str, dims))})"
