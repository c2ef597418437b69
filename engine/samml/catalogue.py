"""The catalogue of SAMML primitives: one entry each, and nothing else switches on a name.

An entry says what goes in and out and how deep it nests, how a picture shows it, and what it
means and what work it does.  Its streaming semantics and timing are the generator and the
kernel that ``engine.sim`` registers under the same name; how it changes the expected number of
tokens is registered in ``engine.cost``.  Source: ``samml.md`` §2, ``fusion.md`` §7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from engine.errors import GraphError
from engine.samml.graph import Scalar, StreamKind
from engine.table.cells import MAX_ACCUMULATOR_ORDER

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
PAYLOAD = (REF, VAL)
CARRIED = (REF, VAL, CRD)  # a joiner whose operand has no payload carries its coordinates
ANY = (CRD, REF, VAL)


class Family(Enum):
    """Groups of primitives; the value is the fill colour of a drawing (light, dark text)."""

    SOURCE = "#e3e6ea"
    SCAN = "#cfe3ff"
    REPEAT = "#e9e9e2"
    JOIN = "#e4d3fb"
    VALUE = "#d3efd0"
    COMPUTE = "#ffe6b8"
    REDUCE = "#ffd5d0"
    DROP = "#d4eef0"
    ROUTE = "#f1f1f1"
    WRITE = "#fcdcec"


class Nesting(Enum):
    """Where the levels of a primitive's outputs come from, counted from the outermost.

    ``MAKES``: the levels of its shallowest coordinate output, from the innermost inward, are
    its own; outside them it keeps those of its inputs as far as these agree, and inputs that
    nest alike it takes together, element by element.  ``PASSES``: each output nests like its
    inputs.  ``DEALS``: an output's innermost level is a share of the
    input's.  ``COLLECTS``: undoes a deal, as the coordinates on its first input say.
    ``ALIGNS``: the third input's levels below those of the second input.
    ``OPAQUE``: nothing is known of what one token of an output has to do with one of an input.
    """

    MAKES = "makes"
    PASSES = "passes"
    DEALS = "deals"
    COLLECTS = "collects"
    ALIGNS = "aligns"
    OPAQUE = "opaque"


@dataclass(frozen=True)
class Port:
    """One port: its name, the kinds it takes, and its depth relative to the node's.

    A depth that a node chooses is the name of the parameter that says it.
    """

    name: str
    kinds: tuple[StreamKind, ...]
    depth: int | str = 0

    def depth_of(self, params: Mapping[str, Scalar]) -> int:
        """Depth relative to the node's, given the node's parameters."""
        return self.depth if isinstance(self.depth, int) else int(params[self.depth])


Flops = Callable[[Sequence[float], float], float]
Bytes = Callable[[Sequence[float], float, float], float]

WORD = 4
"""Bytes of a coordinate, a segment entry or a value."""


def _no_flops(taken: Sequence[float], made: float) -> float:
    return 0


def _no_bytes(taken: Sequence[float], made: float, fibers: float) -> float:
    return 0


@dataclass(frozen=True)
class Primitive:
    """One primitive of the machine.

    Attributes
    ----------
    inputs, outputs : tuple of Port
        Fixed ports, in order.
    repeated_inputs, repeated_outputs : tuple of Port
        A group of ports that follows the fixed ones any number of times (joiners, broadcast).
    optional_inputs : tuple of Port
        Ports that may follow at the end.
    params : tuple of str
        Names of the required parameters.
    same_kind : bool
        All payload ports carry the kind of the first input (repeat, broadcast).
    nesting : Nesting
        Where the levels of its outputs come from.
    observer : bool
        Only watches a test bench: its clock is no part of the elapsed cycles.
    flops, bytes : callable
        Work from counts of value tokens (``fusion.md`` §6): ``flops(taken, made)`` and
        ``bytes(taken, made, fibers)``, where ``taken`` has an entry per input, ``made`` counts
        an output's, and ``fibers`` are the segments a level writer closes.
    """

    name: str
    title: str
    short: str
    family: Family
    doc: str
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    repeated_inputs: tuple[Port, ...] = ()
    repeated_outputs: tuple[Port, ...] = ()
    optional_inputs: tuple[Port, ...] = ()
    params: tuple[str, ...] = ()
    same_kind: bool = False
    nesting: Nesting = Nesting.MAKES
    observer: bool = False
    flops: Flops = _no_flops
    bytes: Bytes = _no_bytes

    @property
    def colour(self) -> str:
        return self.family.value

    def input_ports(self, count: int) -> tuple[Port, ...]:
        """The ports a node with ``count`` inputs has.

        Raises
        ------
        GraphError
            If no such node exists.
        """
        return self._ports(count, self.inputs, self.repeated_inputs, self.optional_inputs, "inputs")

    def output_ports(self, count: int) -> tuple[Port, ...]:
        """The ports a node with ``count`` outputs has (see :meth:`input_ports`)."""
        return self._ports(count, self.outputs, self.repeated_outputs, (), "outputs")

    def _ports(
        self,
        count: int,
        fixed: tuple[Port, ...],
        group: tuple[Port, ...],
        optional: tuple[Port, ...],
        what: str,
    ) -> tuple[Port, ...]:
        rest = count - len(fixed)
        if rest >= 0 and group and rest % len(group) == 0:
            return fixed + group * (rest // len(group))
        if 0 <= rest <= len(optional):
            return fixed + optional[:rest]
        raise GraphError(f"{self.title} cannot have {count} {what}", hint=self.doc)


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
