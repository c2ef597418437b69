"""A run kept token by token: when each was put, could be seen, and was taken.

A token's way through its channel, in clock cycles::

    put <= moving < visible <= lying in the channel < taken

All is exact up to the last cycle kept, whatever of the run is left out behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.observe import Int64, Wait
from fuseloom.dataflow.sim.tokens import Token

NEVER = int(np.iinfo(np.int64).max)
"""The cycle of what does not happen in the cycles kept."""


@dataclass(frozen=True)
class StreamRecord:
    """Every token of one channel, in order.

    Attributes
    ----------
    tokens : tuple
        Those put until the last cycle kept.
    put, visible, taken : ndarray of int64, per token
        Cycles in which it was put, could be seen first, and was taken; :data:`NEVER` if not
        within the cycles kept.
    capacity : int or None
        Slots of the channel.
    """

    tokens: tuple[Token, ...]
    put: Int64
    visible: Int64
    taken: Int64
    capacity: int | None

    def entered(self, cycle: int) -> int:
        """Tokens put until the end of that cycle."""
        return int(np.searchsorted(self.put, cycle, side="right"))

    def left(self, cycle: int) -> int:
        """Tokens taken until the end of that cycle."""
        return int(np.searchsorted(self.taken, cycle, side="right"))

    def held(self, cycle: int) -> range:
        """Numbers of the tokens in the channel at the end of a cycle, the next to leave first."""
        return range(self.left(cycle), self.entered(cycle))

    def head(self, cycle: int) -> Token | None:
        """The token its reader can see at the end of a cycle, if there is one."""
        first = self.left(cycle)
        seen = first < len(self.tokens) and self.visible[first] <= cycle
        return self.tokens[first] if seen else None

    def put_in(self, cycle: int) -> range:
        """Numbers of the tokens put in that cycle."""
        return _at(self.put, cycle)

    def taken_in(self, cycle: int) -> range:
        """Numbers of the tokens taken in that cycle."""
        return _at(self.taken, cycle)


def _at(clocks: Int64, cycle: int) -> range:
    first, last = np.searchsorted(clocks, [cycle, cycle + 1])
    return range(int(first), int(last))


@dataclass(frozen=True)
class Recording:
    """The events in a run of one graph, cycle by cycle, as far as they were kept.

    Attributes
    ----------
    graph : Graph
        The graph that ran, ports of the memory among its nodes.
    machine : Machine
        The machine it ran on.
    streams : tuple of StreamRecord
        Per stream.
    waits : tuple
        Per node, every wait of a cycle or more that began in the cycles kept; one without an end
        lasts to :data:`NEVER`.
    ends : ndarray of int64, per node
        The node's final clock, :data:`NEVER` if it did not end in the cycles kept.
    cycles : int or None
        Elapsed cycles of the run, if all of it was kept.
    outputs : mapping
        What the writers wrote (:class:`fuseloom.dataflow.sim.result.EngineResult`), if all of the
        run was kept.
    last : int
        The last cycle kept.
    note : str
        What was left out, or why the run stopped; empty if it ended by itself.
    """

    graph: Graph
    machine: Machine
    streams: tuple[StreamRecord, ...]
    waits: tuple[tuple[Wait, ...], ...]
    ends: Int64
    cycles: int | None
    outputs: Mapping[int, Mapping[str, npt.NDArray[Any]]]
    last: int
    note: str = ""

    @property
    def complete(self) -> bool:
        """True if the run ended within the cycles kept."""
        return self.cycles is not None

    @cached_property
    def tokens(self) -> int:
        """Tokens kept, in all streams."""
        return sum(len(stream.tokens) for stream in self.streams)

    @cached_property
    def _acts(self) -> dict[int, Int64]:
        return {}

    def acts(self, node: int) -> npt.NDArray[np.int64]:
        """Cycles in which a node took or put a token, in order."""
        if node not in self._acts:
            known = self.graph.nodes[node]
            clocks = [self.streams[s].taken for s in known.inputs]
            clocks += [self.streams[s].put for s in known.outputs if s is not None]
            all_clocks = np.unique(np.concatenate(clocks)) if clocks else np.array([], np.int64)
            self._acts[node] = all_clocks[all_clocks <= self.last]
        return self._acts[node]

    def waiting(self, node: int, cycle: int) -> Wait | None:
        """Return the wait of a node in a cycle in which it does nothing."""
        waits = self.waits[node]
        at = int(np.searchsorted(self._begins(node), cycle, side="right")) - 1
        return waits[at] if at >= 0 and cycle < waits[at].until else None

    def next_wait(self, node: int, cycle: int) -> int:
        """The cycle after that one in which a node begins to wait; :data:`NEVER` if none."""
        since = self._begins(node)
        at = int(np.searchsorted(since, cycle, side="right"))
        return int(since[at]) if at < len(since) else NEVER

    def _begins(self, node: int) -> Int64:
        if node not in self._since:
            self._since[node] = np.array([wait.since for wait in self.waits[node]], np.int64)
        return self._since[node]

    @cached_property
    def _since(self) -> dict[int, Int64]:
        return {}
