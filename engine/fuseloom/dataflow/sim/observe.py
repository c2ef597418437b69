"""The observations that a run can make besides its counters, and their results.

Both engines observe, and say the same: occupancies, tokens per bin and logs agree exactly.  The
timelines of nodes are exact on the golden models; the compiled engine knows a node's clock and
stalls only from visit to visit (a ring full of tokens, some hundred to some thousand cycles) and
spreads each visit's cycles evenly over its interval.  Their totals are exact on both.  So is every
wait, from cycle to cycle, where events are asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fuseloom.arguments import check_fields
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

Int64 = npt.NDArray[np.int64]

BUSY, INPUT, ROOM, MEMORY, IDLE = range(5)
ACTIVITIES = ("busy", "stall_input", "stall_output", "stall_memory", "idle")
"""Rows of a node's timeline."""

LOG_LIMIT = 1 << 21
"""Records of a log, 40 bytes each, unless told otherwise."""

MOST_BINS = 1 << 16
MOST_RECORDS = 1 << 28


@dataclass(frozen=True)
class Observe:
    """The choice of observations besides timelines of nodes and the mean tokens in channels.

    Attributes
    ----------
    bins : int
        Most bins of a timeline; even.  A bin is a power of two of cycles wide, as few as the
        run allows.
    peaks : bool
        Find the most tokens at once in every channel.
    log : bool
        Keep the times of every put and take, for the critical path, and count tokens per bin;
        implies ``peaks``.  What each costs is told by ``benchmarks/observation.py``.
    log_limit : int
        Records the compiled engine keeps, the newest; one stands for a run of tokens.
    log_end : int, optional
        Stop the run once it has written that many records, so that the log holds those before
        it: how the log of a long run is read window by window.
    events : Path, optional
        Write every wait of every node to that file (:mod:`fuseloom.dataflow.sim.events.store`),
        exactly, on either engine; of a program, one file per region (:meth:`part`).

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmv, data = fl.load("spmv")
    >>> run = fl.simulate(fl.compile(spmv.program), data, observe=fl.Observe(log=True))
    >>> run.cycles == sum(segment.stop - segment.start for segment in run.regions[0].path.segments)
    True
    """

    bins: int = 256
    peaks: bool = False
    log: bool = False
    log_limit: int = LOG_LIMIT
    log_end: int | None = None
    events: Path | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not 2 <= self.bins <= MOST_BINS or self.bins % 2:
            raise SimulationError(
                f"{counted(self.bins, 'bin')}", hint=f"an even number from 2 to {MOST_BINS:,}"
            )
        if not 1 <= self.log_limit <= MOST_RECORDS:
            raise SimulationError(
                f"a log of {counted(self.log_limit, 'record')}", hint=f"1 to {MOST_RECORDS:,}"
            )

    def part(self, number: int) -> Observe:
        """The same for one region of several: its events go to a file with that number."""
        if self.events is None:
            return self
        name = f"{self.events.stem}.{number}{self.events.suffix}"
        return replace(self, events=self.events.with_name(name))

    @property
    def maxima(self) -> bool:
        """True if the most tokens in every channel are wanted."""
        return self.peaks or self.log


@dataclass(frozen=True)
class Events:
    """Runs of events on one channel, in order.

    Run ``i`` stands for tokens ``first[i]`` to ``first[i] + count[i] - 1`` of the channel, at
    clocks ``clock[i]``, ``clock[i] + step[i]``, ...
    """

    first: Int64
    count: Int64
    clock: Int64
    step: Int64

    @classmethod
    def of(cls, clocks: Sequence[int]) -> Events:
        """One run per token."""
        n = len(clocks)
        return cls(
            np.arange(n),
            np.ones(n, np.int64),
            np.asarray(clocks, np.int64).reshape(-1),
            np.zeros(n, np.int64),
        )

    def expanded(self) -> Int64:
        """Clock of each token."""
        each = np.repeat(np.arange(len(self.first)), self.count)
        start = np.cumsum(self.count) - self.count
        steps = np.arange(len(each)) - start[each]
        return np.asarray(self.clock[each] + steps * self.step[each], np.int64)


@dataclass(frozen=True)
class StreamLog:
    """Puts and takes of one channel.

    Attributes
    ----------
    puts : Events
        Timestamps of the tokens put.
    takes : Events
        Clocks at which they were taken.
    late : ndarray of bool, per run of ``puts``
        Whether its tokens have the result latency of their producer; others have one cycle.
    latency : int
        That latency: cycles from put to timestamp.
    capacity : int or None
        Slots of the channel.
    peeked : bool
        Whether its reader may look at a token without taking it.
    """

    puts: Events
    takes: Events
    late: npt.NDArray[np.bool_]
    latency: int
    capacity: int | None
    peeked: bool


@dataclass(frozen=True)
class Wait:
    """A node's clock moved from ``since`` to ``until`` for token ``token`` of stream ``stream``.

    With ``room`` it waited for a slot for that token, otherwise for the token.  Where both
    clocks are equal, it came just in time.
    """

    since: int
    until: int
    room: bool
    stream: int
    token: int


@dataclass(frozen=True)
class Observed:
    """The observations of a run.

    Attributes
    ----------
    width : int
        Cycles per bin.
    nodes : ndarray of int64, (nodes, 5, bins)
        Cycles per bin of each of :data:`ACTIVITIES`.  A node is idle after its last cycle;
        until its first token it waits for input.
    residence : ndarray of int64, per stream
        Cycles from timestamp to take, summed over the tokens taken.
    occupancy_max : ndarray of int64, per stream, or None
        Slots with which no put would have waited: the most tokens put and not yet taken, at
        the clocks of puts, where a slot is free from the cycle after its token is taken.
    tokens : ndarray of int64, (streams, bins), or None
        With a log, tokens per bin, by their timestamps.
    log : tuple of StreamLog, or None
        Per stream.
    waits : tuple, or None
        Per node, every wait in order, from the golden models with a log.
    logged : int
        Records written to the log, the dropped ones among them.
    forgotten : int
        The latest clock in a dropped record: the log knows all that happened after it.
    events : Path, optional
        The file that every wait was written to.
    """

    width: int
    nodes: Int64
    residence: Int64
    occupancy_max: Int64 | None = None
    tokens: Int64 | None = None
    log: tuple[StreamLog, ...] | None = None
    waits: tuple[tuple[Wait, ...], ...] | None = None
    logged: int = 0
    forgotten: int = -1
    events: Path | None = None

    def occupancy_mean(self, cycles: int) -> npt.NDArray[np.float64]:
        """Tokens that lie in each channel, arrived and not yet taken, on average over a run.

        Tokens that nobody takes are left out.  That it is the residence over the elapsed cycles
        is Little's law.
        """
        return self.residence / max(cycles, 1)


def bin_width(bins: int, last: int) -> int:
    """Cycles per bin, a power of two, with which clock ``last`` still has a bin."""
    width = 1
    while last >= bins * width:
        width *= 2
    return width


def with_idle(rows: Int64, width: int, end: int) -> Int64:
    """Timelines (nodes, 4, bins) with the row of idle cycles, cut where the run ends."""
    bins = max(1, -(-end // width))
    edges = np.minimum(np.arange(rows.shape[2] + 1) * width, end)
    idle = np.diff(edges) - rows.sum(axis=1)
    return np.concatenate((rows, idle[:, None, :]), axis=1)[:, :, :bins]


def most_at_once(puts: Int64, freed: Int64) -> int:
    """Slots with which no put would have waited, from clocks of puts and of slots' release."""
    if not len(puts):
        return 0
    free = np.searchsorted(freed, puts, side="right")
    return int((np.arange(1, len(puts) + 1) - free).max())


def is_peeked(node: Node, port: int, machine: Machine) -> bool:
    """Return whether a node may read the head of an input without taking it."""
    return port in primitive(node.op).streaming.peeks.ports(node, machine.quirks)


def peeked_streams(nodes: Collection[Node], machine: Machine) -> frozenset[int]:
    """Streams whose reader may look at a token without taking it."""
    return frozenset(
        stream
        for node in nodes
        for port, stream in enumerate(node.inputs)
        if is_peeked(node, port, machine)
    )
