"""The catalogue of SAMML primitives: one entry each, and nothing else switches on a name.

An entry says what goes in and out and how deep it nests, how a picture shows it, and what it
means and what work it does.  Its streaming semantics and timing are the generator and the
kernel that ``engine.dataflow.sim`` registers under the same name; how it changes the expected
number of tokens is registered in ``engine.dataflow.cost``.  Source: ``samml.md`` §2, ``fusion.md``
§7.
"""

from __future__ import annotations

from engine.dataflow.samml.primitive import (
    ANY,
    CARRIED,
    CRD,
    PAYLOAD,
    REF,
    SIG,
    VAL,
    WORD,
    Family,
    Nesting,
    Port,
    Primitive,
)
from engine.dataflow.table.cells import MAX_ACCUMULATOR_ORDER
from engine.errors import GraphError


def _accumulator(order: int) -> Primitive:
    """A sparse accumulator that folds over ``order`` inner levels at once."""
    inputs = tuple(Port(f"crd{order - k}", (CRD,), k) for k in range(order + 1))
    outputs = tuple(Port(f"crd{order - 1 - k}", (CRD,), k) for k in range(order))
    return Primitive(
        f"spacc{order}",
        f"sparse accumulator, order {order}",
        f"Acc{order}",
        Family.REDUCE,
        f"Per fiber of the outermost coordinates, folds values with equal {order} inner "
        "coordinates (add or max) and emits them in coordinate order.",
        inputs=(*inputs, Port("val", (VAL,), order)),
        outputs=(*outputs, Port("val", (VAL,), order - 1)),
        flops=lambda taken, made: taken[-1],
    )


_ENTRIES = (
    Primitive(
        "root",
        "root",
        "root",
        Family.SOURCE,
        "Emits the one reference 0 with which every traversal starts.",
        outputs=(Port("ref", (REF,)),),
    ),
    Primitive(
        "source",
        "source",
        "src",
        Family.SOURCE,
        "Emits given tokens, each no earlier than its given time.",
        outputs=(Port("out", (*ANY, SIG)),),
        params=("kind",),
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "sink",
        "sink",
        "sink",
        Family.WRITE,
        "Takes one token a cycle and forgets it.",
        inputs=(Port("in", (*ANY, SIG)),),
        observer=True,
    ),
    Primitive(
        "scan",
        "compressed level scanner",
        "LS",
        Family.SCAN,
        "For each reference emits the stored coordinates of that fiber and their positions. "
        "Optional singleton=true: the level has no segments to read.",
        inputs=(Port("ref", (REF,)),),
        outputs=(Port("crd", (CRD,), 1), Port("ref", (REF,), 1)),
        params=("tensor", "level"),
        bytes=lambda taken, made, fibers: WORD * made + 2 * WORD * taken[0],
    ),
    Primitive(
        "dense_scan",
        "dense level scanner",
        "LS",
        Family.SCAN,
        "For each reference r emits 0..dim-1 and the positions r*dim + coordinate.",
        inputs=(Port("ref", (REF,)),),
        outputs=(Port("crd", (CRD,), 1), Port("ref", (REF,), 1)),
        params=("dim",),
    ),
    Primitive(
        "repsig",
        "repeat signal",
        "RSig",
        Family.REPEAT,
        "Turns a stream into repeat (value), stop and done signals.",
        inputs=(Port("in", ANY),),
        outputs=(Port("sig", (SIG,)),),
    ),
    Primitive(
        "repeat",
        "repeater",
        "Rep",
        Family.REPEAT,
        "Repeats each token once per element of the fiber that the signal describes.",
        inputs=(Port("in", PAYLOAD), Port("sig", (SIG,), 1)),
        outputs=(Port("out", PAYLOAD, 1),),
        same_kind=True,
    ),
    Primitive(
        "intersect",
        "intersecter",
        "∩",
        Family.JOIN,
        "Keeps the coordinates all operands have, each operand's payload with them.",
        repeated_inputs=(Port("crd", (CRD,)), Port("payload", CARRIED)),
        outputs=(Port("crd", (CRD,)),),
        repeated_outputs=(Port("payload", CARRIED),),
    ),
    Primitive(
        "union",
        "unioner",
        "∪",
        Family.JOIN,
        "Keeps the coordinates any operand has; an operand that lacks one gives the empty token. "
        "With gate=g > 0 a fiber is empty when those of the first g operands all are.",
        repeated_inputs=(Port("crd", (CRD,)), Port("payload", CARRIED)),
        outputs=(Port("crd", (CRD,)),),
        repeated_outputs=(Port("payload", CARRIED),),
        params=("gate",),
    ),
    Primitive(
        "locate",
        "locator",
        "Loc",
        Family.SCAN,
        "Looks a coordinate up in a dense level: parent reference * dim + coordinate.",
        inputs=(Port("crd", (CRD,)), Port("ref", (REF,))),
        outputs=(Port("ref", (REF,)),),
        params=("dim",),
    ),
    Primitive(
        "sam_locate",
        "iterate-locate",
        "Loc",
        Family.SCAN,
        "Passes the coordinate on as the reference into a dense level: right only where the "
        "parent reference is 0.",
        inputs=(Port("ref", (REF,)), Port("crd", (CRD,))),
        outputs=(Port("located", (REF,)), Port("ref", (REF,)), Port("crd", (CRD,))),
        nesting=Nesting.PASSES,
    ),
    Primitive(
        "array",
        "value load",
        "Val",
        Family.VALUE,
        "Loads the value at each reference; the empty token stays empty.",
        inputs=(Port("ref", (REF,)),),
        outputs=(Port("val", (VAL,)),),
        params=("tensor",),
        bytes=lambda taken, made, fibers: WORD * taken[0],
    ),
    Primitive(
        "binary",
        "binary ALU",
        "ALU",
        Family.COMPUTE,
        "Applies add, sub, mul or div to two aligned value streams. Optional needs=a or b: no "
        "result where that operand is empty, even for a sum.",
        inputs=(Port("a", (VAL,)), Port("b", (VAL,))),
        outputs=(Port("val", (VAL,)),),
        params=("fn",),
        flops=lambda taken, made: made,
    ),
    Primitive(
        "unary",
        "unary ALU",
        "ALU",
        Family.COMPUTE,
        "Applies a function of one value; the empty token stays empty.",
        inputs=(Port("val", (VAL,)),),
        outputs=(Port("val", (VAL,)),),
        params=("fn", "scalar"),
        flops=lambda taken, made: made,
    ),
    Primitive(
        "reduce",
        "reducer",
        "Red",
        Family.REDUCE,
        "Folds each innermost fiber to one value (add or max). With a guide, the coordinates of "
        "the level outside, it tells an empty fiber from no fiber.",
        inputs=(Port("val", (VAL,), 1),),
        optional_inputs=(Port("guide", (CRD,)),),
        outputs=(Port("val", (VAL,)),),
        params=("fn",),
        flops=lambda taken, made: taken[0],
    ),
    Primitive(
        "tilefold",
        "tile folder",
        "Fold",
        Family.REDUCE,
        "Folds axes inside each tile (add or max), or transposes it: tile=im->i, block=b.",
        inputs=(Port("val", (VAL,)),),
        outputs=(Port("val", (VAL,)),),
        params=("fn", "tile", "block"),
        flops=lambda taken, made: taken[0],
    ),
    Primitive(
        "spacc1",
        "sparse accumulator, order 1",
        "Acc1",
        Family.REDUCE,
        "Per fiber of the outer coordinates, folds values with equal inner coordinate (add or "
        "max) and emits them in coordinate order.",
        inputs=(Port("outer", (CRD,)), Port("inner", (CRD,), 1), Port("val", (VAL,), 1)),
        outputs=(Port("crd", (CRD,)), Port("val", (VAL,))),
        params=("fn", "dim"),
        flops=lambda taken, made: taken[2],
    ),
    *(_accumulator(order) for order in range(2, MAX_ACCUMULATOR_ORDER + 1)),
    Primitive(
        "shift",
        "coordinate shifter",
        "Shift",
        Family.ROUTE,
        "Adds an offset to every coordinate, where operands are put one after another.",
        inputs=(Port("crd", (CRD,)),),
        outputs=(Port("crd", (CRD,)),),
        params=("offset", "dim"),
    ),
    Primitive(
        "fiber_align",
        "fiber aligner",
        "Align",
        Family.DROP,
        "Gives a stream one subtree per coordinate of a joined level: drops the subtrees of "
        "coordinates that the join dropped, inserts empty ones where it added some.",
        inputs=(Port("before", (CRD,)), Port("after", (CRD,)), Port("in", ANY, "levels")),
        outputs=(Port("out", ANY, "levels"),),
        params=("levels",),
        same_kind=True,
        nesting=Nesting.ALIGNS,
    ),
    Primitive(
        "replay",
        "replayer",
        "Rpl",
        Family.REPEAT,
        "Keeps one subtree of that many levels on chip and puts it once per coordinate of the "
        "driver's fiber.",
        inputs=(Port("in", ANY, "levels"), Port("driver", (CRD,), 1)),
        outputs=(Port("out", ANY, "levels", deeper=1),),
        params=("levels",),
        same_kind=True,
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "crddrop",
        "coordinate dropper",
        "Drop",
        Family.DROP,
        "Drops outer coordinates whose inner fiber is empty.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        outputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
    ),
    Primitive(
        "valdrop",
        "value dropper",
        "VDrop",
        Family.DROP,
        "Drops empty values together with their coordinates.",
        inputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        outputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
    ),
    Primitive(
        "zerodrop",
        "zero dropper",
        "ZDrop",
        Family.DROP,
        "Drops zeros together with their coordinates.",
        inputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        outputs=(Port("val", (VAL,)), Port("crd", (CRD,))),
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "stopdrop",
        "stop dropper",
        "SDrop",
        Family.DROP,
        "Drops a stop if nothing came since the last one.",
        inputs=(Port("in", ANY),),
        outputs=(Port("out", ANY),),
        same_kind=True,
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "crdmask",
        "coordinate mask",
        "Mask",
        Family.DROP,
        "Drops elements whose outer coordinate is greater than the inner one.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,)), Port("ref", (REF,), 1)),
        outputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,)), Port("ref", (REF,), 1)),
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "crdhold",
        "coordinate hold",
        "Hold",
        Family.REPEAT,
        "Repeats each outer coordinate along its inner fiber.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        outputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,), 1)),
    ),
    Primitive(
        "flatten",
        "flattener",
        "Flat",
        Family.ROUTE,
        "Merges two levels into one: outer coordinate * factor + inner coordinate.",
        inputs=(Port("inner", (CRD,), 1), Port("outer", (CRD,))),
        outputs=(Port("crd", (CRD,)),),
        params=("factor",),
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "fork",
        "fork",
        "Fork",
        Family.ROUTE,
        "Deals a stream's leaves to several lanes in turn.",
        inputs=(Port("in", ANY),),
        repeated_outputs=(Port("lane", ANY),),
        same_kind=True,
        nesting=Nesting.DEALS,
    ),
    Primitive(
        "join",
        "join",
        "Join",
        Family.ROUTE,
        "Collects a fiber from each lane in turn, one level below the forked one.",
        repeated_inputs=(Port("lane", ANY),),
        outputs=(Port("out", ANY),),
        same_kind=True,
        nesting=Nesting.OPAQUE,
    ),
    Primitive(
        "ordered_join",
        "ordered join",
        "Join",
        Family.ROUTE,
        "Collects from each lane in turn what one coordinate of the forked level opened; the "
        "guide, that level's unforked coordinates, says where fibers end.",
        inputs=(Port("guide", (CRD,)),),
        repeated_inputs=(Port("lane", ANY, "levels"),),
        outputs=(Port("out", ANY, "levels"),),
        params=("levels",),
        nesting=Nesting.COLLECTS,
    ),
    Primitive(
        "broadcast",
        "broadcast",
        "•",
        Family.ROUTE,
        "Copies one stream to several readers.",
        inputs=(Port("in", (*ANY, SIG)),),
        repeated_outputs=(Port("out", (*ANY, SIG)),),
        same_kind=True,
        nesting=Nesting.PASSES,
    ),
    Primitive(
        "mem_read",
        "read port",
        "Mem",
        Family.MEMORY,
        "Passes references on, and coordinates beside them, when the memory has read what they "
        "refer to: size bytes at base + stride * reference.",
        repeated_inputs=(Port("in", (CRD, REF)),),
        repeated_outputs=(Port("out", (CRD, REF)),),
        params=("base", "stride", "size"),
        nesting=Nesting.PASSES,
    ),
    Primitive(
        "mem_write",
        "write port",
        "Mem",
        Family.MEMORY,
        "Passes tokens on and writes them to memory, size bytes each, one after another from "
        "base on. With segments, the address of the segments, it writes those too.",
        inputs=(Port("in", ANY),),
        outputs=(Port("out", ANY),),
        params=("base", "size"),
        same_kind=True,
        nesting=Nesting.PASSES,
    ),
    Primitive(
        "crdwrite",
        "level writer",
        "LW",
        Family.WRITE,
        "Writes one level: coordinates and segments.",
        inputs=(Port("crd", (CRD,)),),
        params=("tensor", "level"),
        bytes=lambda taken, made, fibers: WORD * taken[0] + WORD * (fibers + 1),
    ),
    Primitive(
        "valwrite",
        "values writer",
        "VW",
        Family.WRITE,
        "Writes the value array.",
        inputs=(Port("val", (VAL,)),),
        params=("tensor",),
        bytes=lambda taken, made, fibers: WORD * taken[0],
    ),
)

CATALOGUE: dict[str, Primitive] = {entry.name: entry for entry in _ENTRIES}


def primitive(name: str) -> Primitive:
    """The catalogue entry of that name.

    Raises
    ------
    GraphError
        If there is none.
    """
    try:
        return CATALOGUE[name]
    except KeyError:
        raise GraphError(
            f"no primitive is called {name!r}", hint=f"known: {', '.join(CATALOGUE)}"
        ) from None
