"""Value loads and arithmetic (``docs/spec/machine.md`` §5)."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    REF,
    VAL,
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
    same_kind=False,
    nesting=Nesting.MAKES,
    role=Role.OTHER,
    empties=Empties.POSSIBLE,
    traversal=Traversal.CONSUMES,
    streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
    memory=NO_MEMORY,
    observer=False,
    estimated=True,
    bytes=no_bytes,
    integers=no_actions,
    buffered=no_actions,
)
"""An entry of this family, which says what is otherwise with it."""

ENTRIES = (
    _entry(
        "array",
        title="value load",
        short="Val",
        family=Family.VALUE,
        doc="Loads the value at each reference; the empty token stays empty.",
        inputs=(Port("ref", (REF,)),),
        outputs=(Port("val", (VAL,)),),
        params=("tensor",),
        arithmetic=Arithmetic.LOAD,
        memory=MemoryTraits(
            reads=(ArrayRead(Stored.VALUES, 1, behind=False),),
            writes=(),
            stalled="stalling_array",
            port=None,
        ),
        kernels=Kernels(plain="array", tiles="tile_array", guided=None, table=None),
        flops=no_flops,
        bytes=lambda taken, made, fibers: WORD * taken[0],
    ),
    _entry(
        "binary",
        title="binary ALU",
        short="ALU",
        family=Family.COMPUTE,
        doc="Applies add, sub, mul, div or max to two aligned streams. Optional needs=a or b: no "
        "result where that operand is empty, even for a sum.",
        inputs=(Port("a", (VAL,)), Port("b", (VAL,))),
        outputs=(Port("val", (VAL,)),),
        params=("fn",),
        streaming=Streaming(NO_PEEKS, Takes.IN_ORDER, Paced.BOTH),
        arithmetic=Arithmetic.BINARY,
        kernels=Kernels(plain="binary", tiles="tile_binary", guided=None, table=None),
        flops=lambda taken, made: made,
    ),
    _entry(
        "unary",
        title="unary ALU",
        short="ALU",
        family=Family.COMPUTE,
        doc="Applies a function of one value; the empty token stays empty.",
        inputs=(Port("val", (VAL,)),),
        outputs=(Port("val", (VAL,)),),
        params=("fn", "scalar"),
        arithmetic=Arithmetic.UNARY,
        kernels=Kernels(plain="unary", tiles="tile_unary", guided=None, table=None),
        flops=lambda taken, made: made,
    ),
)
