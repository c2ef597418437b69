"""Making the constraints of a region agree when they form a cycle (``docs/spec/fusion.md`` §2.3).

Three things can break a cycle: producing an intermediate in another order (its wishes are
dropped), storing an input a second time in another mode order, or writing an intermediate to
memory, which cuts the region.  Each is offered with its price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import prod

from fuseloom.dataflow.fusion.pog import Changes, Edge, EdgeOrigin, PartialOrderGraph, build_pog
from fuseloom.dataflow.fusion.views import Instance, Leaf, View, view_names
from fuseloom.program.levels import WORD_BYTES
from fuseloom.program.types import Program, Tensor
from fuseloom.wording import counted

MAX_REPAIRS = 100


class RepairKind(Enum):
    """The repair of a cycle; the order is that of preference."""

    VIEW = "view permutation"
    COPY = "permuted copy"
    CUT = "materialisation"


@dataclass(frozen=True)
class Repair:
    """One way to break a cycle.

    Attributes
    ----------
    view : str
        Name of the view at which it is broken.
    bytes : int
        Memory traffic it costs at most, in bytes: that of a dense tensor of the same shape.
    edges : tuple of Edge
        The constraints it takes away.
    """

    kind: RepairKind
    view: str
    bytes: int
    edges: tuple[Edge, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case RepairKind.VIEW:
                lost = ", ".join(f"{e.outer}→{e.inner}" for e in self.edges)
                return f"produce {self.view} in another order, without its wish {lost} (free)"
            case RepairKind.COPY:
                return (
                    f"store {self.view} a second time (at most {counted(self.bytes, 'byte')} once)"
                )
            case RepairKind.CUT:
                return f"materialise {self.view} (at most {counted(self.bytes, 'byte')} each run)"


@dataclass(frozen=True)
class Repaired:
    """A cycle, every way to break it, and the one taken.

    Attributes
    ----------
    cycle : tuple of str
        Indices that were each to be iterated outside the other.
    """

    cycle: tuple[str, ...]
    offers: tuple[Repair, ...]
    taken: Repair

    def __str__(self) -> str:
        others = [str(offer) for offer in self.offers if offer != self.taken]
        rest = f"; other ways: {'; '.join(others)}" if others else ""
        return f"the cycle of {', '.join(self.cycle)} is broken: {self.taken}{rest}"


def traffic(tensor: Tensor, elements: float | None = None) -> float:
    """Bytes to read so many elements and write them again; of a full tensor by default.

    An element takes a coordinate per level and a value (``2 nnz (4 levels + 4)``); those
    of a block share their coordinates.
    """
    count = prod(tensor.shape) if elements is None else elements
    return 2 * count * (WORD_BYTES * tensor.rank / prod(tensor.format.tile) + WORD_BYTES)


def agree(
    program: Program,
    roots: tuple[Instance, ...],
    extents: dict[str, int],
    user_orders: dict[str, tuple[str, ...]],
    changes: Changes,
) -> tuple[PartialOrderGraph, Changes, tuple[Repaired, ...]]:
    """The constraints of a region, with what it takes to make them agree.

    View permutations are preferred to permuted copies, and cheap copies to dear ones, among the
    repairs that leave the fewest indices in cycles.  Constraints that take a cut are returned as
    they were, for only the caller can cut.
    """

    def build(changes: Changes) -> PartialOrderGraph:
        return build_pog(program, roots, extents, user_orders, changes=changes)

    pog = first = build(changes)
    asked, done = changes, list[Repaired]()
    for _ in range(MAX_REPAIRS):
        cycle = pog.cycle()
        if not cycle:
            return pog, changes, tuple(done)
        offers = offers_for(program, roots, pog, cycle)
        usable = [offer for offer in offers if offer.kind is not RepairKind.CUT]
        if not usable:
            break
        tried = [(offer, build(apply(changes, offer))) for offer in usable]
        taken, pog = min(tried, key=lambda pair: len(pair[1].cyclic))
        done.append(Repaired(tuple(x for x in pog.indices if x in cycle), offers, taken))
        changes = apply(changes, taken)
    return first, asked, ()


def apply(changes: Changes, repair: Repair) -> Changes:
    """The changes with a view permutation or a permuted copy more."""
    if repair.kind is RepairKind.COPY:
        return replace(changes, copies={**changes.copies, repair.view: None})
    lost = {(e.owner, e.outer, e.inner) for e in repair.edges}
    return replace(changes, dropped=changes.dropped | lost)


def offers_for(
    program: Program,
    roots: tuple[Instance, ...],
    pog: PartialOrderGraph,
    cycle: frozenset[str],
) -> tuple[Repair, ...]:
    """Every single repair at a view that has to do with a cycle, the preferred first."""
    views = view_names(roots)
    inside = [e for e in pog.edges if e.outer in cycle and e.inner in cycle]
    found: list[Repair] = []
    for name, view in views.items():
        own = tuple(e for e in inside if e.owner == name)
        tensor = program.tensor(view.tensor)
        if isinstance(view, Leaf):
            if any(e.origin is EdgeOrigin.MODE for e in own):
                found.append(Repair(RepairKind.COPY, name, int(traffic(tensor)), own))
            continue
        if view in roots:
            continue
        if wishes := tuple(e for e in own if e.origin is EdgeOrigin.USER and _against(e, inside)):
            found.append(Repair(RepairKind.VIEW, name, 0, wishes))
        if cycle & _reach(view):
            found.append(Repair(RepairKind.CUT, name, int(traffic(tensor))))
    kinds = list(RepairKind)
    return tuple(sorted(found, key=lambda r: (kinds.index(r.kind), r.bytes)))


def _against(edge: Edge, inside: list[Edge]) -> bool:
    """Return whether the other edges require, directly or through others, the opposite."""
    seen, todo = {edge.inner}, [edge.inner]
    while todo:
        at = todo.pop()
        for other in inside:
            if other.outer == at and other.owner != edge.owner and other.inner not in seen:
                seen.add(other.inner)
                todo.append(other.inner)
    return edge.outer in seen


def _reach(view: View) -> set[str]:
    return set(view.local) if isinstance(view, Instance) else set(view.indices)
