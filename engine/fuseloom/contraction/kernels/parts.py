"""Parts of nests, and what the arrays of a routine are."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.codegen.imperative import Routine
from fuseloom.contraction.kernels.references import Bound, OperandLayout, assignments
from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where, walk, workspaces

LISTS = ("+count", "+positions", "+values")
"""Arrays of a sparse result."""
PRODUCTS = "+products"
"""The array of a routine that counts: executions of each assignment, in the order of the tree."""


@dataclass(frozen=True)
class Slot:
    """The role of an array of a routine.

    Attributes
    ----------
    layout : OperandLayout or None
        Of a given tensor; None for the result and workspaces.
    part : str
        ``seg``, ``crd`` or ``values`` of a given tensor; else the name of what is made, or
        ``+count``, ``+positions`` and ``+values`` of a sparse result, ``+products`` of counts.
    level : int
        Of ``seg`` and ``crd``.
    """

    layout: OperandLayout | None
    part: str
    level: int = 0


@dataclass(frozen=True)
class Lowered:
    """A routine, and what it must be given.

    Attributes
    ----------
    bound : Bound
    routine : Routine
    sizes : tuple of str
        The indices whose extents it is given.
    slots : tuple of Slot
        One per array.
    listed : tuple of str, optional
        Of a sparse result, the outermost indices, for each of which a dense array of the others
        is read out into a list of elements; None of a dense result.
    """

    bound: Bound
    routine: Routine
    sizes: tuple[str, ...]
    slots: tuple[Slot, ...]
    listed: tuple[str, ...] | None = None


def is_whole(slot: Slot) -> bool:
    """Return whether an array holds integers."""
    return slot.part in ("+count", "+positions", PRODUCTS) or (
        slot.layout is not None and slot.part in ("seg", "crd")
    )


def outer(bound: Bound) -> tuple[str, ...]:
    """The outermost loops as far as their indices are the result's: each element is in one."""
    nest, found = bound.nest, []
    while isinstance(nest, Forall) and nest.index in bound.result.indices:
        found.append(nest.index)
        nest = nest.body
    return tuple(found)


def made_by(body: Nest) -> dict[str, set[str]]:
    """Map each loop to the results it adds to that exist outside it, with all that it computes."""
    local = {name for part in walk(body) if isinstance(part, Where) for name in workspaces(part)}
    found = {assign.out.tensor: assign for assign, _ in assignments(body)}

    def needed(name: str) -> set[str]:
        inner = [a.tensor for a in found[name].operands if a.tensor in local]
        return {name}.union(*map(needed, inner))

    return {name: needed(name) for name in found if name not in local}


def pruned(nest: Nest, alive: set[str]) -> Nest | None:
    """A nest with some of its assignments."""
    match nest:
        case Assign(out=out):
            return nest if out.tensor in alive else None
        case Forall(index=index, body=body):
            kept = pruned(body, alive)
            return None if kept is None else Forall(index, kept)
        case Where(consumer=consumer, producer=producer):
            after, before = pruned(consumer, alive), pruned(producer, alive)
            if after is None or before is None:
                return before if after is None else after
            return Where(after, before)
