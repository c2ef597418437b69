"""A call of a library with its annotation and data to check it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.calls.annotated import AnnotatedFunction, annotate
from fuseloom.calls.data_kinds import DataKind

Array: TypeAlias = npt.NDArray[Any]
Examples: TypeAlias = Callable[[np.random.Generator], dict[str, Any]]
"""Makes a value for each parameter: whole inputs, integers, room for the whole output."""

ROUNDED = 1e-12
"""The tolerance of functions in float64 whose order of additions depends on extents."""
VECTORISED = 1e-14
"""The tolerance of functions whose last bit depends on where an element lies in a SIMD register."""


@dataclass(frozen=True)
class LibraryCall:
    """A call that people use, ready to be composed.

    Attributes
    ----------
    name : str
    text : str
        One sentence about what it computes.
    function : callable
        It writes into its output, the last parameter.
    annotation : str
        The parts that it needs.
    parameters : tuple of str
    kinds : mapping
        The kind of each data structure, by parameter.
    examples : callable
        Makes random arguments of a generator of random numbers.
    tolerance : float
        The largest relative difference between a part and the whole that is due to rounding.
    needs : str or None
        A package that the function imports when it is called.

    Examples
    --------
    >>> from fuseloom.calls.library import LIBRARY
    >>> row = LIBRARY["max_rows"]
    >>> row.annotated
    <annotated max_rows(a, width, out)>
    >>> row.text
    'The largest element of each row.'
    """

    name: str
    text: str
    function: Callable[..., Any]
    annotation: str
    parameters: tuple[str, ...]
    kinds: Mapping[str, DataKind]
    examples: Examples
    tolerance: float = 0.0
    needs: str | None = None

    @cached_property
    def annotated(self) -> AnnotatedFunction:
        """The function with its annotation."""
        return annotate(self.function, self.annotation, self.parameters, self.name)

    def example(self, seed: int = 0) -> dict[str, Any]:
        """Random arguments, the same for the same seed.

        Examples
        --------
        >>> from fuseloom.calls.library import LIBRARY
        >>> sorted(LIBRARY["max_rows"].example(seed=1))
        ['a', 'out', 'width']
        """
        return self.examples(np.random.default_rng(seed))


@dataclass(frozen=True)
class RefusedCall:
    """A call that no annotation can describe.

    Attributes
    ----------
    name : str
    reason : str
    """

    name: str
    reason: str


def extent(rng: np.random.Generator, least: int = 5) -> int:
    """A random extent for examples.

    Examples
    --------
    >>> import numpy as np
    >>> 5 <= extent(np.random.default_rng(0)) < 14
    True
    """
    return int(rng.integers(least, least + 9))


def two_extents(rng: np.random.Generator, least: int = 5) -> tuple[int, int]:
    """Two extents that differ, so that one in place of the other is noticed.

    Examples
    --------
    >>> import numpy as np
    >>> rows, columns = two_extents(np.random.default_rng(0))
    >>> rows != columns
    True
    """
    first = extent(rng, least)
    second = extent(rng, least)
    return first, second + (first == second)
