"""Folds by coordinate, over any number of levels (``docs/spec/machine.md`` §6)."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.primitive import (
    CRD,
    VAL,
    Family,
    Nesting,
    Port,
    Primitive,
    no_actions,
    no_bytes,
)
from fuseloom.dataflow.samml.traits import (
    NO_MEMORY,
    NO_PEEKS,
    Arithmetic,
    Empties,
    Kernels,
    Mask,
    Oddities,
    Paced,
    PeekedHeads,
    Peeks,
    Role,
    Streaming,
    Takes,
    Traversal,
    acts,
)
from fuseloom.dataflow.table.cells import MAX_ACCUMULATOR_ORDER

_entry = partial(
    Primitive,
    family=Family.REDUCE,
    same_kind=False,
    nesting=Nesting.MAKES,
    role=Role.OTHER,
    empties=Empties.POSSIBLE,
    traversal=Traversal.CONSUMES,
    arithmetic=Arithmetic.NONE,
    memory=NO_MEMORY,
    observer=False,
    estimated=True,
    bytes=no_bytes,
    integers=no_actions,
    buffered=lambda taken, made: 2 * taken[-1] + made,
)
"""An entry of this family, which says what is otherwise with it."""


def _acted_or_turned(look: PeekedHeads) -> Mask:
    """It acted; or it looked at the outer input after a row, and did nothing in that cycle."""
    acted = acts(look)
    if look.port == 0:
        both = (look.port, *look.others)
        acted |= look.taken(*both, ago=-1) & ~look.taken(*both)
    return acted


def _all_if_strict(node: Node, oddities: Oddities) -> range:
    """The reference's looks at all inputs, ours takes one after the other."""
    return range(len(node.inputs) if oddities.spacc_strict else 0)


def _accumulator(order: int) -> Primitive:
    """A sparse accumulator that folds over ``order`` inner levels at once."""
    inputs = tuple(Port(f"crd{order - k}", (CRD,), k) for k in range(order + 1))
    outputs = tuple(Port(f"crd{order - 1 - k}", (CRD,), k) for k in range(order))
    as_the_reference = Streaming(Peeks(_all_if_strict, acts), Takes.AS_NEEDED, Paced.UNKNOWN)
    ours = Streaming(NO_PEEKS, Takes.FIRST, Paced.UNKNOWN)
    return _entry(
        f"spacc{order}",
        title=f"sparse accumulator, order {order}",
        short=f"Acc{order}",
        doc=f"Per fiber of the outermost coordinates, folds values with equal {order} inner "
        "coordinates (add or max) and emits them in coordinate order.",
        inputs=(*inputs, Port("val", (VAL,), order)),
        outputs=(*outputs, Port("val", (VAL,), order - 1)),
        params=(),
        streaming=as_the_reference if order == 2 else ours,  # the reference has no higher one
        kernels=Kernels.one("spacc"),
        flops=lambda taken, made: taken[-1],
        integers=lambda taken, made: sum(taken[:-1]),
    )


ENTRIES = (
    _entry(
        "spacc1",
        title="sparse accumulator, order 1",
        short="Acc1",
        doc="Per fiber of the outer coordinates, folds values with equal inner coordinate (add or "
        "max) and emits them in coordinate order.",
        inputs=(Port("outer", (CRD,)), Port("inner", (CRD,), 1), Port("val", (VAL,), 1)),
        outputs=(Port("crd", (CRD,)), Port("val", (VAL,))),
        params=("fn", "dim"),
        streaming=Streaming(
            Peeks.everywhere(waited=_acted_or_turned), Takes.AS_NEEDED, Paced.UNKNOWN
        ),
        kernels=Kernels(plain="spacc1", tiles="spacc", guided=None, table="dim"),
        flops=lambda taken, made: taken[2],
        integers=lambda taken, made: taken[1],
    ),
    *(_accumulator(order) for order in range(2, MAX_ACCUMULATOR_ORDER + 1)),
)
