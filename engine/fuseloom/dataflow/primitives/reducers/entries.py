"""Folds of fibers to a value (``docs/spec/machine.md`` §6)."""

from __future__ import annotations

from functools import partial

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
    Paced,
    Role,
    Streaming,
    Takes,
    Traversal,
)

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
    buffered=no_actions,
)
"""An entry of this family, which says what is otherwise with it."""


ENTRIES = (
    _entry(
        "reduce",
        title="reducer",
        short="Red",
        doc="Folds each innermost fiber to one value (add or max). With a guide, the coordinates "
        "of the level outside, it tells an empty fiber from no fiber.",
        inputs=(Port("val", (VAL,), 1),),
        outputs=(Port("val", (VAL,)),),
        optional_inputs=(Port("guide", (CRD,)),),
        params=("fn",),
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.UNKNOWN),
        arithmetic=Arithmetic.FOLD,
        kernels=Kernels(plain="reduce", tiles="tile_reduce", guided="guided_reduce", table=None),
        flops=lambda taken, made: taken[0],
    ),
)
