"""Tokens that are repeated along a fiber."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
    ANY,
    CRD,
    PAYLOAD,
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
    Peeks,
    Role,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.REPEAT,
    params=(),
    same_kind=True,
    nesting=Nesting.MAKES,
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

ENTRIES = (
    _entry(
        "repsig",
        title="repeat signal",
        short="RSig",
        doc="Turns a stream into repeat (value), stop and done signals.",
        inputs=(Port("in", ANY),),
        outputs=(Port("sig", (SIG,)),),
        same_kind=False,
        role=Role.SIGNAL,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        kernels=Kernels.one("repsig"),
    ),
    _entry(
        "repeat",
        title="repeater",
        short="Rep",
        doc="Repeats each token once per element of the fiber that the signal describes.",
        inputs=(Port("in", PAYLOAD), Port("sig", (SIG,), 1)),
        outputs=(Port("out", PAYLOAD, 1),),
        role=Role.REPEATER,
        empties=Empties.TAKEN,
        streaming=Streaming(Peeks.at(0), Takes.FIRST, Paced.PUTS),
        kernels=Kernels.one("repeat"),
    ),
    _entry(
        "replay",
        title="replayer",
        short="Rpl",
        doc="Keeps one subtree of that many levels on chip and puts it once per coordinate of the "
        "driver's fiber.",
        inputs=(Port("in", ANY, "levels"), Port("driver", (CRD,), 1)),
        outputs=(Port("out", ANY, "levels", deeper=1),),
        params=("levels",),
        nesting=Nesting.OPAQUE,
        role=Role.OTHER,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.PUTS),
        kernels=Kernels.one("replay"),
        buffered=lambda taken, made: taken[0] + made,
    ),
)
