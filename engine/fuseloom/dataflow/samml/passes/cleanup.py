"""Clean-ups: smaller graphs that put the same tokens on the same writers.

Rules: ``docs/spec/fusion.md`` §6.5.

Lowering shares equal nodes as it makes them; as passes these also serve graphs that come from
elsewhere, with their broadcasts written out, and what other passes leave behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.samml.passes.fanout_free import FanoutFreeGraph, tidy, unwoven, woven
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.samml.traits import Role


def clean(graph: Graph) -> Graph:
    """All clean-ups of this module, until nothing changes."""
    fanout_free = unwoven(graph)
    while True:
        smaller = _shared(_collapsed(fanout_free))
        if len(smaller.nodes) == len(fanout_free.nodes) and _ports(smaller) == _ports(fanout_free):
            return woven(smaller)
        fanout_free = smaller


def has_repeated_operands(graph: Graph) -> bool:
    """Return whether :func:`collapse_joiners` would change a graph.

    Lowering shares equal nodes and leaves dead ones out, so on a graph that comes from there
    nothing else is left to clean up.
    """
    first: dict[int, int] = {}
    for node in graph.nodes:
        if primitive(node.op).role is Role.COPY:
            origin = first.get(node.inputs[0], node.inputs[0])
            first.update({s: origin for s in node.outputs if s is not None})
        elif primitive(node.op).family is Family.JOIN:
            at = [first.get(s, s) for s in node.inputs]
            pairs = set(zip(at[::2], at[1::2], strict=True))
            if len(pairs) < len(at) // 2 or len(set(at[::2])) == 1:
                return True
    return False


def without_dead_nodes(graph: Graph) -> Graph:
    """Leave out what no writer needs; outputs that nobody reads become void.

    ::

        %1, %2 = scan(%0)                  _, %2 = scan(%0)
        %3, %4 = broadcast(%2)             array(%2)
        array(%3)                          valwrite(..)
        repsig(%4)
        valwrite(..)
    """
    return woven(unwoven(graph))


def share_common_nodes(graph: Graph) -> Graph:
    """Make nodes that do the same with the same inputs one node, with its outputs broadcast.

    ::

        %2 = repsig(%0); %3 = repsig(%1)    ->    %2, %3 = broadcast(repsig(%0))
                (%0 and %1 are copies of one stream)

    The first node keeps its label and origin.  Sources of a test bench emit what they are bound
    to, and writers are told apart by where they write: neither is merged.
    """
    return woven(_shared(unwoven(graph)))


def collapse_joiners(graph: Graph) -> Graph:
    """Take operands away from joiners that add nothing; a joiner of one operand goes too.

    ::

        %5, %6, %7 = intersect(%0, %1, %0, %1)     ->   %6, %7 = broadcast(%1)
        %5, %6, %7 = union(%0, %1, %0, %2)         ->   %0, %1 and %2 as they are
        %5, .. = union(%0, %1, %2, %3, %0, %1)     ->   %5, .. = union(%0, %1, %2, %3)

    All operands have one stream of coordinates: nothing is filtered and nothing added.  An
    operand is there twice, coordinates and payload: once is enough.
    """
    return woven(_collapsed(unwoven(graph)))


def _ports(fanout_free: FanoutFreeGraph) -> int:
    return sum(len(n.inputs) for n in fanout_free.nodes)


class Rewriting:
    """Nodes of a fan-out-free graph being rewritten, with new and replaced streams."""

    def __init__(self, fanout_free: FanoutFreeGraph) -> None:
        self.fanout_free = fanout_free
        self.same: dict[int, int] = {}
        self.nodes: list[Node] = []
        self.streams: list[Stream] = list(fanout_free.streams)

    def inputs(self, node: Node) -> tuple[int, ...]:
        return tuple(self.same.get(s, s) for s in node.inputs)

    def now(self, old: int | None, new: int | None) -> None:
        """Readers of one stream read another from here on."""
        if old is not None and new is not None:
            self.same[old] = new

    def stream(self, like: int, kind: StreamKind, label: str) -> int:
        """A new stream that nests like another."""
        self.streams.append(
            replace(self.streams[like], id=len(self.streams), kind=kind, label=label)
        )
        return len(self.streams) - 1

    def node(
        self,
        op: str,
        inputs: tuple[int, ...],
        outputs: tuple[int | None, ...],
        params: Mapping[str, Scalar],
        label: str,
        origin: str,
    ) -> None:
        """A new node."""
        self.nodes.append(Node(len(self.nodes), op, inputs, outputs, params, label, origin))

    def done(self) -> FanoutFreeGraph:
        return tidy(self.fanout_free.name, self.nodes, self.streams)


def _shared(fanout_free: FanoutFreeGraph) -> FanoutFreeGraph:
    work = Rewriting(fanout_free)
    made: dict[tuple[str, tuple[int, ...], tuple[tuple[str, Scalar], ...]], Node] = {}
    for node in fanout_free.nodes:
        inputs = work.inputs(node)
        bound = primitive(node.op).family is Family.SOURCE and "kind" in node.params
        if node.outputs and not bound:
            key = (node.op, inputs, tuple(sorted(node.params.items())))
            first = made.setdefault(key, node)
            if first is not node and len(first.outputs) == len(node.outputs):
                for old, new in zip(node.outputs, first.outputs, strict=True):
                    work.now(old, new)
                continue
        work.nodes.append(node if inputs == node.inputs else replace(node, inputs=inputs))
    return work.done()


def _collapsed(fanout_free: FanoutFreeGraph) -> FanoutFreeGraph:
    work = Rewriting(fanout_free)
    for node in fanout_free.nodes:
        inputs = work.inputs(node)
        if primitive(node.op).family is not Family.JOIN:
            work.nodes.append(node if inputs == node.inputs else replace(node, inputs=inputs))
            continue
        crd_out, payloads_out = node.outputs[0], node.outputs[1:]
        pairs = list(zip(inputs[::2], inputs[1::2], strict=True))
        if len({crd for crd, _ in pairs}) == 1:
            work.now(crd_out, pairs[0][0])
            for (_, payload), out in zip(pairs, payloads_out, strict=True):
                work.now(out, payload)
            continue
        kept: dict[tuple[int, int], int | None] = {}
        gate = int(node.params.get("gate", 0))
        fewer = 0
        for number, (pair, out) in enumerate(zip(pairs, payloads_out, strict=True)):
            if pair in kept:
                work.now(out, kept[pair])
                fewer += number < gate
            else:
                kept[pair] = out
        params = dict(node.params)
        if "gate" in params:
            params["gate"] = gate - fewer
        flat = tuple(s for pair in kept for s in pair)
        outputs = (crd_out, *kept.values())
        work.nodes.append(replace(node, inputs=flat, outputs=outputs, params=params))
    return work.done()
