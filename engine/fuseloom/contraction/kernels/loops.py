"""The iteration spaces of a nest's loops, and the clearing of its workspaces.

Code is made by it (:mod:`.lower`), and its time estimated (:mod:`fuseloom.contraction.cost`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fuseloom.contraction.kernels.parts import made_by, pruned
from fuseloom.contraction.kernels.references import Bound, Key, assignments
from fuseloom.contraction.loopnest.ir import Forall, Nest, walk
from fuseloom.program import Access, LevelFormat

CLEARED_WHOLE = 4_096
"""Elements of a workspace within loops that is emptied whole each time; of a larger one, what was
touched."""


def split(bound: Bound, index: str, body: Nest) -> Iterator[tuple[tuple[Key, ...], Nest]]:
    """The compressed levels that a loop runs through, and what it does; several if it must."""
    groups: dict[tuple[Key, ...], set[str]] = {}
    for part in made_by(body).values():
        needed = tuple(
            (assign.out.tensor, place)
            for assign, _ in assignments(body)
            if assign.out.tensor in part
            for place, access in enumerate(assign.operands)
            if is_compressed(bound, (assign.out.tensor, place), access, index)
        )
        groups.setdefault(needed, set()).update(part)
    for needed, alive in groups.items():
        kept = pruned(body, alive) if len(groups) > 1 else body
        assert kept is not None
        yield needed, kept


def is_compressed(bound: Bound, key: Key, access: Access, index: str) -> bool:
    """Return whether a reference has an index at a compressed level."""
    layout = bound.layouts.get(key)
    if layout is None or index not in access.indices:
        return False
    return layout.format.levels[access.indices.index(index)] is LevelFormat.COMPRESSED


def touches_few(bound: Bound, name: str, touching: Nest) -> bool:
    """Return whether clearing only the touched elements, by the loops that did, is cheaper."""
    own = bound.assigns[name].out.indices
    extents = bound.tree.extents
    if prod(extents[x] for x in own) <= CLEARED_WHOLE:
        return False
    sparse = {
        part.index: any(needed for needed, _ in split(bound, part.index, part.body))
        for part in walk(touching)
        if isinstance(part, Forall)
    }
    return any(sparse[x] for x in own) and all(sparse[x] or x in own for x in sparse)
