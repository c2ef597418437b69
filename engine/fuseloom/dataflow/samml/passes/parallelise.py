"""Stream parallelisation: one level of the iteration dealt to several lanes.

Rules: ``docs/spec/fusion.md`` §6.2.

A level x under a prefix P is made by one scanner, joiner or accumulator.  Its elements are dealt
to the lanes in turn; what works on single elements of x is there once per lane; whatever leaves
the lanes is collected in the elements' order.  Which nodes are cloned follows from the levels of
their streams alone (:mod:`fuseloom.dataflow.samml.passes.structure`), so that placement needs no
rule per primitive:

* A node is cloned iff all its outputs lie in x's subtrees and every input does too (made in a
  lane, or x's own level, which a fork can deal) or lies outside x and goes to all lanes whole.
* A reduction over x, or over an index outside it, has outputs that are not in x's subtrees; nor
  has a joiner or dropper at x itself, for which x is another level afterwards.  Neither is
  cloned, so their inputs are collected first; so are a writer's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.passes.fanout_free import FanoutFreeGraph, tidy, unwoven, woven
from fuseloom.dataflow.samml.passes.structure import Levels, Structure, structure
from fuseloom.dataflow.samml.primitive import Family, Nesting
from fuseloom.errors import ScheduleError
from fuseloom.wording import counted

MAX_LANES = 1_024
MAX_NODES = 50_000
"""Most nodes a parallelised graph may have, broadcasts not counted."""

_IDLE = (Family.ROUTE, Family.REPEAT)


def parallelise(graph: Graph, index: str, factor: int, *, max_nodes: int = MAX_NODES) -> Graph:
    """Deal every level of an index to ``factor`` lanes.

    ::

        crd, ref = scan(..)            crd, ref = scan(..)
        val = array(ref)               r0, r1   = fork(ref)
        exp = unary(val)               e0 = unary(array(r0)); e1 = unary(array(r1))
        valwrite(exp)                  valwrite(ordered_join(crd, e0, e1))

    The index may head several levels: under different prefixes, before and after a joiner, or
    once per lane of an index parallelised before.  Each is dealt on its own, except one from
    which nothing but joiners, reductions over it, droppers and writers read, for no lane would
    have work.  Reducers in lanes get a guide where they had none, because a lane may receive
    nothing of a fiber that is not empty.

    Parameters
    ----------
    index : str
        One of the graph's index variables.
    factor : int
        Lanes, 1 to 1,024; 1 gives the graph itself.
    max_nodes : int
        Most nodes of the result, broadcasts not counted.

    Raises
    ------
    ScheduleError
        If the graph has no such index, the factor is out of range, nothing works on single
        elements of the index, it is parallelised already, or the graph would be too large.
    """
    _check_factor(index, factor)
    names = dict.fromkeys(x for s in graph.streams for x in s.indices)
    if index not in names:
        known = f"it has {', '.join(names)}" if names else "its streams name no index variables"
        raise ScheduleError(f"region {graph.name}: no index {index!r} to parallelise", hint=known)
    if factor == 1:
        return graph
    fanout_free = unwoven(graph)
    plan = _plan(fanout_free, structure(fanout_free), index)
    if not plan.guide:
        reason = "is parallelised already" if plan.dealt else "has nothing to parallelise"
        raise ScheduleError(
            f"region {graph.name}: index {index} {reason}",
            hint="give the integer of lanes at once"
            if plan.dealt
            else f"its coordinates only go to joiners, reductions over {index}, and writers",
        )
    size = len(fanout_free.nodes) + (factor - 1) * len(plan.member)
    if size > max_nodes:
        raise ScheduleError(
            f"region {graph.name}: {counted(factor, 'lane')} of {index} make "
            f"{counted(size, 'node')}, "
            f"more than {max_nodes:,}",
            hint="use fewer lanes",
        )
    return woven(_Rewrite(fanout_free, plan, index, factor).run())


def apply_parallel(
    graph: Graph, directives: Iterable[tuple[str, int]], *, max_nodes: int = MAX_NODES
) -> Graph:
    """Parallelise several indices, outer first: each inner one inside the lanes of the outer.

    ::

        parallel i by 4, parallel k by 2  ->  8 lanes for k: 2 in each of the 4 for i

    Raises
    ------
    ScheduleError
        As :func:`parallelise`, and if an index is named twice.
    """
    seen: set[str] = set()
    for index, factor in directives:
        if index in seen:
            raise ScheduleError(
                f"region {graph.name}: index {index} is parallelised twice",
                hint="give the integer of lanes at once",
            )
        seen.add(index)
        graph = parallelise(graph, index, factor, max_nodes=max_nodes)
    return graph


def _check_factor(index: str, factor: int) -> None:
    if type(factor) is not int or not 1 <= factor <= MAX_LANES:
        raise ScheduleError(
            f"index {index} cannot be dealt to {factor} lanes",
            hint=f"1 to {MAX_LANES:,} lanes are possible",
        )


@dataclass
class _Plan:
    """Which nodes are cloned.

    Attributes
    ----------
    member : dict
        Id of each cloned node to the levels down to the one that is dealt.
    guide : dict
        Those levels to the stream with the dealt coordinates.
    fiber : dict
        Id of each cloned node that lacks its optional guide to the stream that guides it.
    dealt : bool
        Whether some level of the index is a lane's share already.
    """

    member: dict[int, Levels] = field(default_factory=dict)
    guide: dict[Levels, int] = field(default_factory=dict)
    fiber: dict[int, int] = field(default_factory=dict)
    dealt: bool = False


def _plan(fanout_free: FanoutFreeGraph, levels: Structure, index: str) -> _Plan:
    plan = _Plan()
    for node in fanout_free.nodes:
        under = _subtree(fanout_free, levels, node, index)
        if under is None or not _takes_elements(fanout_free, levels, plan, node, under):
            continue
        if under[-1] in levels.shares:
            plan.dealt = True
            continue
        entry = primitive(node.op)
        missing = len(node.inputs) - len(entry.inputs)
        if not entry.repeated_inputs and missing < len(entry.optional_inputs):
            guide = levels.crd.get(levels.of[_read(fanout_free, node)[0]])
            if guide is None or fanout_free.producer[guide] > node.id:
                continue
            plan.fiber[node.id] = guide
        plan.member[node.id] = under
    working = {
        under
        for n, under in plan.member.items()
        if primitive(fanout_free.nodes[n].op).family not in _IDLE
    }
    plan.member = {n: under for n, under in plan.member.items() if under in working}
    plan.guide = {under: levels.crd[under] for under in working}
    return plan


def _read(fanout_free: FanoutFreeGraph, node: Node) -> list[int]:
    return [s for s in node.outputs if s is not None and fanout_free.readers[s]]


def _subtree(
    fanout_free: FanoutFreeGraph, levels: Structure, node: Node, index: str
) -> Levels | None:
    """The levels down to the index, if all outputs that are read have the same ones."""
    found: set[Levels] = set()
    for s in _read(fanout_free, node):
        stream = fanout_free.streams[s]
        if index not in stream.indices:
            return None
        found.add(levels.of[s][: stream.indices.index(index) + 1])
    if len(found) != 1:
        return None
    (under,) = found
    return under if under in levels.crd else None


def _takes_elements(
    fanout_free: FanoutFreeGraph, levels: Structure, plan: _Plan, node: Node, under: Levels
) -> bool:
    """Return whether a node can work on one lane's share of the level: see the module's rule."""
    if primitive(node.op).nesting is Nesting.OPAQUE:
        return False
    depth = len(under)
    inside = False
    for s in node.inputs:
        stream = fanout_free.streams[s]
        if levels.of[s][:depth] == under:
            inside = True
            made_inside = plan.member.get(fanout_free.producer[s]) == under
            if not made_inside and (stream.depth > depth or stream.kind is StreamKind.SIG):
                return False
        elif stream.depth >= depth:
            return False
    return inside


class _Rewrite:
    """Clones the members of a plan, one per lane, between forks and ordered joins."""

    def __init__(self, fanout_free: FanoutFreeGraph, plan: _Plan, index: str, factor: int) -> None:
        self.fanout_free, self.plan, self.index, self.factor = fanout_free, plan, index, factor
        self.nodes: list[Node] = []
        self.streams: list[Stream] = []
        self.outside: dict[int, int] = {}
        self.lanes: dict[int, tuple[int, ...]] = {}
        self.dealt: dict[int, tuple[int, ...]] = {}

    def run(self) -> FanoutFreeGraph:
        for node in self.fanout_free.nodes:
            under = self.plan.member.get(node.id)
            if under is None:
                inputs = [self._whole(s) for s in node.inputs]
                self.outside.update(self._copy(node, inputs))
                continue
            sources = list(node.inputs)
            if node.id in self.plan.fiber:
                sources.append(self.plan.fiber[node.id])
            made = [
                self._copy(node, [self._lane(s, k, under) for s in sources], k)
                for k in range(self.factor)
            ]
            for s in made[0]:
                self.lanes[s] = tuple(lane[s] for lane in made)
        return tidy(self.fanout_free.name, self.nodes, self.streams)

    def _copy(self, node: Node, inputs: Sequence[int], lane: int | None = None) -> dict[int, int]:
        """The same node on other inputs; the old ids of its outputs to the new ones."""
        made = {s: self._stream(s, lane) for s in node.outputs if s is not None}
        label = node.label if lane is None else self._name(node.label or node.op, lane)
        outputs = tuple(None if s is None else made[s] for s in node.outputs)
        self.nodes.append(
            replace(node, id=len(self.nodes), inputs=tuple(inputs), outputs=outputs, label=label)
        )
        return made

    def _stream(self, like: int, lane: int | None = None) -> int:
        old = self.fanout_free.streams[like]
        label = old.label if lane is None else self._name(old.label, lane)
        self.streams.append(replace(old, id=len(self.streams), label=label))
        return len(self.streams) - 1

    def _name(self, label: str, lane: int) -> str:
        return f"{label} ({self.index} {lane})"

    def _whole(self, s: int) -> int:
        """A stream of the old fan-out-free graph, collected if it is made in the lanes."""
        if s not in self.outside:
            if (
                self.fanout_free.streams[s].kind is StreamKind.SIG
            ):  # what makes signals costs nothing
                maker = self.fanout_free.nodes[self.fanout_free.producer[s]]
                self.outside.update(self._copy(maker, [self._whole(i) for i in maker.inputs]))
            else:
                self.outside[s] = self._collect(s)
        return self.outside[s]

    def _collect(self, s: int) -> int:
        under = self.plan.member[self.fanout_free.producer[s]]
        out = self._stream(s)
        inputs = (self._whole(self.plan.guide[under]), *self.lanes[s])
        levels = self.fanout_free.streams[s].depth - len(under)
        label = f"Join {self.index}: {self.fanout_free.streams[s].label}"
        self.nodes.append(
            Node(len(self.nodes), "ordered_join", inputs, (out,), {"levels": levels}, label)
        )
        return out

    def _lane(self, s: int, lane: int, under: Levels) -> int:
        """Return one lane's part of a stream: made in it, dealt to it, or all of it."""
        if self.plan.member.get(self.fanout_free.producer[s]) == under:
            return self.lanes[s][lane]
        if self.fanout_free.streams[s].depth < len(under):
            return self._whole(s)
        if s not in self.dealt:
            source = self._whole(s)
            outputs = tuple(self._stream(s, k) for k in range(self.factor))
            label = f"Fork {self.index}: {self.fanout_free.streams[s].label}"
            self.nodes.append(Node(len(self.nodes), "fork", (source,), outputs, {}, label))
            self.dealt[s] = outputs
        return self.dealt[s][lane]
