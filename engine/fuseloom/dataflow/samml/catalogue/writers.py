"""Writers of results."""

from __future__ import annotations

from fuseloom.dataflow.samml.primitive import (
    CRD,
    VAL,
    WORD,
    Family,
    Nesting,
    Port,
    Primitive,
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

ENTRIES = (
    Primitive(
        "crdwrite",
        title="level writer",
        short="LW",
        family=Family.WRITE,
        doc="Writes one level: coordinates and segments.",
        inputs=(Port("crd", (CRD,)),),
        outputs=(),
        params=("tensor", "level"),
        same_kind=False,
        nesting=Nesting.MAKES,
        role=Role.OTHER,
        empties=Empties.POSSIBLE,
        traversal=Traversal.CONSUMES,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.UNKNOWN),
        arithmetic=Arithmetic.NONE,
        memory=MemoryTraits(
            reads=(),
            writes=(Stored.COORDINATES, Stored.SEGMENTS),
            stalled="stalling_crdwrite",
            port=None,
        ),
        kernels=Kernels.one("crdwrite"),
        observer=False,
        estimated=True,
        flops=no_flops,
        bytes=lambda taken, made, fibers: WORD * taken[0] + WORD * (fibers + 1),
    ),
    Primitive(
        "valwrite",
        title="values writer",
        short="VW",
        family=Family.WRITE,
        doc="Writes the value array.",
        inputs=(Port("val", (VAL,)),),
        outputs=(),
        params=("tensor",),
        same_kind=False,
        nesting=Nesting.MAKES,
        role=Role.OTHER,
        empties=Empties.POSSIBLE,
        traversal=Traversal.CONSUMES,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.UNKNOWN),
        arithmetic=Arithmetic.NONE,
        memory=MemoryTraits(
            reads=(), writes=(Stored.VALUES,), stalled="stalling_valwrite", port=None
        ),
        kernels=Kernels(plain="valwrite", tiles="tile_valwrite", guided=None, table=None),
        observer=False,
        estimated=True,
        flops=no_flops,
        bytes=lambda taken, made, fibers: WORD * taken[0],
    ),
)
