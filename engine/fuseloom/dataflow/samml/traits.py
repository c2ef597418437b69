"""Traits of primitives: what other rooms ask of one besides its ports.

Every trait is a required field of the catalogue's entry
(:class:`fuseloom.dataflow.samml.primitive.Primitive`), so that no room needs to know a primitive by
its name, and none can be forgotten when a primitive comes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.graph import Node

Mask: TypeAlias = npt.NDArray[np.bool_]


# ------------------------------------------------------------------------------ for rewrites


class Role(Enum):
    """The role that a pass may assume for a node.

    ``COPY``: fan-out, every output carries what the input carries.  ``DENSE_LEVEL``: all
    coordinates of a dense level, and their positions.  ``LOCATOR``: positions of given
    coordinates in a dense level.  ``SIGNAL`` and ``REPEATER``: the two halves of a repetition.
    ``INTERSECTER``: the coordinates that all operands have.  ``UNIONER``: those that any has.
    ``OTHER``: passes leave it alone, but for what its ports, family and nesting say.
    """

    COPY = "copy"
    DENSE_LEVEL = "dense level"
    LOCATOR = "locator"
    SIGNAL = "signal"
    REPEATER = "repeater"
    INTERSECTER = "intersecter"
    UNIONER = "unioner"
    OTHER = "other"


class Empties(Enum):
    """Empty tokens among the references that a primitive puts.

    ``NONE``: there are none.  ``TAKEN``: only where a reference it took was empty.
    ``POSSIBLE``: there may be, or nothing is known.
    """

    NONE = "none"
    TAKEN = "taken"
    POSSIBLE = "possible"


class Traversal(Enum):
    """A primitive's part in the traversal of the inputs' outermost level, by which progress goes.

    ``STARTS``: it puts the one reference with which traversals start.  ``DENSE_FIBER``,
    ``STORED_FIBER``: behind that it puts one fiber, as long as its parameter ``dim`` or its
    segments say.  ``HANDS_ON``: what comes on its first input leaves it on all outputs.
    ``CONSUMES``: what it has taken has been consumed.
    """

    STARTS = "starts"
    DENSE_FIBER = "dense fiber"
    STORED_FIBER = "stored fiber"
    HANDS_ON = "hands on"
    CONSUMES = "consumes"


# ------------------------------------------------------------------------------ in a run


class Oddities(Protocol):
    """The oddities of a machine that a trait may depend on (``docs/spec/comal.md`` §2)."""

    @property
    def spacc_strict(self) -> bool:
        """True if accumulators behave as those of the reference simulator."""
        ...


class PeekedHeads(Protocol):
    """Heads of one input at which a node may have looked, as the log of a run shows them.

    Each is a token that came as the head of its stream and was taken later, or never.  The
    methods say of each what the node did at the clock at which it came.
    """

    @property
    def port(self) -> int:
        """Number of the input."""
        ...

    @property
    def others(self) -> tuple[int, ...]:
        """Numbers of the node's other inputs."""
        ...

    def taken(self, *ports: int, ago: int = 0) -> Mask:
        """Return whether a token was taken from one of those inputs, so many cycles before."""
        ...

    def put(self, ago: int = 0) -> Mask:
        """Return whether a token was put on some output, so many cycles before."""
        ...

    def one_put(self) -> Mask:
        """Return whether the first output got one token only until the head was taken."""
        ...


def acts(look: PeekedHeads) -> Mask:
    """It took a token from another input, or put one."""
    return look.taken(*look.others) | look.put()


@dataclass(frozen=True)
class Peeks:
    """Inputs at whose head a node may look without taking it, and how that shows.

    A token may come as the head of its stream while its reader, busy elsewhere, does not look
    at it.  Who reads the cause of a wait from a log must know who looks.

    Attributes
    ----------
    ports : callable
        Numbers of those inputs, of a node on a machine with such oddities.
    waited : callable
        Whether what the node did at the clock at which a head came may have waited for it.
    """

    ports: Callable[[Node, Oddities], Collection[int]]
    waited: Callable[[PeekedHeads], Mask]

    @classmethod
    def at(cls, *ports: int, waited: Callable[[PeekedHeads], Mask] = acts) -> Peeks:
        """Looks at those inputs."""
        return cls(lambda node, oddities: ports, waited)

    @classmethod
    def everywhere(cls, waited: Callable[[PeekedHeads], Mask] = acts) -> Peeks:
        """Looks at all inputs."""
        return cls(lambda node, oddities: range(len(node.inputs)), waited)


NO_PEEKS = Peeks.at()
"""It takes whatever it waits for."""


class Takes(Enum):
    """When in a step a node takes what the step needs.

    ``FIRST``: before it puts what the step gives.  ``IN_ORDER``: likewise, one token from each
    input, one input after the other.  ``AS_NEEDED``: it may put in between; or has no inputs.
    """

    FIRST = "first"
    IN_ORDER = "in order"
    AS_NEEDED = "as needed"

    @property
    def before_puts(self) -> bool:
        return self is not Takes.AS_NEEDED


class Paced(Flag):
    """The streams on which no two tokens pass in one cycle, if the clock moves with every token.

    ``TAKES``: on each input.  ``PUTS``: on each output.  ``AS_GIVEN``: tokens pass without a
    cycle of the node's own, so several may at once.  A memory that makes the node stand still
    ends it.
    """

    UNKNOWN = 0
    TAKES = auto()
    PUTS = auto()
    BOTH = TAKES | PUTS
    AS_GIVEN = auto()


@dataclass(frozen=True)
class Streaming:
    """The passage of a primitive through its streams; its golden model is the exact definition."""

    peeks: Peeks
    takes: Takes
    paced: Paced


class Arithmetic(Enum):
    """The kind of arithmetic of a primitive, which decides its latency.

    Rules: ``docs/spec/machine.md`` §5.

    ``LOAD``: reads them from memory.  ``BINARY``, ``UNARY``: a function of two values, or one.
    ``FOLD``: makes one of the values of a fiber.  ``TILE_FOLD``: folds axes inside each tile.
    ``SEARCH``: finds coordinates among those stored.  ``NONE``: a cycle from taking to giving,
    whatever it is.
    """

    LOAD = "load"
    BINARY = "binary"
    UNARY = "unary"
    FOLD = "fold"
    TILE_FOLD = "tile fold"
    SEARCH = "search"
    NONE = "none"


class Stored(Enum):
    """Arrays of a stored tensor, by the names under which they are bound."""

    SEGMENTS = "seg"
    COORDINATES = "crd"
    VALUES = "vals"


@dataclass(frozen=True)
class ArrayRead:
    """An array that a primitive reads.

    Attributes
    ----------
    words : int
        Neighbouring words that one reference needs, or of a tile the numbers times that.
    behind : bool
        Whether the references are those it puts, not those it takes.
    """

    array: Stored
    words: int
    behind: bool


class MemoryPort(Enum):
    """The service that a port of the memory provides to its neighbour."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True)
class MemoryTraits:
    """The memory traits of a primitive (:mod:`fuseloom.dataflow.sim.ports`).

    Attributes
    ----------
    reads : tuple of ArrayRead
        Arrays it reads, in the order in which a reference needs them.
    writes : tuple of Stored
        Arrays it writes: first the one that takes its numbers, then maybe segments.
    stalled : str or None
        Name of the golden model and of the kernel that stand still for a memory of queues.
    port : MemoryPort or None
        What it does, if it is itself a port of the memory.
    """

    reads: tuple[ArrayRead, ...]
    writes: tuple[Stored, ...]
    stalled: str | None
    port: MemoryPort | None

    @property
    def writes_level(self) -> bool:
        """True if it writes a level of a tensor: coordinates and segments."""
        return Stored.COORDINATES in self.writes


NO_MEMORY = MemoryTraits(reads=(), writes=(), stalled=None, port=None)


@dataclass(frozen=True)
class Kernels:
    """Names of the compiled kernels that run a primitive.

    Attributes
    ----------
    plain : str or None
        Runs it where its values are numbers; None if they never are.
    tiles : str
        Runs it where they are tiles.
    guided : str or None
        Runs it where it has an optional input, if that needs another kernel.
    table : str or None
        The parameter that says how many entries the kernel keeps a table of.
    """

    plain: str | None
    tiles: str
    guided: str | None
    table: str | None

    @classmethod
    def one(cls, name: str) -> Kernels:
        """One kernel in all cases."""
        return cls(plain=name, tiles=name, guided=None, table=None)

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return frozenset(name for name in (self.plain, self.tiles, self.guided) if name)
