"""Channel capacities with which no data set can deadlock a graph (``docs/spec/fusion.md`` §6.6).

The argument
------------
A graph of sequential nodes over bounded channels is a deterministic process network (a full
channel is an empty channel of free slots the other way round).  If *one* order of execution
gets to the end with no channel ever holding more than its capacity, then no order of execution
ends in a deadlock.  The order that is looked at here is the lazy one: a node runs only while
some node that reads from it waits for a token, and stops, even between two puts, when that
token is there.  The graph has no cycles, so the lazy order gets to the end; it remains to bound
what each channel holds.

*A node with one output* puts only tokens that are waited for: its channel needs no room to
speak of.  *A node with several* is made to run by one reader, and its tokens pile up on the
channels to the others.  All chains of waiting start at the writers; let w be the first node
that every path from u to the writers passes (its immediate post-dominator).  When u runs, a
chain of waiting leads from w to u, so u is ahead of w at most by what the nodes of that chain
need more of their inputs than they give: their slack
(:func:`fuseloom.dataflow.samml.passes.slack.asked`). Every channel from u also leads to w, and what
w has taken, the reader of the channel took before.  So a channel holds no more than the largest
slack along the *other* outputs of u.

What a node needs more than it gives follows from how many outer levels its outputs keep of its
inputs (:mod:`fuseloom.dataflow.samml.passes.structure`): elementwise nodes nothing; a reducer the
rest of its fiber; an accumulator, a joiner or a dropper up to the end of the outer element, as any
of its tokens may be the last; scanners, repeaters and accumulators one look at what follows.  At w
itself the inputs that come from u advance together as far as their levels agree; below that, one
may be a whole element of the last common level ahead.

Writers take what comes, so all of them count as one w, the end, and so do the droppers that only
feed writers; that end waits for the input that is least advanced.  Sizes follow from the
extents of index variables: no fiber has more elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Stream
from fuseloom.dataflow.samml.passes.fanout_free import filled
from fuseloom.dataflow.samml.passes.slack import Slack, asked
from fuseloom.dataflow.samml.passes.structure import Structure, agreement, structure
from fuseloom.dataflow.samml.primitive import Family, Nesting
from fuseloom.dataflow.table.cuts import extent_of
from fuseloom.errors import GraphError
from fuseloom.wording import counted

DEFAULT_CAPACITY = 4
SPARE = 2
"""Tokens added to every computed slack: the final token, and the one a node has in its hands."""

_END = -1


@dataclass(frozen=True)
class ChannelSize:
    """Capacity of one channel, and why.

    Attributes
    ----------
    waits : str
        Label of the node at which its tokens wait; empty where nothing makes them wait.
    cause : str
        Label of the node that needs a whole element of level ``level`` meanwhile.
    level : tuple of str
        Index variables down to that level; empty for the whole stream.
    """

    stream: Stream
    capacity: int
    waits: str = ""
    cause: str = ""
    level: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.stream.label or self.stream.id}: {counted(self.capacity, 'token')}"
        if not self.cause:
            return text
        what = f"an element of {', '.join(self.level)}" if self.level else "everything"
        return f"{text}, which wait at {self.waits} while {self.cause} reads {what}"


@dataclass(frozen=True)
class Sizing:
    """Capacities of all channels of a graph.

    Attributes
    ----------
    channels : tuple of ChannelSize
        In the order of the graph's streams.
    """

    graph: Graph
    channels: tuple[ChannelSize, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all channels together."""
        return sum(c.capacity for c in self.channels)

    @property
    def largest(self) -> ChannelSize:
        return max(self.channels, key=lambda c: c.capacity)

    def __str__(self) -> str:
        if not self.channels:
            return "no channels"
        return (
            f"{counted(len(self.channels), 'channel')}, {counted(self.tokens, 'token')}; "
            f"largest {self.largest}"
        )


def size_buffers(
    graph: Graph, extents: Mapping[str, int], *, default: int = DEFAULT_CAPACITY
) -> Graph:
    """Give every channel a capacity such that no data set can deadlock the graph.

    ::

        %7:val2, %8:val2 = broadcast(%6)        %7:val2/4, %8:val2/40 = broadcast(%6)
        %9 = reduce(%7)                         ... %8 waits for the maximum of its row

    Parameters
    ----------
    extents : mapping
        Size of each index variable (a region's ``extents``).
    default : int
        Capacity where no slack needs more; at least 2, with which a channel runs at full rate.

    Raises
    ------
    GraphError
        If the default is below 2, or a stream's index variables or their sizes are unknown.
    """
    return sizing(graph, extents, default=default).graph


def sizing(graph: Graph, extents: Mapping[str, int], *, default: int = DEFAULT_CAPACITY) -> Sizing:
    """The capacities that :func:`size_buffers` gives, with the reason for each."""
    if default < 2:
        raise GraphError(
            f"channels of {counted(default, 'token')} are too small", hint="2 is the least"
        )
    return _Sizing(graph, extents, default).run()


class _Sizing:
    def __init__(self, graph: Graph, extents: Mapping[str, int], default: int) -> None:
        self.graph, self.default = graph, default
        self.levels: Structure = structure(filled(graph))
        self.sizes = [_sizes(s, extents) for s in graph.streams]
        self.count = 1 + max((s.depth for s in graph.streams), default=0)
        self.order = graph.topological()
        self.end = self._end()
        self.rank = {node: k for k, node in enumerate(self.order)}
        self.rank[_END] = len(self.order)
        self.after = self._post_dominators()

    def _end(self) -> set[int]:
        """Writers, and droppers that only feed them."""
        end: set[int] = set()
        for k in reversed(self.order):
            node = self.graph.nodes[k]
            entry = primitive(node.op)
            ready = entry.family is Family.WRITE or (
                entry.family is Family.DROP and entry.nesting is not Nesting.OPAQUE
            )
            if ready and all(self.graph.consumer[s] in end for s in node.outputs if s is not None):
                end.add(k)
        return end

    def _reader(self, stream: int) -> int:
        node = self.graph.consumer[stream]
        return _END if node in self.end else node

    def _outputs(self, node: int) -> list[int]:
        return [s for s in self.graph.nodes[node].outputs if s is not None]

    def _post_dominators(self) -> dict[int, int]:
        """Each node to the first node that all its paths to the end pass."""
        after: dict[int, int] = {_END: _END}
        for k in reversed(self.order):
            if k in self.end:
                continue
            readers = [self._reader(s) for s in self._outputs(k)] or [_END]
            common = readers[0]
            for other in readers[1:]:
                while common != other:
                    if self.rank[common] < self.rank[other]:
                        common = after[common]
                    else:
                        other = after[other]
            after[k] = common
        return after

    def run(self) -> Sizing:
        channels: dict[int, ChannelSize] = {}
        for k in self.order:
            outputs = self._outputs(k)
            if len(outputs) > 1 and k not in self.end:
                channels.update(self._fan_out(k, outputs))
        sizes = tuple(channels.get(s.id, ChannelSize(s, self.default)) for s in self.graph.streams)
        streams = tuple(replace(c.stream, capacity=c.capacity) for c in sizes)
        graph = replace(self.graph, streams=streams)
        return Sizing(graph, tuple(replace(c, stream=streams[c.stream.id]) for c in sizes))

    def _fan_out(self, node: int, outputs: list[int]) -> dict[int, ChannelSize]:
        """Sizes of the channels of a node with several outputs."""
        needs = self._needs(node, self.after[node])
        nothing = Slack.nothing(self.count)
        before, behind = [nothing], [nothing]
        for s in outputs:
            before.append(before[-1] | needs[s])
        for s in reversed(outputs):
            behind.append(behind[-1] | needs[s])
        found = {}
        for port, s in enumerate(outputs):
            others = before[port] | behind[len(outputs) - port - 1]
            found[s] = self._size(s, others, self.after[node])
        return found

    def _size(self, s: int, slack: Slack, reference: int) -> ChannelSize:
        stream, sizes = self.graph.streams[s], self.sizes[s]
        everything = Slack.nothing(self.count).plus(0, 1).tokens(sizes)
        capacity = min(slack.tokens(sizes), everything) + SPARE
        if capacity <= self.default:
            return ChannelSize(stream, self.default)
        level = slack.largest(sizes)
        cause = slack.cause[level]
        if cause < 0 and level < stream.depth:
            cause = reference
        if cause < 0:
            return ChannelSize(stream, capacity)
        return ChannelSize(
            stream, capacity, self._name(reference), self._name(cause), stream.indices[:level]
        )

    def _name(self, node: int) -> str:
        if node == _END:
            return "the end"
        return self.graph.nodes[node].label or f"{self.graph.nodes[node].op} {node}"

    def _needs(self, start: int, reference: int) -> dict[int, Slack]:
        """Lead over a reference point that is needed on every stream on the way to it."""
        between = {start}
        stack = [start]
        while stack:
            for s in self._outputs(stack.pop()):
                reader = self._reader(s)
                if reader != reference and reader not in between:
                    between.add(reader)
                    stack.append(reader)
        arriving = [s for k in between for s in self._outputs(k) if self._reader(s) == reference]
        agreed = self._agreed(reference, arriving)
        needs: dict[int, Slack] = {}
        for k in sorted(between, key=self.rank.__getitem__, reverse=True):
            for s in self._outputs(k):
                reader = self._reader(s)
                if reader == reference:
                    needs[s] = self._advance(s, reference, agreed)
                else:
                    needs[s] = self._asked(reader, s, needs)
        return needs

    def _agreed(self, reference: int, arriving: list[int]) -> int:
        """Outer levels in which streams agree that arrive at one node: so far it takes them
        together."""
        if reference != _END:
            nesting = primitive(self.graph.nodes[reference].op).nesting
            if nesting is Nesting.OPAQUE:
                return 0
            if nesting is Nesting.COLLECTS:  # lanes in turn, so none ahead of another
                return self.count
            if nesting is Nesting.MAKES:
                arriving = [self._paced_by(reference, s) for s in arriving]
        return agreement([self.levels.of[s] for s in arriving])

    def _paced_by(self, node: int, s: int) -> int:
        """The stream with which a node takes an input: an operand's payload goes with its
        coordinates, though they may be another operand's, shifted."""
        inputs = self.graph.nodes[node].inputs
        entry = primitive(self.graph.nodes[node].op)
        port, fixed, group = inputs.index(s), len(entry.inputs), len(entry.repeated_inputs)
        return s if port < fixed or not group else inputs[port - (port - fixed) % group]

    def _asked(self, reader: int, s: int, needs: Mapping[int, Slack]) -> Slack:
        outputs = self._outputs(reader)
        need = Slack.nothing(self.count)
        for out in outputs:
            need = need | needs[out]
        depth = max(self.graph.streams[out].depth for out in outputs)
        node = self.graph.nodes[reader]
        return asked(node, need, self.levels.made[reader], self.graph.streams[s].depth, depth)

    def _advance(self, s: int, reference: int, agreed: int) -> Slack:
        """Return how far the reference point may want one input ahead of the others."""
        depth = self.graph.streams[s].depth
        slack = Slack.nothing(self.count).plus(depth, 1)
        return slack.plus(agreed, 1, reference) if agreed < depth else slack


def _sizes(stream: Stream, extents: Mapping[str, int]) -> tuple[int, ...]:
    """Extent of each level of a stream."""
    name = stream.label or f"%{stream.id}"
    if len(stream.indices) != stream.depth:
        raise GraphError(
            f"stream {name} names {len(stream.indices)} of its {counted(stream.depth, 'level')}",
            hint="buffers can be sized where a graph was lowered from a program",
        )
    found = []
    for x in stream.indices:
        size = extent_of(x, extents)
        if size is None:
            raise GraphError(
                f"stream {name}: no extent of index {x}",
                hint=f"known: {', '.join(extents) or 'none'}",
            )
        found.append(max(1, size))
    return tuple(found)
