"""Reading the waits of a run from the file a spool wrote.

Per node and reason the file has the clock at which each wait began, and the cycles waited before
it; so the cycles waited until any clock are found by bisection, exactly, at whatever zoom.  The
file is mapped into memory: opening it reads nothing, asking it reads a few pages per column.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from fuseloom.dataflow.sim.events.spool import MAGIC, PLACE_WORDS, PREAMBLE, REASONS
from fuseloom.dataflow.sim.observe import BUSY, IDLE, INPUT, Int64
from fuseloom.errors import SimulationError


class EventStore:
    """The waits of one run.

    Parameters
    ----------
    path : Path
        A file of :class:`~fuseloom.dataflow.sim.events.spool.WaitSpool`.

    Attributes
    ----------
    nodes : int
        Nodes of the graph.
    cycles : int
        Last cycle of the run.
    clocks : ndarray of int64, (nodes,)
        Last cycle of each node.
    tokens : ndarray of int64, (nodes, bins)
        Tokens each node put, per ``width`` cycles; no bins where nobody counted them.
    width : int
        Cycles per bin of ``tokens``.

    Raises
    ------
    SimulationError
        If the file is not there, or is another.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._words: Int64 = np.asarray(np.memmap(path, np.int64, "r"))
        except FileNotFoundError as problem:
            raise SimulationError(
                f"the events of this run are no longer at {path}", hint="run again with events"
            ) from problem
        except OSError as problem:
            raise SimulationError(f"{path} cannot be read: {problem.strerror}") from problem
        except ValueError:  # not even whole words
            self._words = np.zeros(0, np.int64)
        if len(self._words) < PREAMBLE or self._words[0] != MAGIC:
            raise SimulationError(f"{path} holds no events of a run", hint="run again with events")
        self.nodes, self.cycles, _, self.width, bins = map(int, self._words[1:6])
        at = PREAMBLE
        self.clocks = self._words[at : at + self.nodes]
        at += self.nodes
        count = PLACE_WORDS * len(REASONS) * self.nodes
        self._places = self._words[at : at + count].reshape(-1, PLACE_WORDS).tolist()
        at += count
        self.tokens = self._words[at : at + self.nodes * bins].reshape(self.nodes, bins)

    @cached_property
    def waits(self) -> int:
        """Waits in the file; those that touch and have one reason are one."""
        return sum(count for _, _, count in self._places)

    def of(self, node: int, reason: int) -> tuple[Int64, Int64]:
        """When a node's waits for a reason began, and the cycles waited before each and in all.

        The second has one entry more; the differences of its entries are the waits' lengths.
        """
        start, sums, count = self._places[node * len(REASONS) + reason - INPUT]
        return self._words[start : start + count], self._words[sums : sums + count + 1]

    def waited(self, node: int, reason: int, clocks: Int64) -> Int64:
        """Cycles that a node has waited for a reason until each of some clocks."""
        starts, before = self.of(node, reason)
        if not len(starts):
            return np.zeros(len(clocks), np.int64)
        begun = np.searchsorted(starts, clocks, "left")
        last = np.maximum(begun - 1, 0)
        within = np.minimum(before[last] + clocks - starts[last], before[last + 1])
        return np.where(begun > 0, within, 0)

    def spent(self, node: int, clocks: Int64) -> Int64:
        """Cycles that a node has spent in each activity until each of some clocks, (5, clocks)."""
        own = np.minimum(clocks, self.clocks[node])
        made = np.zeros((IDLE + 1, len(clocks)), np.int64)
        for reason in REASONS:
            made[reason] = self.waited(node, reason, own)
        made[BUSY] = own - made.sum(axis=0)
        made[IDLE] = clocks - own
        return made

    @cached_property
    def totals(self) -> Int64:
        """Cycles that each node spent in each activity, (nodes, 5); each row adds up to the run."""
        end = np.array([self.cycles])
        return np.stack([self.spent(node, end)[:, 0] for node in range(self.nodes)])
