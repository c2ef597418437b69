"""Coordinates changed, masked, held and merged."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.primitive import (
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
    same_kind=False,
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
        "shift",
        title="coordinate shifter",
        short="Shift",
        family=Family.ROUTE,
        doc="Adds an offset to every coordinate, where operands are put one after another.",
        inputs=(Port("crd", (CRD,)),),
        outputs=(Port("crd", (CRD,)),),
        params=("offset", "dim"),
        nesting=Nesting.MAKES,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        kernels=Kernels.one("shift"),
        estimated=True,
        integers=lambda taken, made: taken[0],
    ),
    _entry(
        "crdmask",
        title="coordinate mask",
        short="Mask",
        family=Family.DROP,
        doc="Drops elements whose outer coordinate is greater than the inner one.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,)), Port("ref", (REF,), 1)),
        outputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,)), Port("ref", (REF,), 1)),
        params=(),
        nesting=Nesting.OPAQUE,
        streaming=Streaming(Peeks.at(1), Takes.AS_NEEDED, Paced.UNKNOWN),
        kernels=Kernels.one("crdmask"),
        integers=lambda taken, made: taken[0],
    ),
    _entry(
        "crdhold",
        title="coordinate hold",
        short="Hold",
        family=Family.REPEAT,
        doc="Repeats each outer coordinate along its inner fiber.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        outputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,), 1)),
        params=(),
        nesting=Nesting.MAKES,
        streaming=Streaming(Peeks.at(1), Takes.AS_NEEDED, Paced.PUTS),
        kernels=Kernels.one("crdhold"),
    ),
    _entry(
        "flatten",
        title="flattener",
        short="Flat",
        family=Family.ROUTE,
        doc="Merges two levels into one: outer coordinate * factor + inner coordinate.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        outputs=(Port("crd", (CRD,)),),
        params=("factor",),
        nesting=Nesting.OPAQUE,
        streaming=Streaming(Peeks.at(1), Takes.AS_NEEDED, Paced.PUTS),
        kernels=Kernels.one("flatten"),
        integers=lambda taken, made: 2 * taken[0],
    ),
)
