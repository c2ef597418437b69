"""Writers of results."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    CRD,
    VAL,
    WORD,
    Family,
    Nesting,
    Port,
    Primitive,
    no_actions,
    no_flops,
)
from fuseloom.dataflow.samml.traits import (
    NO_PEEKS,
    Arithmetic,
    Empties,
    Kernels,
    MemoryTraits,
    Paced,
    Role,
    Stored,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.WRITE,
    same_kind=False,
    nesting=Nesting.MAKES,
    role=Role.OTHER,
    empties=Empties.POSSIBLE,
    traversal=Traversal.CONSUMES,
    streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.UNKNOWN),
    arithmetic=Arithmetic.NONE,
    observer=False,
    estimated=True,
    flops=no_flops,
    integers=no_actions,
    buffered=no_actions,
)
"""An entry of this family, which says what is otherwise with it."""

ENTRIES = (
    _entry(
        "crdwrite",
        title="level writer",
        short="LW",
        doc="Writes one level: coordinates and segments.",
        inputs=(Port("crd", (CRD,)),),
        outputs=(),
        params=("tensor", "level"),
        memory=MemoryTraits(
            reads=(),
            writes=(Stored.COORDINATES, Stored.SEGMENTS),
            stalled="stalling_crdwrite",
            port=None,
        ),
        kernels=Kernels.one("crdwrite"),
        bytes=lambda taken, made, fibers: WORD * taken[0] + WORD * (fibers + 1),
    ),
    _entry(
        "valwrite",
        title="values writer",
        short="VW",
        doc="Writes the value array.",
        inputs=(Port("val", (VAL,)),),
        outputs=(),
        params=("tensor",),
        memory=MemoryTraits(
            reads=(), writes=(Stored.VALUES,), stalled="stalling_valwrite", port=None
        ),
        kernels=Kernels(plain="valwrite", tiles="tile_valwrite", guided=None, table=None),
        bytes=lambda taken, made, fibers: WORD * taken[0],
    ),
)
