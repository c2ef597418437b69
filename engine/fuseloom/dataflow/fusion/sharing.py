"""Reductions over an index that what surrounds them iterates anyway.

Rules: ``docs/spec/fusion.md`` §2.1, merging up to renaming.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from fuseloom.dataflow.fusion.views import Instance, Reduction


def shareable(
    roots: Sequence[Instance], known: Container[Reduction] = ()
) -> tuple[Reduction, str] | None:
    """A reduction index u, none of those known, and the index j of an ancestor that it can be.

    Wanted: a reduction over u of an intermediate ``S[..u..]`` below a view that uses
    ``S[..j..]``, the same but for j in u's place, where j means nothing to the reduction yet.
    """
    visited: set[int] = set()
    for tree, root in enumerate(roots):
        reader: dict[int, Instance] = {}
        stack: list[tuple[Instance, Instance | None]] = [(root, None)]
        while stack:
            view, above = stack.pop()
            if id(view) in visited:
                continue
            visited.add(id(view))
            if above is not None:
                reader[id(view)] = above
            for name, u in view.renaming:
                key = (tree, view.tensor, view.indices, name)
                if u not in view.reduced or key in known:
                    continue
                if (j := _partner(view, u, reader)) is not None:
                    return key, j
            inside = [v for v in view.operands if isinstance(v, Instance)]
            stack += [(v, view) for v in reversed(inside)]
    return None


def _partner(view: Instance, u: str, reader: dict[int, Instance]) -> str | None:
    """The index of an ancestor that a view's reduction index can be identified with."""
    over = [v for v in view.operands if u in v.indices]
    operand = over[0]
    # Another operand's coordinates would filter what is shared.
    alone = all((v.tensor, v.indices) == (operand.tensor, operand.indices) for v in over)
    if not isinstance(operand, Instance) or not alone:
        return None
    at = operand.indices.index(u)
    rest = operand.indices[:at] + operand.indices[at + 1 :]
    for ancestor, below in _above(view, reader):
        for other in ancestor.operands:
            if not isinstance(other, Instance) or other.tensor != operand.tensor:
                continue
            j = other.indices[at]
            same = rest == other.indices[:at] + other.indices[at + 1 :]
            # What leads to the reduction must lack j, or j's coordinates would be filtered
            # before the reduction sees them (rule J3).
            if (
                same
                and other.shifts == operand.shifts
                and j not in view.local
                and j not in below.indices
            ):
                return j
    return None


def _above(view: Instance, reader: dict[int, Instance]) -> Iterator[tuple[Instance, Instance]]:
    """From a view outwards: what reads it, and what it reads of the way to the view."""
    below = view
    while (ancestor := reader.get(id(below))) is not None:
        yield ancestor, below
        below = ancestor
