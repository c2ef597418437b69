"""Products of what comes to each target of a known index: first elements times second ones, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from fuseloom.errors import DataError
from fuseloom.frontends.torch.gathers import gathered
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Indices, Value
from fuseloom.wording import counted

MOST_FACTORS = 64
"""More elements than that of one target are not multiplied."""


class IndexTargets(Protocol):
    """The targets of a scatter along a dimension, given by an index."""

    dim: int
    size: int
    index: Any
    vector: Indices | None

    def counts(self, function: Callable[[Any], Any], part: str, whole: bool = True) -> Value:
        """A function of how many come to each target, an input."""


def multiplied(
    m: Traced, targets: IndexTargets, value: Value, start: Any, include_self: bool
) -> Value:
    """The product of the scattered values, with ``start`` if that is included.

    Raises
    ------
    ProgramError
        The index differs along other dimensions, or a target has more than :data:`MOST_FACTORS`
        elements.
    """
    b = m.builder
    if targets.vector is None:
        raise b.refuse(
            "a product by an index that differs along other dimensions", "scatter one row each"
        )
    value = b.unmasked(value, "a product")
    made = _product(m, value, targets.dim, targets.size, targets.vector, targets.index)
    if start is None:
        return made
    before = m.value(start)
    if not include_self:  # where nothing comes, it stays
        stays = b.mul(before, targets.counts(lambda n: n == 0, "untouched"), "stays")
        before = b.add(stays, targets.counts(lambda n: n > 0, "touched"))
    return b.mul(before, made, "all")


def _product(m: Traced, value: Value, dim: int, size: int, entries: Indices, index: Any) -> Value:
    """The product of the elements of each target along a dimension; 1 of none.

    It takes as many statements as the target with the most elements has.

    Parameters
    ----------
    size : int
        Targets.
    entries : callable
        The target of each element.
    """
    b, torch = m.builder, m.torch
    most = int(torch.bincount(entries(m.env) % size, minlength=size).max())
    if most > MOST_FACTORS:
        raise b.refuse(
            f"a product of {counted(most, 'element')}",
            f"at most {MOST_FACTORS} are multiplied; add logarithms, if all are above 0",
        )

    def members(env: Mapping[str, Any], place: int) -> Any:
        """The element of each target at a place in its row; -1 where there is none."""
        held = entries(env) % size
        counts = torch.bincount(held, minlength=size)
        if int(counts.max()) > most:
            raise DataError(
                f"index {index.name} has {counted(int(counts.max()), 'element')} for a target, the "
                f"program was made for {most}",
                hint="import the module again with these inputs",
            )
        order = held.argsort(stable=True)
        first = counts.cumsum(0) - counts
        at = (first + place).clamp(max=max(held.numel() - 1, 0))
        return torch.where(counts > place, order[at], -1)

    rank, origins = value.rank, m.origins.get(index.name, ())
    dims: list[int | None] = [0 if d == dim else None for d in range(rank)]
    shape = [size if d == dim else 1 for d in range(rank)]
    total: Value | None = None
    for place in range(most):

        def chosen(env: Mapping[str, Any], place: int = place) -> Any:
            return members(env, place).clamp(min=0)

        def there(env: Mapping[str, Any], place: int = place) -> Any:
            return (members(env, place) >= 0).double()

        def missing(env: Mapping[str, Any], place: int = place) -> Any:
            return (members(env, place) < 0).double()

        factor = gathered(m, value, dim, chosen, index)
        if bool(missing(m.env).any()):
            label = f"{b.node.name}_{place}"
            hit = b.feed(f"{label}_there", (size,), there, origins).picked(dims, shape)
            miss = b.feed(f"{label}_missing", (size,), missing, origins).picked(dims, shape)
            factor = b.add(b.mul(factor, hit, "factor"), miss)
        else:
            b.checks[f"{b.node.name} {place}"] = _present(there, index)
        total = factor if total is None else b.mul(total, factor)
    assert total is not None  # an index without entries has no product
    return total


def _present(there: Indices, index: Any) -> Indices:
    """A check that every target has an element, as it had when the program was made."""

    def check(env: Mapping[str, Any]) -> None:
        if not bool(there(env).all()):
            raise DataError(
                f"index {index.name} has fewer elements for a target than the program was made for",
                hint="import the module again with these inputs",
            )

    return check
