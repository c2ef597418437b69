"""Operands joined coordinate by coordinate."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    CARRIED,
    CRD,
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
    Arithmetic,
    Empties,
    Kernels,
    Paced,
    Peeks,
    Role,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.JOIN,
    same_kind=False,
    nesting=Nesting.MAKES,
    traversal=Traversal.CONSUMES,
    streaming=Streaming(Peeks.everywhere(), Takes.AS_NEEDED, Paced.BOTH),
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

ENTRIES = (
    _entry(
        "intersect",
        title="intersecter",
        short="∩",
        doc="Keeps the coordinates all operands have, each operand's payload with them.",
        inputs=(),
        outputs=(Port("crd", (CRD,)),),
        repeated_inputs=(Port("crd", (CRD,)), Port("payload", CARRIED)),
        repeated_outputs=(Port("payload", CARRIED),),
        params=(),
        role=Role.INTERSECTER,
        empties=Empties.TAKEN,
        kernels=Kernels.one("intersect"),
        integers=lambda taken, made: sum(taken[::2]),
    ),
    _entry(
        "union",
        title="unioner",
        short="∪",
        doc="Keeps the coordinates any operand has; an operand that lacks one gives the empty "
        "token. With gate=g > 0 a fiber is empty when those of the first g operands all are.",
        inputs=(),
        outputs=(Port("crd", (CRD,)),),
        repeated_inputs=(Port("crd", (CRD,)), Port("payload", CARRIED)),
        repeated_outputs=(Port("payload", CARRIED),),
        params=("gate",),
        role=Role.UNIONER,
        empties=Empties.POSSIBLE,
        kernels=Kernels.one("union"),
        integers=lambda taken, made: sum(taken[::2]),
    ),
)
