"""When a graph is done, of how much each node does per outer coordinate: a max-plus recurrence.

A node works through the coordinates of its outermost index one after another.  It starts one when
its tokens have begun to come and it is done with those before; it is done with one after its own
work there, and not before the last token has come.  A node that closes the outermost level puts
nothing before it has read everything, so that what is behind it works after it, not beside it.
Source: the design of the estimate, §3 and §4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from engine.dataflow.cost.exact.execution import RULES, Executed, Execution, Rule
from engine.dataflow.cost.exact.nests import Bools, Carried, Floats, Ints, Nest, Profile
from engine.dataflow.cost.exact.samples import Sample
from engine.dataflow.cost.exact.steps import innermost
from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.graph import Graph, Node
from engine.dataflow.samml.traits import Role
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.timing import Timing, value_interval, value_latency


@dataclass(frozen=True)
class Timed:
    """When a graph is done.

    Attributes
    ----------
    cycles : float
        Of the whole graph.
    ends : mapping
        Node id to the clock at which it is done.
    work : mapping
        Node id to the cycles of its own work.
    """

    cycles: float
    ends: Mapping[int, float]
    work: Mapping[int, float]
    axes: Mapping[str, _Axis] = field(repr=False)

    def total(self, profile: Profile, index: str | None) -> float:
        """A quantity over all coordinates of its outermost index, those not executed included."""
        if index is None or profile.top is None or self.axes[index].weights is None:
            return profile.total
        return float(self.axes[index].spread(profile).sum())


_NO_SAMPLES: Mapping[str, Sample] = MappingProxyType({})
TURNS = 16
"""In how many places a sampled coordinate appears, at most."""
TOGETHER = 8
"""Sampled coordinates that take turns."""


@dataclass(frozen=True, eq=False)
class _Axis:
    """The outermost index of some streams: a place per coordinate in any of them, and one behind.

    Attributes
    ----------
    coords : array
        Sorted.
    whole : bool
        Whether each of the streams has all of them.
    order : array or None
        Which coordinate each place is for, where there is not one for each.
    weights, turns : array or None
        How many coordinates each coordinate stands for, and in how many places, likewise.
    """

    coords: Ints
    whole: bool
    order: Ints | None = None
    weights: Floats | None = None
    turns: Ints | None = None
    sample: Sample | None = None

    @cached_property
    def size(self) -> int:
        return 1 + len(self.coords if self.order is None else self.order)

    @property
    def inside(self) -> Bools:
        """All places but the one behind."""
        return np.arange(self.size) < self.size - 1

    def sampled(self, sample: Sample) -> _Axis:
        """With as many places as show how one fiber follows another, though few were executed.

        Fibers that stand for many others take turns with their neighbours, so that the last one
        is not many times as long as any.
        """
        at = np.minimum(np.searchsorted(sample.coords, self.coords), len(sample.coords) - 1)
        found = sample.coords[at] == self.coords
        weights = np.where(found, sample.weights[at], 1.0)
        turns = np.minimum(np.ceil(weights).astype(np.int64), TURNS)
        block = np.arange(len(weights)) // TOGETHER
        times = int(turns.max(initial=1))
        turn, which = np.divmod(np.arange(times * len(weights)), max(len(weights), 1))
        there = turn < turns[which]
        turn, which = turn[there], which[there]
        order = which[np.lexsort((which, turn, block[which]))]
        return replace(self, order=order, weights=weights, turns=turns, sample=sample)

    def at_coordinates(self, top: Nest, values: Floats) -> Floats:
        """Values of the elements of a level, at the coordinates that they have here."""
        if self.whole or top.n == len(self.coords):
            return values
        made = np.zeros(len(self.coords), dtype=values.dtype)
        made[np.searchsorted(self.coords, top.crd)] = values
        return made

    def placed(self, made: Floats, behind: float) -> Floats:
        """Values of every coordinate in every place, and behind."""
        return np.append(made if self.order is None else made[self.order], behind)

    def has(self, top: Nest) -> Bools:
        """Which of its places a level has tokens in; the one behind always."""
        made = self.at_coordinates(top, np.ones(top.n))
        return np.asarray(self.placed(made, 1.0) > 0)

    def spread(self, profile: Profile) -> Floats:
        """A quantity in every place, and behind."""
        made = np.zeros(len(self.coords))
        if profile.top is not None:
            made = self.at_coordinates(profile.top, profile.per)
        if self.sample is not None and self.weights is not None and self.turns is not None:
            at = np.searchsorted(self.coords, self.sample.coords)
            at = np.minimum(at, max(len(self.coords) - 1, 0))
            there = self.coords[at] == self.sample.coords if len(self.coords) else at < 0
            work = np.where(there, made[at], 0.0) if len(made) else np.zeros(len(at))
            factor = self.sample.factor(np.asarray(work, dtype=np.float64))
            weights = np.where(self.weights > 1.0, self.weights * factor, self.weights)
            made = made * weights / self.turns
        return self.placed(made, profile.behind)

    def at_elements(self, top: Nest, placed: Floats) -> Floats:
        """Of every element of a level, what is in the first place that it has."""
        values = placed[:-1]
        if self.order is not None:
            by_coordinate = np.zeros(len(self.coords))
            by_coordinate[self.order[::-1]] = values[::-1]
            values = by_coordinate
        if self.whole or top.n == len(self.coords):
            return values
        return np.asarray(values[np.searchsorted(self.coords, top.crd)])


@dataclass(frozen=True, eq=False)
class _Passing:
    """When the tokens of a stream pass: the first and the last of each outer coordinate.

    Attributes
    ----------
    axis : str or None
        The outermost index; None of a scalar, of which ``first`` and ``last`` are one number.
    flat : bool
        Whether it has no level inside the outermost.
    together : array or None
        How many tokens come together with the last one; None: it comes alone.
    """

    axis: str | None
    first: Floats
    last: Floats
    flat: bool = False
    together: Floats | None = None

    @cached_property
    def coming(self) -> Floats:
        """When the next token passes, of this outer coordinate or one behind it."""
        first = np.where(self.last > 0, self.first, np.inf)
        found = np.minimum.accumulate(first[::-1])[::-1]
        return np.where(np.isinf(found), 0.0, found)


def _axes(execution: Execution, samples: Mapping[str, Sample]) -> dict[str, _Axis]:
    tops: dict[str, dict[int, Nest]] = {}
    for stream in execution.graph.streams:
        top = execution.streams[stream.id].nest.top
        if top is not None:
            tops.setdefault(stream.indices[0], {})[id(top)] = top
    for node, made in execution.nodes.items():
        top = made.work.top
        if top is not None:
            index = working_index(execution.graph, execution.graph.nodes[node], made)
            assert index is not None
            tops.setdefault(index, {})[id(top)] = top
    axes = {}
    for index, found in tops.items():
        several = list(found.values())
        longest = max(several, key=lambda t: t.n)
        if all(t.crd is longest.crd or np.array_equal(t.crd, longest.crd) for t in several):
            axes[index] = _Axis(longest.crd, True)
        elif longest.full and all(not t.n or t.crd[-1] < longest.full for t in several):
            axes[index] = _Axis(longest.crd, False)
        else:
            axes[index] = _Axis(np.unique(np.concatenate([t.crd for t in several])), False)
    for index, sample in samples.items():
        if index in axes and len(sample.coords) < sample.measures.shape[1]:
            axes[index] = axes[index].sampled(sample)
    return axes


def working_index(graph: Graph, node: Node, made: Executed) -> str | None:
    """The outermost index of what a node works on: of its output, or what it closes.

    None where there are scalars only.
    """
    closes = made.flushes is not None and made.flushes.top is None
    found: tuple[str, ...] = ()
    if not closes:
        found = _longest(graph, [s for s in node.outputs if s is not None])
    return next(iter(found or _longest(graph, list(node.inputs))), None)


def _longest(graph: Graph, streams: list[int]) -> tuple[str, ...]:
    return max((graph.streams[s].indices for s in streams), key=len, default=())


def timed(
    execution: Execution,
    machine: Machine | None = None,
    *,
    bound: bool = False,
    samples: Mapping[str, Sample] = _NO_SAMPLES,
) -> Timed:
    """When a graph is done, on channels without bounds.

    Parameters
    ----------
    machine : Machine, optional
        For latencies and intervals; the default one without.
    bound : bool
        A lower bound: everything starts as early as it may.
    samples : mapping
        Of an outermost index the coordinates that were executed, if not all were.
    """
    machine = machine or Machine()
    graph = execution.graph
    axes = _axes(execution, samples)
    drains = {} if bound else _drains(execution, axes, machine)
    passing: dict[int, _Passing] = {}
    ends: dict[int, float] = {}
    finals: dict[int, float] = {}
    totals: dict[int, float] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        made = execution.nodes[k]
        slow = value_latency(node, machine)
        if not bound:
            slow += reading_latency(node, machine)
        # Where in a fiber values come is not known, so a bound leaves most latencies out.
        latency = 1 if bound else slow
        pace = Timing(latency, value_interval(node, machine))
        inputs = [passing[s] for s in node.inputs]
        outputs = [s for s in node.outputs if s is not None]
        # The final token passes everywhere a cycle later.
        before = max((finals[graph.producer[s]] + 1 for s in node.inputs), default=0.0)
        copies = primitive(node.op).role is Role.COPY
        if made.work.top is None:
            start = max((float(p.first.min(initial=0.0)) for p in inputs), default=0.0)
            late = max((float(p.last.max(initial=0.0)) for p in inputs), default=0.0)
            own = made.work.total * pace.interval
            totals[k] = own + made.final * pace.interval
            done = late if copies else max(start + own, late + 1.0 if inputs else 0.0)
            for s in outputs:
                wait = 1 if copies else _latency(made, execution.streams[s], slow)
                passing[s] = _alone(late + wait)
        else:
            name = working_index(graph, node, made)
            assert name is not None
            axis = axes[name]
            known = RULES[node.op]
            nests = [execution.streams[s].nest for s in node.inputs]
            inputs = [
                _moved(p, nest.top, beside, made.work.top, name, axes)
                for p, nest, beside in zip(inputs, nests, _beside(known, nests, made), strict=True)
            ]
            work = axis.spread(made.work) * pace.interval
            if drains:
                work = work + _bursts(execution, node, name, axis, drains, machine)
            totals[k] = float(work.sum()) + made.final * pace.interval
            final = finals[graph.producer[node.inputs[0]]] + 1
            rows = known.rows and made.flushes is not None and made.flushes.top is not None
            a, b, here = _arrivals(
                inputs, name, axis, work, replace(known, rows=rows), final, copies
            )
            if copies:
                done = float(b.max())
                out = replace(
                    inputs[0], first=np.where(here, a + 1, 0), last=np.where(here, b + 1, 0)
                )
                passing.update((s, out) for s in outputs)
            else:
                total = np.cumsum(work)
                closing = 0.0 if known.free_stops and not inputs[0].flat else 1.0
                b = b + closing
                if not bound:
                    for s, p in zip(node.inputs, inputs, strict=True):
                        if p.together is not None and p.axis == name:
                            tokens = axis.spread(execution.streams[s].tokens)
                            b = np.maximum(b, _taken(p, p.together, tokens, work))
                ready = np.where(here, np.maximum(a + work, b) - total, -np.inf)
                end = total + np.maximum.accumulate(ready)
                start_at = np.maximum(a, np.concatenate(([0.0], end[:-1])))
                step = _Stepping(name, here, start_at, end, work)
                done = step.done
                for s in outputs:
                    carried = execution.streams[s]
                    index = graph.streams[s].indices[0] if carried.nest.depth else name
                    p = step.gives(made, carried, index, axes[index], pace, slow)
                    if known.aligns and nests[0].depth == 1:  # a stop waits for what follows
                        p = replace(p, last=p.last + (p.last > 0) * axes[index].inside)
                    passing[s] = p
        finals[k] = max(done, before)
        ends[k] = finals[k] + made.final * pace.interval
    return Timed(max(ends.values(), default=0.0), ends, totals, axes)


def _drains(
    execution: Execution, axes: Mapping[str, _Axis], machine: Machine
) -> dict[int, tuple[str, Floats]]:
    """Of every channel with a bound, how long what is behind it takes to work off each place.

    Up to the next node that folds, which takes what comes.  Empty where no channel has a bound.
    """
    graph = execution.graph
    drains: dict[int, tuple[str, Floats]] = {}
    if all(_room(graph, s.id, machine) is None for s in graph.streams):
        return drains
    for k in reversed(graph.topological()):
        node, made = graph.nodes[k], execution.nodes[k]
        name = working_index(graph, node, made)
        if name is None or made.work.top is None:
            continue
        slowest = axes[name].spread(made.work) * value_interval(node, machine)
        if made.flushes is None:
            for s in node.outputs:
                if s is not None and s in drains and drains[s][0] == name:
                    slowest = np.maximum(slowest, drains[s][1])
        drains.update((s, (name, slowest)) for s in node.inputs)
    return drains


def _room(graph: Graph, stream: int, machine: Machine) -> int | None:
    capacity = graph.streams[stream].capacity
    return machine.channel_capacity if capacity is None else capacity


def _bursts(
    execution: Execution,
    node: Node,
    name: str,
    axis: _Axis,
    drains: Mapping[int, tuple[str, Floats]],
    machine: Machine,
) -> Floats:
    """Cycles in which rows that leave at once wait for room in channels shorter than they are."""
    made = execution.nodes[node.id]
    extra = np.zeros(axis.size)
    if made.flushes is None or made.flushes.top is None:
        return extra
    for s in node.outputs:
        if s is None or s not in drains or drains[s][0] != name:
            continue
        room = _room(execution.graph, s, machine)
        if room is None:
            continue
        tokens = axis.spread(execution.streams[s].tokens)
        share = 1.0 - room * axis.spread(made.flushes) / np.maximum(tokens, 1.0)
        np.maximum(extra, share * drains[s][1], out=extra)
    return extra


def reading_latency(node: Node, machine: Machine) -> int:
    """Cycles that a node waits for a memory that finds time for everybody.

    Reads that need the answer of another one wait for it: segments come before coordinates.
    """
    if machine.memory is None:
        return 0
    trips = len(primitive(node.op).memory.reads)
    if node.params.get("singleton"):
        trips -= 1
    return round(trips * machine.memory.read_latency(machine.clock_hz))


def _taken(p: _Passing, together: Floats, tokens: Floats, work: Floats) -> Floats:
    """When tokens that come together with the last one are worked through, as any other."""
    steps = work * together / np.maximum(tokens, 1.0)
    return np.where(p.last > 0, p.last + np.minimum(steps, work), 0.0)


def _alone(when: float) -> _Passing:
    return _Passing(None, np.array([when]), np.array([when]))


def _beside(rule: Rule, nests: list[Nest], made: Executed) -> list[Nest | None]:
    """The outermost level at whose coordinates each input is worked on.

    Coordinates that a concat has shifted come with payloads that still lie at those before.
    """
    tops = [nest.top for nest in nests]
    if rule.heads:
        shifted = {2 * k + 1: nest for k, nest in enumerate(nests[::2])}
    elif rule.aligns:
        shifted = {len(nests) - 1: nests[0]}
    else:
        shifted = {0: made.outputs[0].nest} if rule.shifts else {}
    for port, nest in shifted.items():
        if nest.depth == 1:
            tops[port] = nest
    return tops


def _moved(
    p: _Passing,
    own: Nest | None,
    target: Nest | None,
    top: Nest,
    name: str,
    axes: Mapping[str, _Axis],
) -> _Passing:
    """A stream at the coordinates, and under the index, that its reader works on.

    The same coordinates may have one index in front of a join and another behind.
    """
    if p.axis is None or own is None or target is None:
        return p
    if own is target and (p.axis == name or not _within(own, top)):
        return p  # where it is, or on another axis altogether
    before, after = axes[p.axis], axes[name]
    to = np.searchsorted(after.coords, target.crd)

    def moved(placed: Floats) -> Floats:
        made = np.zeros(len(after.coords))
        made[to] = before.at_elements(own, placed)
        return after.placed(made, float(placed[-1]))

    together = None if p.together is None else moved(p.together)
    return _Passing(name, moved(p.first), moved(p.last), p.flat, together)


def _within(some: Nest, other: Nest) -> bool:
    if some is other or some.crd is other.crd:
        return True
    return some.n <= other.n and bool(np.isin(some.crd, other.crd).all())


def _arrivals(
    inputs: list[_Passing],
    name: str,
    axis: _Axis,
    work: Floats,
    rule: Rule,
    final: float,
    copies: bool,
) -> tuple[Floats, Floats, Bools]:
    """When the first and the last token of each outer coordinate come, and where any does."""
    a, b = np.zeros(axis.size), np.zeros(axis.size)
    late = 0.0
    for port, p in enumerate(inputs):
        if p.axis == name:
            if not (rule.in_turn and port):
                np.maximum(a, p.coming if rule.heads else p.first, out=a)
            np.maximum(b, p.last, out=b)
            if rule.rows or (rule.ahead and port == 0 and p.flat):
                np.maximum(b[:-1], p.coming[1:], out=b[:-1])
        else:
            if rule.ahead and port == 0 and p.axis is None:
                b[-1] = final
            there = p.last > 0
            if there.any():
                np.maximum(a, p.first[there].min(), out=a)
                late = max(late, float(p.last.max()))
    if rule.in_turn:
        lanes = [np.where(p.last > 0, p.first, np.inf) for p in inputs[1:] if p.axis == name]
        if lanes:
            soonest = np.minimum.reduce(lanes)
            np.maximum(a, np.where(np.isinf(soonest), 0.0, soonest), out=a)
    here = (b > 0) if copies else (work > 0)
    if late > 0:
        at = int(np.flatnonzero(here)[-1]) if here.any() else axis.size - 1
        b[at] = max(b[at], late)
        here[at] = True
    return a, b, here


@dataclass(frozen=True, eq=False)
class _Stepping:
    """When a node is at work on each outer coordinate.

    Attributes
    ----------
    here : array
        Where it does anything.
    start, end : array
        Clock when it begins, and when it is done.
    """

    name: str
    here: Bools
    start: Floats
    end: Floats
    work: Floats

    @property
    def done(self) -> float:
        return float(np.max(self.end, where=self.here, initial=0.0))

    def gives(
        self, made: Executed, carried: Carried, index: str, axis: _Axis, pace: Timing, slow: int
    ) -> _Passing:
        """When the tokens of one of its outputs pass."""
        top = carried.nest.top
        if top is None:
            return _alone(self.done - 1.0 + _latency(made, carried, slow))
        flat = top is carried.nest
        # A fold takes its time for fibers without values, too.
        leaves = carried.values if made.flushes is None else carried.nest.elements
        latency = _latencies(leaves, axis, float(pace.latency))
        there = axis.has(top)
        if made.flushes is not None and made.flushes.top is None:
            when = np.where(there, self.done - 1.0 + latency, 0.0)
            return _Passing(index, when, when, flat)
        there &= self.here
        start, together = self.start, None
        if made.lead is not None:
            start = start + np.minimum(axis.spread(made.lead) * pace.interval, self.work)
        if made.flushes is not None:
            if len(made.outputs) > 1:
                together = axis.spread(_last_tree(made.outputs[0].nest.parent, carried.nest))
            flushes = np.maximum(axis.spread(made.flushes), 1.0)
            some = np.where(flushes <= 1.0, self.end, np.minimum(start + 1.0, self.end))
            first, last = some + latency - 1.0, self.end + latency - 1.0
        else:
            first = start + latency
            last = self.end - pace.interval + latency
            if not flat:  # behind the last value comes a stop
                last = last - pace.interval + 1.0
            first, last = (last, last) if flat else (first, np.maximum(last, first))
        if slow > pace.latency:  # as little as is certain: what comes behind a value comes later
            some = axis.spread(leaves)
            steps = 0.0 if made.flushes is not None else (some - 1.0) * pace.interval
            put = self.end - pace.interval if flat else start + steps
            last = np.maximum(last, np.where(some > 0, put + slow, 0.0))
            first = last if flat else first
        first, last = np.where(there, first, 0.0), np.where(there, last, 0.0)
        return _Passing(index, first, last, flat, together)


def _last_tree(base: Nest | None, nest: Nest) -> Profile:
    """Tokens under the last element of a level, per outer coordinate."""
    assert base is not None
    last = base.ends[1:] - 1
    some = base.ends[1:] > base.ends[:-1]
    low, high = np.where(some, last, 0), np.where(some, last + 1, 0)
    tokens = np.where(some, 1, 0)
    for level in innermost(nest, nest.depth - base.depth):
        tokens = np.where(some, np.maximum(high - low, 1), 0)  # a stop for each
        low, high = level.seg[low], level.seg[high]
    return Profile.of(nest.top, tokens + high - low)


def _latency(made: Executed, carried: Carried, slow: int) -> int:
    """How long a scalar takes: the empty token, but of a fold, passes in a cycle."""
    return slow if made.flushes is not None or carried.values.total > 0 else 1


def _latencies(leaves: Profile, axis: _Axis, slow: float) -> Floats | float:
    """Stops and empty tokens pass in a cycle."""
    if slow <= 1.0:
        return 1.0
    return np.where(axis.spread(leaves) > 0, slow, 1.0)
