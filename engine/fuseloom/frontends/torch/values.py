"""The translation of a traced module's node: a renamed view of a program's tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.algebra.tensors import TensorView
from fuseloom.frontends.torch.capture import load_torch
from fuseloom.program.relations import Relation

Indices = Callable[[Mapping[str, Any]], Any]
"""The entries of an index, from what is known of the traced graph."""


@dataclass(frozen=True)
class Selection:
    """An input of the program that selects by an index.

    Attributes
    ----------
    indices : callable
        The entries, a vector.
    size : int
        Of the dimension that they point into.
    same : list of callables
        Indices that had the same entries when the module was imported, and so must others.
    """

    indices: Indices
    size: int
    same: list[Indices]
    origins: tuple[str, ...] = ()

    def check(self, env: Mapping[str, Any]) -> None:
        """Refuse data by which the indices differ.

        Raises
        ------
        DataError
            They are no longer alike.
        """
        torch = load_torch()
        own = self.indices(env)
        if not all(torch.equal(own, other(env)) for other in self.same):
            raise DataError(
                "two indices differ that were alike when the module was imported",
                hint="import the module again with these inputs",
            )


class Support(Enum):
    """The value of an element that a program's tensor may lack."""

    FULL = "full"  # none is lacking, whatever the data
    ZERO = "zero"  # it is 0
    MASKED = "masked"  # it is minus infinity: a logit that a mask removed


@dataclass(frozen=True)
class Value(TensorView):
    """A tensor of the module, read from a tensor of the program.

    Attributes
    ----------
    shape : tuple of int
        As PyTorch sees it.
    support : Support
        What absent elements stand for.
    mask : Value, optional
        Of a MASKED value, the 0/1 tensor of the same ``shape`` whose elements it has.
    covered : int, optional
        A dimension along which every fiber has an element.
    """

    shape: tuple[int, ...]
    support: Support
    mask: Value | None = None
    covered: int | None = None

    def picked(self, dims: Sequence[int | None], shape: Sequence[int]) -> Value:
        """The value whose dimension ``n`` is ``dims[n]`` of this one, or repeated if None.

        Every dimension of the program's tensor must remain.
        """
        return replace(
            self,
            shape=tuple(shape),
            axes=tuple(None if d is None else self.axes[d] for d in dims),
            mask=None if self.mask is None else self.mask.picked(dims, shape),
            covered=None if self.covered is None else list(dims).index(self.covered),
        )

    def expanded(self, shape: Sequence[int]) -> Value:
        """Broadcast to a shape; a stored dimension of size 1 must not grow."""
        offset = len(shape) - self.rank
        dims: list[int | None] = [None] * offset + list(range(self.rank))
        return self.picked(dims, shape)


Fetch = Callable[[Mapping[str, Any]], Any]
"""A function that fetches an input's data from the known values of the traced graph."""


@dataclass(frozen=True)
class Feed:
    """An input of the program.

    Attributes
    ----------
    label : str
        How messages and annotations call it.
    fetch : callable
        The tensor, of ``shape``, from the environment of known nodes.
    origins : tuple of str
        Labels of the inputs and parameters it is made of.
    keep : bool
        It holds ones where a mask keeps elements, and must be stored nowhere else.
    relation : Relation, optional
        Where its ones are, if its declaration says so; then no data are given for it.
    """

    name: str
    shape: tuple[int, ...]
    label: str
    fetch: Fetch
    origins: tuple[str, ...] = ()
    keep: bool = False
    relation: Relation | None = None


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that all of them broadcast to; PyTorch has checked that there is one."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(max(sizes) for sizes in zip(*padded, strict=True))
