"""Rows inside an outer coordinate that an accumulator puts at once, into channels with a bound.

While a row waits for room the accumulator takes nothing.  What it takes for a row, what it puts and
what is behind it follow each other row by row: it is done with a row when all but as many of its
tokens as the channel holds have been taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, Execution
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, Floats, Profile
from fuseloom.dataflow.cost.exact.steps import innermost
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.traits import Role

MOST = 100_000
"""Rows of an accumulator that are looked at one by one."""


def waits_for_room(execution: Execution, rooms: Mapping[int, int]) -> dict[int, Profile]:
    """Cycles that accumulators wait to put rows, per outer coordinate; of those with several."""
    return _Rows(execution, rooms).waits()


@dataclass(eq=False)
class _RowChannel:
    """A channel that rows wait for: their tokens, and the cycles of the consumers behind it."""

    room: int
    tokens: list[float]
    cycles: list[float]
    away: int
    """Cycles that a token takes from one to the other."""
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    passed: list[float] = field(default_factory=lambda: [0.0])
    row: int = 0
    """That of the token last waited for."""

    def put(self, row: int, begun: float) -> float:
        """When a row has been put, if from then on it may."""
        first = begun + self.away
        self.starts.append(max(first, self.ends[-1]) if self.ends else first)
        self.ends.append(self.starts[-1] + self.cycles[row])
        self.passed.append(self.passed[-1] + self.tokens[row])
        awaited = self.passed[-1] - self.room
        if awaited <= 0:
            return begun
        while self.passed[self.row + 1] < awaited:
            self.row += 1
        share = (awaited - self.passed[self.row]) / self.tokens[self.row]
        return self.starts[self.row] + share * (self.ends[self.row] - self.starts[self.row])


class _Rows:
    def __init__(self, execution: Execution, rooms: Mapping[int, int]) -> None:
        self.execution, self.rooms = execution, rooms
        self.graph = execution.graph
        self.taken: dict[int, Floats] = {}
        """Of accumulators that wait, the cycles that each row takes."""

    def waits(self) -> dict[int, Profile]:
        found = {}
        for k in reversed(self.graph.topological()):
            made = self.execution.nodes[k]
            base = _rows_of(made)
            if base is None or base.n > MOST:
                continue
            own = self._cycles(k, base)
            channels = [
                channel
                for s in self.graph.nodes[k].outputs
                if s is not None and s in self.rooms
                for channel in self._channels(s, base)
            ]
            if own is None or not channels:
                continue
            self.taken[k] = _row_by_row(own, channels)
            waits = np.concatenate(([0.0], np.cumsum(np.maximum(self.taken[k] - own, 0.0))))
            found[k] = Profile(base.top, np.diff(waits[base.ends]))
        return found

    def _cycles(self, k: int, base: FiberLevel) -> Floats | None:
        """Cycles of a node's work for each row: as many as it has tokens there, brought to all."""
        if k in self.taken and len(self.taken[k]) == base.n:
            return self.taken[k]
        node = self.graph.nodes[k]
        found = [
            tokens
            for s in (*node.inputs, *node.outputs)
            if s is not None
            and (tokens := _tokens(self.execution.streams[s].fiber_tree, base)) is not None
        ]
        if not found:
            return None
        tokens = np.maximum.reduce(found)
        total = self.execution.nodes[k].work.total
        if k in self.taken:
            total = float(self.taken[k].sum())
        return np.asarray(tokens * (total / max(float(tokens.sum()), 1.0)))

    def _channels(self, stream: int, base: FiberLevel) -> list[_RowChannel]:
        """Return the consumers behind a channel, up to the next fold: the slowest per capacity."""
        tokens = _tokens(self.execution.streams[stream].fiber_tree, base)
        assert tokens is not None
        total = float(tokens.sum())
        slowest: dict[int, Floats] = {}
        away: dict[int, int] = {}
        for k, (room, hops) in self._behind(stream, total).items():
            cycles = self._cycles(k, base)
            if cycles is None or room >= total:
                continue
            if primitive(self.graph.nodes[k].op).role is not Role.COPY:
                known = slowest.get(int(room))
                slowest[int(room)] = cycles if known is None else np.maximum(known, cycles)
                away[int(room)] = max(away.get(int(room), hops), hops)
        listed = tokens.tolist()
        return [
            _RowChannel(room, listed, cycles.tolist(), away[room])
            for room, cycles in slowest.items()
        ]

    def _behind(self, stream: int, tokens: float) -> dict[int, tuple[float, int]]:
        """Nodes, how many tokens of the first channel have room in front of each, and how far."""
        first = self.graph.consumer[stream]
        found = {first: (float(self.rooms[stream]), 1)}
        stack = [first]
        while stack:
            k = stack.pop()
            if self.execution.nodes[k].flushes is not None:
                continue
            for s in self.graph.nodes[k].outputs:
                if s is None:
                    continue
                arrivals = max(self.execution.streams[s].tokens.total, 1.0)
                room, hops = found[k]
                room += self.rooms.get(s, arrivals) * tokens / arrivals
                reader = self.graph.consumer[s]
                if reader not in found or room < found[reader][0]:
                    found[reader] = room, hops + 1
                    stack.append(reader)
        return found


def _rows_of(made: Executed) -> FiberLevel | None:
    """The level of which an accumulator puts a row per element, if that is inside the outermost."""
    if made.flushes is None or made.flushes.top is None or len(made.outputs) < 2:
        return None
    base = made.outputs[0].fiber_tree.parent
    return base if base is not None and base.depth > 1 else None


def _tokens(fiber_tree: FiberLevel, base: FiberLevel) -> Floats | None:
    """Tokens under every element of a level; None where it is not a level outside."""
    levels = innermost(fiber_tree, max(fiber_tree.depth - base.depth, 0))
    if not levels or levels[0].parent is None or levels[0].parent.n != base.n:
        return None
    before = after = np.arange(base.n + 1)
    for level in levels:
        before, after = after, level.seg[after]
    return np.asarray(np.diff(after) + np.maximum(np.diff(before), 1), dtype=np.float64)


def _row_by_row(own: Floats, channels: list[_RowChannel]) -> Floats:
    """Cycles from one row that is put to the next."""
    done = []
    now = 0.0
    for row, work in enumerate(own.tolist()):
        begun = now + work
        now = max(begun, *(channel.put(row, begun) for channel in channels))
        done.append(now)
    return np.diff(done, prepend=0.0)
