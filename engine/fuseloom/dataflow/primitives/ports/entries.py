"""Ports of a memory, which a machine with DRAM puts into a graph."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    ANY,
    CRD,
    REF,
    Family,
    Nesting,
    Port,
    Primitive,
    no_actions,
    no_bytes,
    no_flops,
)
from fuseloom.dataflow.samml.traits import (
    NO_PEEKS,
    Arithmetic,
    Empties,
    Kernels,
    MemoryPort,
    MemoryTraits,
    Paced,
    Role,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.MEMORY,
    nesting=Nesting.PASSES,
    role=Role.OTHER,
    empties=Empties.POSSIBLE,
    arithmetic=Arithmetic.NONE,
    observer=False,
    estimated=False,
    flops=no_flops,
    bytes=no_bytes,
    integers=no_actions,
    buffered=no_actions,
)
"""An entry of this family, which says what is otherwise with it."""

ENTRIES = (
    _entry(
        "mem_read",
        title="read port",
        short="Mem",
        doc="Passes references on, and coordinates beside them, when the memory has read what they "
        "refer to: size bytes at base + stride * reference.",
        inputs=(),
        outputs=(),
        repeated_inputs=(Port("in", (CRD, REF)),),
        repeated_outputs=(Port("out", (CRD, REF)),),
        params=("base", "stride", "size"),
        same_kind=False,
        traversal=Traversal.HANDS_ON,
        streaming=Streaming(NO_PEEKS, Takes.IN_ORDER, Paced.TAKES),
        memory=MemoryTraits(reads=(), writes=(), stalled=None, port=MemoryPort.READ),
        kernels=Kernels.one("mem_read"),
    ),
    _entry(
        "mem_write",
        title="write port",
        short="Mem",
        doc="Passes tokens on and writes them to memory, size bytes each, one after another from "
        "base on. With segments, the address of the segments, it writes those too.",
        inputs=(Port("in", ANY),),
        outputs=(Port("out", ANY),),
        params=("base", "size"),
        same_kind=True,
        traversal=Traversal.CONSUMES,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        memory=MemoryTraits(reads=(), writes=(), stalled=None, port=MemoryPort.WRITE),
        kernels=Kernels.one("mem_write"),
    ),
)
