"""Levels of stored tensors: traversed, and looked up."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    CRD,
    REF,
    WORD,
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
    ArrayRead,
    Empties,
    Kernels,
    Mask,
    MemoryTraits,
    Paced,
    PeekedHeads,
    Peeks,
    Role,
    Stored,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.SCAN,
    same_kind=False,
    nesting=Nesting.MAKES,
    role=Role.OTHER,
    empties=Empties.NONE,
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


def _put_an_end(look: PeekedHeads) -> Mask:
    """It put one token, the stop: a put takes a cycle, so after one it did not wait."""
    return look.put() & ~look.put(ago=1) & look.one_put()


ENTRIES = (
    _entry(
        "scan",
        title="compressed level scanner",
        short="LS",
        doc="For each reference emits the stored coordinates of that fiber and their positions. "
        "Optional singleton=true: the level has no segments to read.",
        inputs=(Port("ref", (REF,)),),
        outputs=(Port("crd", (CRD,), 1), Port("ref", (REF,), 1)),
        params=("tensor", "level"),
        traversal=Traversal.STORED_FIBER,
        streaming=Streaming(Peeks.everywhere(waited=_put_an_end), Takes.FIRST, Paced.PUTS),
        memory=MemoryTraits(
            reads=(
                ArrayRead(Stored.SEGMENTS, 2, behind=False),
                ArrayRead(Stored.COORDINATES, 1, behind=True),
            ),
            writes=(),
            stalled="stalling_scan",
            port=None,
        ),
        kernels=Kernels.one("scan"),
        bytes=lambda taken, made, fibers: WORD * made + 2 * WORD * taken[0],
        integers=lambda taken, made: taken[0] + made,
    ),
    _entry(
        "dense_scan",
        title="dense level scanner",
        short="LS",
        doc="For each reference r emits 0..dim-1 and the positions r*dim + coordinate.",
        inputs=(Port("ref", (REF,)),),
        outputs=(Port("crd", (CRD,), 1), Port("ref", (REF,), 1)),
        params=("dim",),
        role=Role.DENSE_LEVEL,
        traversal=Traversal.DENSE_FIBER,
        streaming=Streaming(Peeks.everywhere(waited=_put_an_end), Takes.FIRST, Paced.PUTS),
        kernels=Kernels.one("dense_scan"),
        integers=lambda taken, made: taken[0] + made,
    ),
    _entry(
        "locate",
        title="locator",
        short="Loc",
        doc="Looks a coordinate up in a dense level: parent reference * dim + coordinate.",
        inputs=(Port("crd", (CRD,)), Port("ref", (REF,))),
        outputs=(Port("ref", (REF,)),),
        params=("dim",),
        role=Role.LOCATOR,
        empties=Empties.TAKEN,
        streaming=Streaming(NO_PEEKS, Takes.IN_ORDER, Paced.BOTH),
        kernels=Kernels.one("locate"),
        integers=lambda taken, made: 2 * taken[0],
    ),
    _entry(
        "search",
        title="level searcher",
        short="Srch",
        doc="Looks coordinates up in a compressed level: for each reference, of the fiber of "
        "coordinates given for it, those that are stored there, and their positions.",
        inputs=(Port("ref", (REF,)), Port("crd", (CRD,), 1)),
        outputs=(Port("crd", (CRD,), 1), Port("ref", (REF,), 1)),
        params=("tensor", "level"),
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        arithmetic=Arithmetic.SEARCH,
        memory=MemoryTraits(
            reads=(
                ArrayRead(Stored.SEGMENTS, 2, behind=False),
                ArrayRead(Stored.COORDINATES, 1, behind=True),
            ),
            writes=(),
            stalled=None,
            port=None,
        ),
        kernels=Kernels.one("search"),
        bytes=lambda taken, made, fibers: WORD * made + 2 * WORD * taken[0],
        integers=lambda taken, made: taken[1] + made,
    ),
    _entry(
        "sam_locate",
        title="iterate-locate",
        short="Loc",
        doc="Passes the coordinate on as the reference into a dense level: right only where the "
        "parent reference is 0.",
        inputs=(Port("ref", (REF,)), Port("crd", (CRD,))),
        outputs=(Port("located", (REF,)), Port("ref", (REF,)), Port("crd", (CRD,))),
        params=(),
        nesting=Nesting.PASSES,
        empties=Empties.POSSIBLE,
        streaming=Streaming(NO_PEEKS, Takes.IN_ORDER, Paced.BOTH),
        kernels=Kernels.one("sam_locate"),
        estimated=False,
    ),
)
