"""Views: the fused form of a region as a graph of uses of tensors.

Every use of a stored tensor is a :class:`Leaf`, every use of an intermediate an
:class:`Instance` with its own (fresh) reduction indices.  Rules: ``docs/spec/fusion.md`` §2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuseloom.program.primes import unused
from fuseloom.program.types import Statement
from fuseloom.program.walks import postorder

Shifts = tuple[tuple[str, int], ...]
"""Indices that a concat around a view counts from an offset of its own, and that offset."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """One use of a tensor that the region reads from memory."""

    tensor: str
    indices: tuple[str, ...]
    shifts: Shifts = ()

    def __str__(self) -> str:
        return f"{self.tensor}[{','.join(self.indices)}]"


@dataclass(frozen=True, eq=False)
class Instance:
    """One use of a tensor that the region computes.

    Attributes
    ----------
    indices : tuple of str
        Output indices, in the order of the statement's left-hand side.
    reduced : tuple of str
        Reduction indices of this instance, fresh in the region.
    renaming : tuple of (str, str)
        Index names of the statement paired with those of the region.
    shifts : tuple of (str, int)
        Where in a concat's index an operand of it begins, for the indices of this view.
    """

    statement: Statement
    indices: tuple[str, ...]
    operands: tuple[View, ...]
    reduced: tuple[str, ...]
    renaming: tuple[tuple[str, str], ...]
    shifts: Shifts = ()

    @property
    def tensor(self) -> str:
        return self.statement.out.tensor

    @property
    def local(self) -> tuple[str, ...]:
        """L(e) of rule S1: output indices and reductions."""
        return self.indices + self.reduced

    def __str__(self) -> str:
        return f"{self.tensor}[{','.join(self.indices)}]"


@dataclass(frozen=True, eq=False)
class Cut(Instance):
    """A producer's result re-read as a stream of its own (rule J3 of ``docs/spec/fusion.md`` §3.2).

    ``indices`` are what the consumer sees; ``reduced`` holds the producer's alias of the one
    index whose coordinates must not be filtered by the consumer.
    """

    @property
    def index(self) -> str:
        """The consumer's name of the aliased index."""
        (producer,) = self.operands
        return next(x for x in self.indices if x not in producer.indices)


View = Leaf | Instance


def walk(*roots: View) -> Iterator[View]:
    """Yield every view once, producers before consumers, operands from left to right."""
    return postorder(roots, lambda view: view.operands if isinstance(view, Instance) else ())


def view_names(roots: tuple[Instance, ...]) -> dict[str, View]:
    """Views by name: the tensor's for its first use, then with primes."""
    names: dict[str, View] = {}
    last: dict[str, str] = {}  # per tensor the name of its latest view
    for view in walk(*roots):
        name = unused(last.get(view.tensor, view.tensor), names)
        last[view.tensor] = name
        names[name] = view
    return names


def instances(*roots: View) -> tuple[Instance, ...]:
    """The instances among :func:`walk`."""
    return tuple(v for v in walk(*roots) if isinstance(v, Instance))


Reduction = tuple[int, str, tuple[str, ...], str]
"""A reduction index: number of the output, tensor and indices of the view, the statement's name."""
