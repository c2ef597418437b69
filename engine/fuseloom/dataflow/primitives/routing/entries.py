"""Copies, and lanes."""

from __future__ import annotations

from functools import partial

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.primitive import (
    ANY,
    CRD,
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
    Mask,
    Oddities,
    Paced,
    PeekedHeads,
    Peeks,
    Role,
    Streaming,
    Takes,
    Traversal,
)

_entry = partial(
    Primitive,
    family=Family.ROUTE,
    params=(),
    same_kind=True,
    role=Role.OTHER,
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


def _guide_of_subtrees(node: Node, oddities: Oddities) -> tuple[int, ...]:
    """It looks at the guide behind a subtree; lanes of single elements have none."""
    return (0,) if node.params["levels"] else ()


def _put_alone(look: PeekedHeads) -> Mask:
    """It put what it looks behind: a subtree, whose end is taken by then."""
    return look.put() & ~look.taken(*look.others)


ENTRIES = (
    _entry(
        "fork",
        title="fork",
        short="Fork",
        doc="Deals a stream's leaves to several lanes in turn.",
        inputs=(Port("in", ANY),),
        outputs=(),
        repeated_outputs=(Port("lane", ANY),),
        nesting=Nesting.DEALS,
        empties=Empties.TAKEN,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        kernels=Kernels.one("fork"),
    ),
    _entry(
        "join",
        title="join",
        short="Join",
        doc="Collects a fiber from each lane in turn, one level below the forked one.",
        inputs=(),
        outputs=(Port("out", ANY),),
        repeated_inputs=(Port("lane", ANY),),
        nesting=Nesting.OPAQUE,
        empties=Empties.POSSIBLE,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        kernels=Kernels.one("join"),
        estimated=False,
    ),
    _entry(
        "ordered_join",
        title="ordered join",
        short="Join",
        doc="Collects from each lane in turn what one coordinate of the forked level opened; the "
        "guide, that level's unforked coordinates, says where fibers end.",
        inputs=(Port("guide", (CRD,)),),
        outputs=(Port("out", ANY, "levels"),),
        repeated_inputs=(Port("lane", ANY, "levels"),),
        params=("levels",),
        same_kind=False,
        nesting=Nesting.COLLECTS,
        empties=Empties.TAKEN,
        streaming=Streaming(
            Peeks(_guide_of_subtrees, waited=_put_alone), Takes.AS_NEEDED, Paced.PUTS
        ),
        kernels=Kernels.one("ordered_join"),
    ),
    _entry(
        "broadcast",
        title="broadcast",
        short="•",
        doc="Copies one stream to several readers.",
        inputs=(Port("in", (*ANY, SIG)),),
        outputs=(),
        repeated_outputs=(Port("out", (*ANY, SIG)),),
        nesting=Nesting.PASSES,
        role=Role.COPY,
        empties=Empties.POSSIBLE,
        traversal=Traversal.HANDS_ON,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.AS_GIVEN),
        kernels=Kernels.one("broadcast"),
    ),
)
