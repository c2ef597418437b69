"""The catalogue's entry of a primitive: ports, depths, nesting, traits, colour, work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from typing import Any, Self

from fuseloom.dataflow.samml.graph import Scalar, StreamKind
from fuseloom.dataflow.samml.traits import (
    Arithmetic,
    Empties,
    Kernels,
    MemoryTraits,
    Role,
    Streaming,
    Traversal,
)
from fuseloom.errors import GraphError

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
    MEMORY = "#d8dcf6"


class Nesting(Enum):
    """The origin of the levels of a primitive's outputs, counted from the outermost.

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

    A depth that a node chooses is the name of the parameter that says it, ``deeper`` levels more.
    """

    name: str
    kinds: tuple[StreamKind, ...]
    depth: int | str = 0
    deeper: int = 0

    def depth_of(self, params: Mapping[str, Scalar]) -> int:
        """Depth relative to the node's, given the node's parameters."""
        depth = self.depth if isinstance(self.depth, int) else int(params[self.depth])
        return depth + self.deeper


Flops = Callable[[Sequence[float], float], float]
Bytes = Callable[[Sequence[float], float, float], float]

WORD = 4
"""Bytes of a coordinate, a segment entry or a value."""


def no_flops(taken: Sequence[float], made: float) -> float:
    """It computes nothing."""
    return 0


def no_bytes(taken: Sequence[float], made: float, fibers: float) -> float:
    """It moves nothing to or from memory."""
    return 0


def no_actions(taken: Sequence[float], made: float) -> float:
    """It has no coordinates to compute with, and no buffer."""
    return 0


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """One primitive of the machine.

    Only the groups of ports that most primitives lack may be left out; whoever leaves out a
    trait gets an error, for every room would take the primitive for something it may not be.

    Attributes
    ----------
    name, title, short, doc : str
        What graphs call it, what people do, the label of its box, and a sentence on what it does.
    family : Family
        Its colour, and its part in a graph: ``JOIN`` has operands in pairs of coordinates and
        payload, ``WRITE`` ends a graph.
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
    role, empties, traversal, streaming, arithmetic, memory, kernels
        Traits (:mod:`fuseloom.dataflow.samml.traits`).
    observer : bool
        Only watches a test bench: its clock is no part of the elapsed cycles.
    estimated : bool
        Whether compiled programs have it, so that there are rules for its cost
        (:mod:`fuseloom.dataflow.cost.rules`, :mod:`fuseloom.dataflow.cost.exact.execution`); others
        come from files, test benches and machines.
    flops, bytes : callable
        Work from counts of value tokens (``docs/spec/machine.md`` §11): ``flops(taken, made)`` and
        ``bytes(taken, made, fibers)``, where ``taken`` has an entry per input, ``made`` counts
        an output's, and ``fibers`` are the segments a level writer closes.
    integers, buffered : callable
        Of the same counts, for its energy (``docs/spec/energy.md`` §2): operations on coordinates
        and references; entries written to and read from a buffer of its own.

    Raises
    ------
    GraphError
        If a trait is left out.
    """

    name: str = field(kw_only=False)
    title: str
    short: str
    family: Family
    doc: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    repeated_inputs: tuple[Port, ...] = ()
    repeated_outputs: tuple[Port, ...] = ()
    optional_inputs: tuple[Port, ...] = ()
    params: tuple[str, ...]
    same_kind: bool
    nesting: Nesting
    role: Role
    empties: Empties
    traversal: Traversal
    streaming: Streaming
    arithmetic: Arithmetic
    memory: MemoryTraits
    kernels: Kernels
    observer: bool
    estimated: bool
    flops: Flops
    bytes: Bytes
    integers: Flops
    buffered: Flops

    def __new__(cls, name: str, **said: Any) -> Self:
        missing = [what for what in required_fields() if what not in said]
        if missing:
            raise GraphError(
                f"the catalogue's entry of {name!r} says nothing of {', '.join(missing)}",
                hint="every trait is required: see fuseloom.dataflow.samml.traits",
            )
        return super().__new__(cls)

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


def required_fields() -> tuple[str, ...]:
    """Names of what an entry has to say besides its name."""
    named = [f for f in fields(Primitive) if f.default is MISSING]
    return tuple(f.name for f in named if f.name != "name")
