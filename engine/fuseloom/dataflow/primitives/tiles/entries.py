"""Folds inside tiles (``docs/spec/machine.md`` §5.4)."""

from __future__ import annotations

from fuseloom.dataflow.samml.primitive import (
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

ENTRIES = (
    Primitive(
        "tilefold",
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
        title="tile folder",
        short="Fold",
        family=Family.REDUCE,
        doc="Folds axes inside each tile (add or max), or transposes it: tile=im->i, block=b.",
        inputs=(Port("val", (VAL,)),),
        outputs=(Port("val", (VAL,)),),
        params=("fn", "tile", "block"),
        arithmetic=Arithmetic.TILE_FOLD,
        kernels=Kernels(plain=None, tiles="tile_unary", guided=None, table=None),
        flops=lambda taken, made: taken[0],
        integers=no_actions,
        buffered=no_actions,
    ),
)
