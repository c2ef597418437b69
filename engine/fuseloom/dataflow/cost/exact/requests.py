"""The requests of a graph to its memory, port by port, and the earliest time of each.

Which words are read follows from the references of an execution on coordinates, exactly; when, as
far as nobody waits for the memory, from the recurrence.  Each token has a *place*: its outermost
coordinate, and how far inside it lies.  What stands at one place needs what stands in front of it
at the same or an earlier one.  Rules: ``docs/spec/machine.md`` §10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.cost.exact.arrivals import Stepping
from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, Floats, Ints, StreamContents
from fuseloom.dataflow.cost.exact.patterns import Patterns, UnknownError
from fuseloom.dataflow.cost.exact.port_rooms import PortRoom, port_rooms
from fuseloom.dataflow.cost.exact.timing import Timed
from fuseloom.dataflow.dram import replay
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.ports import OUTPUT_BYTES, AddressLayout, ported_reads
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.dataflow.samml.tile_values import elements_per_value
from fuseloom.dataflow.samml.traits import Stored
from fuseloom.errors import DataError
from fuseloom.program.late import networkx as nx

PHASES = 8
"""Folds inside an outermost coordinate that are told apart."""
AXIS = float(1 << 24)
"""The distance of places before and behind a fold of the outermost index."""


@dataclass(frozen=True, eq=False)
class AccessPort:
    """A port of the memory.

    Attributes
    ----------
    node : int
        Whose reads or writes these are.
    behind : bool
        Whether it stands behind the node.
    write : bool
    maker : int
        The node that puts its tokens.
    takers : tuple of int
        The nodes that take what it passes on.
    contents : StreamContents
        The tokens that pass: references of what is read, or what is written in turn.
    index : str or None
        The outermost index of its tokens.
    base, stride, size : int
        Bytes: of the array's address, from one reference to the next, and of a read.
    ends : bool
        Whether it writes where fibers end, not what is in them.
    """

    node: int
    behind: bool
    write: bool
    maker: int
    takers: tuple[int, ...]
    contents: StreamContents
    index: str | None
    base: int
    stride: int
    size: int
    ends: bool = False

    @property
    def tree(self) -> FiberLevel:
        return self.contents.fiber_tree


def ports_of(execution: Execution, patterns: Patterns) -> tuple[AccessPort, ...]:
    """The ports of a graph, those that read first, each with its array's address."""
    graph, layout = execution.graph, AddressLayout()
    readers: dict[int, list[int]] = {}
    for node in graph.nodes:
        for stream in node.inputs:
            readers.setdefault(stream, []).append(node.id)
    reads = [port for n in graph.nodes for port in _reads(execution, n, layout, readers, patterns)]
    writes = [port for n in graph.nodes for port in _writes(execution, n, layout)]
    return (*reads, *writes)


def _reads(
    execution: Execution,
    node: Node,
    layout: AddressLayout,
    readers: Mapping[int, Sequence[int]],
    patterns: Patterns,
) -> list[AccessPort]:
    found = []
    word = WORD * elements_per_value(node)
    for read in ported_reads(node):
        if read.behind:
            contents = execution.nodes[node.id].outputs[1]
            maker = node.id
            takers = tuple(t for s in node.outputs if s is not None for t in readers.get(s, ()))
        else:
            contents = execution.streams[node.inputs[0]]
            maker, takers = execution.graph.producer[node.inputs[0]], (node.id,)
        key = node.params.get("tensor"), node.params.get("level"), read.array
        if (highest := _highest(contents)) >= 0:
            words = max(_words(node, read.array, patterns), highest + read.words)
            base = layout.place(key, word * words)
            size = read.words * word
            index = _outermost_index(execution, node.id, read.behind)
            found.append(
                AccessPort(
                    node.id, read.behind, False, maker, takers, contents, index, base, word, size
                )
            )
    return found


def _words(node: Node, array: Stored, patterns: Patterns) -> int:
    """The length of the array that a node reads; 0 if it is not known."""
    try:
        level = int(node.params.get("level", -1))  # values are as many as the last level's elements
        segments, coordinates = patterns.words(str(node.params.get("tensor")), level)
    except (UnknownError, DataError, KeyError):
        return 0
    return segments if array is Stored.SEGMENTS else coordinates


def _highest(contents: StreamContents) -> int:
    """The highest reference; -1 if there is none."""
    if contents.base is not None:
        return int(contents.base.max(initial=-1)) + max(contents.fiber_tree.full - 1, 0)
    return -1 if contents.given is None else int(contents.given.max(initial=-1))


def _writes(execution: Execution, node: Node, layout: AddressLayout) -> list[AccessPort]:
    word = WORD * elements_per_value(node)
    found = []
    for array in primitive(node.op).memory.writes:
        stream = node.inputs[0]
        base = layout.place((node.id, array), OUTPUT_BYTES)
        size = word if array is Stored.VALUES else WORD
        maker, ends = execution.graph.producer[stream], array is Stored.SEGMENTS
        contents = execution.streams[stream]
        index = _outermost_index(execution, node.id, behind=False)
        found.append(
            AccessPort(node.id, False, True, maker, (), contents, index, base, size, size, ends)
        )
    return found


def _outermost_index(execution: Execution, node: int, behind: bool) -> str | None:
    """The outermost index of what passes in front of a node, or behind it."""
    graph = execution.graph
    streams = graph.nodes[node].outputs if behind else graph.nodes[node].inputs[:1]
    found = [graph.streams[s].indices for s in streams if s is not None]
    return next((indices[0] for indices in found if indices), None)


@dataclass(frozen=True, eq=False)
class MemoryRequests:
    """The requests of a graph's ports.

    Attributes
    ----------
    execution : Execution
        Of the graph, on all coordinates or some.
    when : Timed
        When it is done where the memory gives every word at once, of these coordinates alone.
    machine : Machine
        With a DRAM or an ideal memory.
    ports : tuple of AccessPort
    """

    execution: Execution
    when: Timed
    machine: Machine
    ports: tuple[AccessPort, ...]

    @cached_property
    def _ancestors(self) -> dict[int, set[int]]:
        """By node, those in front of it."""
        graph: Any = nx.DiGraph()
        graph.add_nodes_from(node.id for node in self.execution.graph.nodes)
        producer = self.execution.graph.producer
        for node in self.execution.graph.nodes:
            graph.add_edges_from((producer[stream], node.id) for stream in node.inputs)
        return {node: nx.ancestors(graph, node) for node in graph}

    @cached_property
    def _folds(self) -> dict[int, tuple[int, int, bool]]:
        """By node, how many folds of outermost indices lie in front of what it puts, how many
        accumulators inside one, and whether its tokens come when what is under them has ended."""
        found: dict[int, tuple[int, int, bool]] = {}
        graph = self.execution.graph
        for k in graph.topological():
            before = [found[graph.producer[s]] for s in graph.nodes[k].inputs]
            axis, phase, late = max(before, default=(0, 0, False))
            made = self.execution.nodes[k]
            if made.flushes is not None:
                if made.flushes.top is None:
                    axis, phase, late = axis + 1, 0, False
                elif len(made.outputs) > 1:
                    phase, late = min(phase + 1, PHASES - 1), False
                else:
                    late = True
            found[k] = axis, phase, late
        return found

    def axis_of(self, port: AccessPort) -> int:
        """Count the folds over an outermost index between the inputs of the graph and a port."""
        return self._folds[port.maker][0]

    def leaves(self, port: AccessPort, low: float, high: float) -> tuple[int, int]:
        """The tokens of a port whose outermost coordinates lie in this part of all, from 0 to 1."""
        tree = port.tree
        if tree.top is None:
            return (0, tree.n) if low <= 0.0 else (tree.n, tree.n)
        n = tree.top.n
        ends = tree.ends
        return int(ends[round(low * n)]), int(ends[round(high * n)])

    def trace(
        self, ports: Sequence[AccessPort], low: float = 0.0, high: float = 1.0
    ) -> tuple[Ints, Sequence[AccessPort], int]:
        """A trace for a replay, the ports that it has, and how many requests.

        Parameters
        ----------
        low, high : float
            The part of the outermost coordinates.
        """
        made = [self._requests(port, low, high) for port in ports]
        some = [k for k, rows in enumerate(made) if len(rows)]
        ports, made = [ports[k] for k in some], [made[k] for k in some]
        count = sum(map(len, made))
        if not count:
            return np.zeros(replay.HEADER, dtype=np.int64), ports, 0
        rows = np.concatenate(made)
        begins = np.concatenate(([0], np.cumsum([len(part) for part in made])))
        table = np.zeros((count, replay.REQUEST), dtype=np.int64)
        columns = ("ADDRESS", "SIZE", "ARRIVAL", "TOKENS", "WORK", "POSITION", "BEHIND", "FREED")
        for name in columns:
            table[:, getattr(replay, name)] = np.round(rows[name.lower()])
        places = np.unique(np.concatenate([rows["position"], rows["behind"]]))
        table[:, replay.POSITION] = np.searchsorted(places, rows["position"])
        behind = np.searchsorted(places, rows["behind"])
        table[:, replay.BEHIND] = np.where(rows["behind"] < 0.0, -1, behind)
        heads = np.zeros((len(ports), replay.PORT), dtype=np.int64)
        pairs = np.zeros((len(ports), len(ports), replay.PAIR), dtype=np.int64)
        numbers = [0, 0]
        for p, port in enumerate(ports):
            heads[p, replay.BEGIN], heads[p, replay.END] = begins[p], begins[p + 1]
            heads[p, replay.NEXT] = heads[p, replay.TAKEN] = begins[p]
            heads[p, replay.WRITES], heads[p, replay.NUMBER] = port.write, numbers[port.write]
            numbers[port.write] += 1
            needed = [self._before(other, port.node, port.behind) for other in ports]
            pairs[p, :, replay.NEEDS] = needed
            pairs[p, :, replay.FREES] = [
                other is port or self._frees(port, other) for other in ports
            ]
            pairs[p, :, replay.NEEDED_AT] = pairs[p, :, replay.FREED_AT] = begins[:-1]
        header = np.zeros(replay.HEADER, dtype=np.int64)
        at = replay.HEADER + heads.size + pairs.size
        header[[replay.PORTS, replay.REQUESTS]] = len(ports), at
        header[replay.OUTSTANDING] = self.machine.outstanding
        parts = (header, heads.ravel(), pairs.ravel(), table.ravel())
        return np.concatenate(parts), ports, count

    def _frees(self, port: AccessPort, other: AccessPort) -> bool:
        """Return whether the other port has to be answered before tokens leave a port.

        Those do that its takers need and do not come from it; and if a path beside it is short,
        those in front of the node where the two meet.
        """
        room = self._rooms.get((port.node, port.behind))
        if room is not None and not port.write and self._before(other, room.meets, behind=False):
            return True
        needed = any(self._before(other, taker, behind=False) for taker in port.takers)
        return needed and not self._before(port, other.node, other.behind)

    @cached_property
    def _rooms(self) -> Mapping[tuple[int, bool], PortRoom]:
        return port_rooms(self.execution, self.machine)

    def _before(self, port: AccessPort, node: int, behind: bool) -> bool:
        """Return whether a port's answers come before what passes in front of a node, or behind."""
        if port.write:
            return False
        return port.node in self._ancestors[node] or (
            port.node == node and behind and not port.behind
        )

    def _requests(self, port: AccessPort, start: float, stop: float) -> npt.NDArray[Any]:
        """The requests of some tokens of a port, in order.

        If they are not all, the first token comes at once: nothing runs so far ahead that its
        buffers do not hold it back.
        """
        low, high = self.leaves(port, start, stop)
        leaves = np.arange(low, high)
        if port.ends:  # what ends a fiber is written with its last token
            seg = port.tree.seg
            ends = seg[1:][(seg[1:] > low) & (seg[1:] <= high)] if len(leaves) else seg[:0]
            leaves = ends - 1
        refs = self._references(port, leaves)
        there = refs >= 0
        refs, leaves = refs[there], leaves[there]
        line, which = _lines(port.base + port.stride * refs, port.size, self.machine.access_bytes)
        new = np.ones(len(line), dtype=bool)
        if port.write:  # a whole line is written when its last word has come
            new[:-1] = line[1:] != line[:-1]
        else:
            new[1:] = line[1:] != line[:-1]
        line, leaves = line[new], leaves[which[new]]
        rows = np.zeros(len(line), dtype=[(name, np.float64) for name in _COLUMNS])
        if not len(line):
            return rows
        rows["address"] = line * self.machine.access_bytes
        rows["size"] = self.machine.access_bytes
        busy = self._busiest(port)
        whole = start <= 0.0 and stop >= 1.0
        arrival, _ = self._times(port.maker, port, leaves)
        taken, work = self._times(busy, port, leaves)
        rows["arrival"] = np.maximum.accumulate(arrival) - (0.0 if whole else arrival[0])
        rows["work"] = np.diff(work, prepend=work[:1])
        rows["position"] = np.maximum.accumulate(self._places(port, leaves))
        token = _numbers(port.tree, leaves)
        rows["tokens"] = np.diff(token, prepend=token[:1])
        rows["behind"] = -1.0
        if not port.write:
            room = self._rooms.get((port.node, port.behind))
            slots = self.machine.port_slots if room is None else room.tokens
            back = leaves - slots
            if port.tree.depth > 1:  # stops take room, too
                back = np.searchsorted(_numbers(port.tree, np.arange(low, high)), token - slots)
                back = low + back - 1
            some = back >= low
            rows["behind"][some] = self._places(port, back[some])
            freed = self._times(busy, port, back[some])[0]
            rows["freed"][some] = np.maximum(freed - (0.0 if whole else taken[0]), 0.0)
        return rows

    def _references(self, port: AccessPort, leaves: Ints) -> Ints:
        """The references that tokens have; of what is written, how many were before."""
        if port.write:
            first = int(leaves[0]) if len(leaves) else 0
            if port.ends:
                return np.arange(len(leaves)) + first
            return leaves
        refs = port.contents.at(leaves)
        return np.full(len(leaves), -1) if refs is None else refs

    def _busiest(self, port: AccessPort) -> int:
        """Of the nodes that take what a port passes on, the one that does most."""
        steps = self.when.steps
        takers = [t for t in port.takers if t in steps] or [port.node]
        return max(takers, key=lambda t: float(steps[t].work.sum()) if t in steps else 0.0)

    def _times(self, node: int, port: AccessPort, leaves: Ints) -> tuple[Floats, Floats]:
        """When a node is at work on some tokens, and its work up to there: evenly in each place."""
        step = self.when.steps.get(node)
        tree = port.tree
        placed = None if step is None else self._placed(step, tree)
        if step is None or placed is None:
            share = (leaves + 0.5) / max(tree.n, 1)
            if step is None:
                return self.when.cycles * share, leaves.astype(np.float64)
            first = float(step.start[step.here].min(initial=step.done))
            return first + (step.done - first) * share, float(step.work.sum()) * share
        top, (low, high) = _outermost(tree, leaves)
        at = placed[top]
        share = (leaves - low + 0.5) / (high - low)
        done = np.concatenate(([0.0], np.cumsum(step.work)))[at] + step.work[at] * share
        return step.start[at] + (step.end[at] - step.start[at]) * share, done

    def _placed(self, step: Stepping, tree: FiberLevel) -> Ints | None:
        """The places of a stream's outermost coordinates on a node's axis; None if on another."""
        axis, top = self.when.axes[step.name], tree.top
        if top is None:
            return None
        if axis.whole and top.n == len(axis.coords):
            return np.arange(top.n)
        at = np.minimum(np.searchsorted(axis.coords, top.crd), len(axis.coords) - 1)
        return at if len(axis.coords) and np.array_equal(axis.coords[at], top.crd) else None

    def _places(self, port: AccessPort, leaves: Ints) -> Floats:
        """The places of some tokens."""
        axis, phase, late = self._folds[port.maker]
        if port.tree.top is None:
            return np.full(len(leaves), axis * AXIS)
        start, width = _inside(port.tree, leaves)
        top, _ = _outermost(port.tree, leaves)
        inside = start + width if late else start
        return axis * AXIS + port.tree.top.crd[top] + (phase + inside) / PHASES


_COLUMNS = ("address", "size", "arrival", "tokens", "work", "position", "behind", "freed")


def _lines(addresses: Ints, size: int, line: int) -> tuple[Ints, Ints]:
    """The numbers of the lines that reads of some bytes need, and which read each is for."""
    first, last = addresses // line, (addresses + size - 1) // line
    most = int((last - first).max(initial=0)) + 1
    which = np.arange(len(addresses))
    if most == 1:
        return first, which
    every = first[:, None] + np.arange(most)
    there = every <= last[:, None]
    return every[there], np.repeat(which, most).reshape(every.shape)[there]


def _outermost(tree: FiberLevel, leaves: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
    """The outermost element that each leaf is under, and which leaves that one has."""
    ends = tree.ends
    top = np.searchsorted(ends, leaves, side="right") - 1
    return top, (ends[top], ends[top + 1])


def _inside(tree: FiberLevel, leaves: Ints) -> tuple[Floats, Floats]:
    """Return the start and the width of each leaf as shares of its outermost coordinate."""
    if tree.parent is None or tree.parent.parent is None:
        return np.zeros(len(leaves)), np.ones(len(leaves))
    up = np.searchsorted(tree.seg, leaves, side="right") - 1
    start, width = _inside(tree.parent, up)
    width = width / (tree.seg[up + 1] - tree.seg[up])
    return start + width * (leaves - tree.seg[up]), width


def _numbers(tree: FiberLevel, leaves: Ints) -> Ints:
    """Which of a stream's tokens each leaf is: a stop follows every fiber inside."""
    if tree.depth <= 1:
        return leaves
    return leaves + np.searchsorted(tree.seg, leaves, side="right") - 1
