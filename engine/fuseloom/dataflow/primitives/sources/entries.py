"""The sources of tokens, and the sinks that end a test bench."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    ANY,
    REF,
    SIG,
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
    Paced,
    Role,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.SOURCE,
    params=(),
    same_kind=False,
    nesting=Nesting.MAKES,
    role=Role.OTHER,
    empties=Empties.POSSIBLE,
    traversal=Traversal.CONSUMES,
    arithmetic=Arithmetic.NONE,
    memory=NO_MEMORY,
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
        "root",
        title="root",
        short="root",
        doc="Emits the one reference 0 with which every traversal starts.",
        inputs=(),
        outputs=(Port("ref", (REF,)),),
        empties=Empties.NONE,
        traversal=Traversal.STARTS,
        streaming=Streaming(NO_PEEKS, Takes.AS_NEEDED, Paced.PUTS),
        kernels=Kernels.one("root"),
        estimated=True,
    ),
    _entry(
        "source",
        title="source",
        short="src",
        doc="Emits given tokens, each no earlier than its given time.",
        inputs=(),
        outputs=(Port("out", (*ANY, SIG)),),
        params=("kind",),
        nesting=Nesting.OPAQUE,
        streaming=Streaming(NO_PEEKS, Takes.AS_NEEDED, Paced.UNKNOWN),
        kernels=Kernels.one("source"),
    ),
    _entry(
        "sink",
        title="sink",
        short="sink",
        family=Family.WRITE,
        doc="Takes one token a cycle and forgets it.",
        inputs=(Port("in", (*ANY, SIG)),),
        outputs=(),
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.UNKNOWN),
        kernels=Kernels.one("sink"),
        observer=True,
    ),
)
