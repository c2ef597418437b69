"""The primitives that drop tokens, or align them with those of a join."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    ANY,
    CRD,
    VAL,
    Family,
    Nesting,
    Port,
    Primitive,
    no_actions,
    no_bytes,
    no_flops,
)
from fuseloom.dataflow.samml.traits import (
    NO_MEMORY,
    NO_PEEKS,
    Arithmetic,
    Empties,
    Kernels,
    Mask,
    Paced,
    PeekedHeads,
    Peeks,
    Role,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.DROP,
    params=(),
    same_kind=False,
    role=Role.OTHER,
    empties=Empties.POSSIBLE,
    traversal=Traversal.CONSUMES,
    arithmetic=Arithmetic.NONE,
    memory=NO_MEMORY,
    observer=False,
    estimated=True,
    flops=no_flops,
    bytes=no_bytes,
    integers=no_actions,
    buffered=no_actions,
)
"""An entry of this family, which says what is otherwise with it."""


def _took_inner(look: PeekedHeads) -> Mask:
    """It looks before it takes an inner token, or takes what it looks at."""
    return look.taken(*look.others)


def _took_the_other(look: PeekedHeads) -> Mask:
    """It took from the other guide, not blindly one cycle after a subtree's end."""
    return look.taken(1 - look.port) & ~look.taken(2, ago=1)


ENTRIES = (
    _entry(
        "crddrop",
        title="coordinate dropper",
        short="Drop",
        doc="Drops outer coordinates whose inner fiber is empty.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        outputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        nesting=Nesting.MAKES,
        streaming=Streaming(Peeks.at(1, waited=_took_inner), Takes.AS_NEEDED, Paced.UNKNOWN),
        kernels=Kernels.one("crddrop"),
        integers=lambda taken, made: taken[1],
    ),
    _entry(
        "valdrop",
        title="value dropper",
        short="VDrop",
        doc="Drops empty values together with their coordinates.",
        inputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        outputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        nesting=Nesting.MAKES,
        streaming=Streaming(NO_PEEKS, Takes.IN_ORDER, Paced.BOTH),
        kernels=Kernels.one("valdrop"),
    ),
    _entry(
        "zerodrop",
        title="zero dropper",
        short="ZDrop",
        doc="Drops zeros together with their coordinates.",
        inputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        outputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        nesting=Nesting.MAKES,
        streaming=Streaming(NO_PEEKS, Takes.IN_ORDER, Paced.PUTS),
        kernels=Kernels.one("zerodrop"),
    ),
    _entry(
        "stopdrop",
        title="stop dropper",
        short="SDrop",
        doc="Drops a stop if nothing came since the last one.",
        inputs=(Port("in", ANY),),
        outputs=(Port("out", ANY),),
        same_kind=True,
        nesting=Nesting.OPAQUE,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        kernels=Kernels.one("stopdrop"),
        estimated=False,
    ),
    _entry(
        "fiber_align",
        title="fiber aligner",
        short="Align",
        doc="Gives a stream one subtree per coordinate of a joined level: drops the subtrees of "
        "coordinates that the join dropped, inserts empty ones where it added some.",
        inputs=(Port("before", (CRD,)), Port("after", (CRD,)), Port("in", ANY, "levels")),
        outputs=(Port("out", ANY, "levels"),),
        params=("levels",),
        same_kind=True,
        nesting=Nesting.ALIGNS,
        empties=Empties.TAKEN,
        streaming=Streaming(Peeks.at(0, 1, waited=_took_the_other), Takes.AS_NEEDED, Paced.UNKNOWN),
        kernels=Kernels.one("fiber_align"),
        integers=lambda taken, made: taken[0] + taken[1],
    ),
)
