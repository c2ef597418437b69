"""When a graph is done, of how much each node does per outer coordinate: a max-plus recurrence.

A node works through the coordinates of its outermost index one after another.  It starts one when
its tokens have begun to come and it is done with those before; it is done with one after its own
work there, and not before the last token has come.  A node that closes the outermost level puts
nothing before it has read everything, so that what is behind it works after it, not beside it.
Rules: ``docs/spec/estimate.md`` §4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from fuseloom.dataflow.cost.exact.arrivals import (
    ArrivalTimes,
    Stepping,
    alone,
    beside,
    latency_of,
    moved_to,
)
from fuseloom.dataflow.cost.exact.axes import Axis, axes_of, working_index
from fuseloom.dataflow.cost.exact.channels import reading_latency, rooms_of, standing_still
from fuseloom.dataflow.cost.exact.execution import RULES, Executed, Execution, ExecutionRule
from fuseloom.dataflow.cost.exact.fiber_levels import Bools, Floats, Profile
from fuseloom.dataflow.cost.exact.holding import PendingWork
from fuseloom.dataflow.cost.exact.loops import periods
from fuseloom.dataflow.cost.exact.rows import waits_for_room
from fuseloom.dataflow.cost.exact.samples import NO_SAMPLES, Sample
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import Timing, value_interval, value_latency
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.traits import Role


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
    axes : mapping
        The outermost indices, by name.
    steps : mapping
        Node id to when it is at work on each coordinate of its outermost index, if it has one.
    """

    cycles: float
    ends: Mapping[int, float]
    work: Mapping[int, float]
    axes: Mapping[str, Axis] = field(repr=False)
    steps: Mapping[int, Stepping] = field(repr=False)

    def total(self, profile: Profile, index: str | None) -> float:
        """A quantity over all coordinates of its outermost index, those not executed included."""
        return profile.total if index is None else self.axes[index].total(profile)


def timed(
    execution: Execution,
    machine: Machine | None = None,
    *,
    bound: bool = False,
    samples: Mapping[str, Sample] = NO_SAMPLES,
    full: bool = True,
) -> Timed:
    """When a graph is done.

    Parameters
    ----------
    machine : Machine, optional
        For latencies, intervals and room in channels; the default one without.
    bound : bool
        A lower bound: everything starts as early as it may.
    samples : mapping
        Of an outermost index the coordinates that were executed, if not all were.
    full : bool
        Whether channels with a bound can be full.
    """
    machine = machine or Machine()
    axes = axes_of(execution, samples)
    work = _works(execution, machine, axes, bound)
    when, arrivals = _Recurrence(execution, machine, axes, work, bound, {}).solved()
    rooms = rooms_of(execution, machine) if full and not bound else {}
    if not rooms:
        return when
    slower = _in_flight(execution, machine, axes, work, rooms)
    waits = waits_for_room(execution, rooms)
    bounded = when
    for _ in work:  # what one index holds back comes later to the others
        until: dict[int, Floats] = {}
        for name, own in slower.items():
            held = PendingWork(execution, machine, name, axes[name], own, arrivals, rooms, waits)
            until |= held.until()
        recurrence = _Recurrence(execution, machine, axes, slower, bound, until)
        bounded, arrivals = recurrence.solved()
    return replace(bounded, work=when.work)


Works: TypeAlias = Mapping[str, dict[int, Floats]]
"""By index and node, cycles at every place."""


def _works(execution: Execution, machine: Machine, axes: Mapping[str, Axis], bound: bool) -> Works:
    """Return the work of every node; for a bound, without what it stands still."""
    graph, cycles = execution.graph, 0.0 if bound else standing_still(machine)
    found: dict[str, dict[int, Floats]] = {}
    for k in graph.topological():
        node, made = graph.nodes[k], execution.nodes[k]
        if made.work.top is not None:
            name = working_index(graph, node, made)
            assert name is not None
            own, stalls = made.work, RULES[node.op].stalls
            if cycles and stalls is not None:
                own = stalls(node, tuple(execution.streams[s] for s in node.inputs), made, cycles)
            work = axes[name].spread(own) * value_interval(node, machine)
            found.setdefault(name, {})[k] = work
    return found


def _in_flight(
    execution: Execution,
    machine: Machine,
    axes: Mapping[str, Axis],
    works: Works,
    rooms: Mapping[int, int],
) -> Works:
    """The same where channels are full of values of one place that have not come yet.

    A value can be put a cycle after that came which leaves its place to it, and the node has begun
    it when it had put the one before.
    """
    found: dict[str, dict[int, Floats]] = {}
    for name, nodes in works.items():
        found[name] = dict(nodes)
        for k in nodes:
            node = execution.graph.nodes[k]
            latency = value_latency(node, machine)
            for s in node.outputs:
                indices = () if s is None else execution.graph.streams[s].indices
                if s is None or latency == 1 or s not in rooms or indices[:1] != (name,):
                    continue
                together = rooms[s] + 1
                values = axes[name].spread(execution.streams[s].values)
                behind = np.maximum(values - together, 0.0)
                cycles = behind * (latency + 2) / together
                found[name][k] = np.maximum(found[name][k], cycles)
    for k, (s, period) in periods(execution, machine, rooms).items():
        for name, nodes in found.items():
            if k in nodes and execution.graph.streams[s].indices[:1] == (name,):
                cycles = axes[name].spread(execution.streams[s].tokens) * period
                nodes[k] = np.maximum(nodes[k], cycles)
    return found


class _Needed(NamedTuple):
    """When the first and the last token that a node needs come, by place, and where any does."""

    first: Floats
    last: Floats
    here: Bools


@dataclass(eq=False)
class _Recurrence:
    """The clocks of the nodes of a graph, each from those of its producers.

    Place ``r`` of a node's outermost index takes ``work[r]`` cycles.  The first token needed there
    comes at ``first[r]``; nothing lets the node be done there before ``last[r]``, when the last
    one has come and been closed.  Where it works at all::

        start[r] = max(first[r], end[r - 1])
        end[r] = max(start[r] + work[r], last[r], until[r])

    A node without outermost index is one place, which starts at 0.  A copy has no work: what comes
    to it at ``first[r]`` and ``last[r]`` passes a cycle later.  The final token leaves a node at
    ``final``, a cycle after the ones before it at the earliest, and then it flushes::

        final = max(end[-1], final of each producer + 1)

    Attributes
    ----------
    works : mapping
        By index and node, ``work``.
    bound : bool
        Whether everything is as early as it may.
    until : mapping
        By node, when there is room for what it puts; without an entry there always is.
    arrivals, finals, steps : dict
        By stream, when its tokens pass; by node, ``final`` and its stepping: of those clocked.
    """

    execution: Execution
    machine: Machine
    axes: dict[str, Axis]
    works: Works
    bound: bool
    until: Mapping[int, Floats]
    arrivals: dict[int, ArrivalTimes] = field(default_factory=dict, init=False)
    finals: dict[int, float] = field(default_factory=dict, init=False)
    steps: dict[int, Stepping] = field(default_factory=dict, init=False)

    def solved(self) -> tuple[Timed, dict[int, ArrivalTimes]]:
        """When the graph is done, and when the tokens of each stream pass."""
        graph = self.execution.graph
        ends: dict[int, float] = {}
        totals: dict[int, float] = {}
        for number in graph.topological():
            node, made = graph.nodes[number], self.execution.nodes[number]
            interval = value_interval(node, self.machine)
            phase = self._scalar if made.work.top is None else self._placed
            work, done = phase(node, made, interval)
            producers = [graph.producer[stream] for stream in node.inputs]
            passed = max((self.finals[k] + 1 for k in producers), default=0.0)
            flush = made.final * interval
            self.finals[number] = max(done, passed)
            ends[number] = self.finals[number] + flush
            totals[number] = work + flush
        cycles = max(ends.values(), default=0.0)
        return Timed(cycles, ends, totals, self.axes, self.steps), self.arrivals

    def _latency(self, node: Node) -> int:
        """Cycles from operands to values; a bound takes what is in the memory as there."""
        latency = value_latency(node, self.machine)
        return latency if self.bound else latency + reading_latency(node, self.machine)

    def _scalar(self, node: Node, made: Executed, interval: int) -> tuple[float, float]:
        """The work and the end of a node without outermost index, which puts after its inputs."""
        latency, copies = self._latency(node), primitive(node.op).role is Role.COPY
        inputs = [self.arrivals[stream] for stream in node.inputs]
        last = max((float(taken.last.max(initial=0.0)) for taken in inputs), default=0.0)
        for stream in node.outputs:
            if stream is not None:
                wait = 1 if copies else latency_of(made, self.execution.streams[stream], latency)
                self.arrivals[stream] = alone(last + wait)
        work = made.work.total * interval
        return work, last if copies else max(work, last + 1.0 if inputs else 0.0)

    def _placed(self, node: Node, made: Executed, interval: int) -> tuple[float, float]:
        """The work and the end of a node that goes along an outermost index."""
        graph = self.execution.graph
        top, index = made.work.top, working_index(graph, node, made)
        assert top is not None
        assert index is not None
        work, rule = self.works[index][node.id], RULES[node.op]
        trees = [self.execution.streams[stream].fiber_tree for stream in node.inputs]
        ports = zip(node.inputs, trees, beside(rule, trees, made), strict=True)
        inputs = [
            moved_to(self.arrivals[stream], tree.top, target, top, index, self.axes)
            for stream, tree, target in ports
        ]
        if rule.rows and (made.flushes is None or made.flushes.top is None):
            rule = replace(rule, rows=False)
        final = self.finals[graph.producer[node.inputs[0]]] + 1
        copies = primitive(node.op).role is Role.COPY
        needed = _needed(inputs, index, self.axes[index], work, rule, final, copies)
        if copies:
            return float(work.sum()), self._copied(node, inputs[0], needed)
        last = self._closed(node, index, inputs, needed.last, work)
        needed = _Needed(needed.first, last, needed.here)
        return float(work.sum()), self._stepped(node, made, index, needed, work, interval)

    def _copied(self, node: Node, source: ArrivalTimes, needed: _Needed) -> float:
        """The end of a copy; without room it takes its tokens in turn, as that comes."""
        first, last, here = needed
        if node.id in self.until:
            last = np.maximum(last, self.until[node.id])
            last = np.maximum.accumulate(np.where(here, last, 0.0))
            before = np.concatenate(([0.0], last[:-1]))
            first = np.minimum(np.maximum(first, before), last)
            first, last = np.where(here, first, 0.0), np.where(here, last, 0.0)
        put = replace(source, first=np.where(here, first + 1, 0), last=np.where(here, last + 1, 0))
        self.arrivals.update((stream, put) for stream in node.outputs if stream is not None)
        return float(last.max())

    def _closed(
        self, node: Node, index: str, inputs: list[ArrivalTimes], last: Floats, work: Floats
    ) -> Floats:
        """When a node is done with the last tokens, a stop behind them included, of each place.

        Tokens that come together with the last one are worked through as any other.
        """
        last = last + (0.0 if RULES[node.op].free_stops and not inputs[0].flat else 1.0)
        for stream, taken in zip(node.inputs, inputs, strict=True):
            if not self.bound and taken.together is not None and taken.axis == index:
                tokens = self.axes[index].spread(self.execution.streams[stream].tokens)
                cycles = np.minimum(work * taken.together / np.maximum(tokens, 1.0), work)
                last = np.maximum(last, np.where(taken.last > 0, taken.last + cycles, 0.0))
        return last

    def _stepped(
        self, node: Node, made: Executed, index: str, needed: _Needed, work: Floats, interval: int
    ) -> float:
        """The end of a node that works; what it put before there is room for it waits."""
        first, last, here = needed
        until = self.until.get(node.id)
        end = _ends(first, last if until is None else np.maximum(last, until), here, work)
        start = np.maximum(first, np.concatenate(([0.0], end[:-1])))
        step = Stepping(index, here, start, end, work)
        done = step.done
        if until is not None:
            step = replace(step, end=np.maximum(start + work, last))
        self.steps[node.id] = step
        self._put(node, made, step, interval, None if until is None else end)
        return done

    def _put(
        self, node: Node, made: Executed, step: Stepping, interval: int, held: Floats | None
    ) -> None:
        """Let outputs pass as a node puts them, their last tokens not before ``held``."""
        latency = self._latency(node)
        # Where in a fiber values come is not known, so a bound leaves most latencies out.
        pace = Timing(1 if self.bound else latency, interval)
        contents = self.execution.streams
        waits = RULES[node.op].aligns and contents[node.inputs[0]].fiber_tree.depth == 1
        for stream in node.outputs:
            if stream is None:
                continue
            nested = contents[stream].fiber_tree.depth > 0
            index = self.execution.graph.streams[stream].indices[0] if nested else step.name
            axis = self.axes[index]
            put = step.gives(made, contents[stream], index, axis, pace, latency)
            if waits:  # a stop, for what follows
                put = replace(put, last=put.last + (put.last > 0) * axis.inside)
            self.arrivals[stream] = put if held is None or index != step.name else put.delayed(held)


def _ends(first: Floats, last: Floats, here: Bools, work: Floats) -> Floats:
    """When a node is done with each place: ``end`` of the recurrence, unrolled.

    With ``total = cumsum(work)`` that is one cumulative maximum over the places before::

        end[r] - total[r] = max over q <= r of max(first[q] + work[q], last[q]) - total[q]
    """
    total = np.cumsum(work)
    ready = np.where(here, np.maximum(first + work, last) - total, -np.inf)
    end: Floats = total + np.maximum.accumulate(ready)
    return end


def _needed(
    inputs: list[ArrivalTimes],
    index: str,
    axis: Axis,
    work: Floats,
    rule: ExecutionRule,
    final: float,
    copies: bool,
) -> _Needed:
    """When the tokens come that a node needs at each place: the latest of the inputs.

    An input on another axis counts with its earliest first and its latest last token, the latter
    at the last place where the node works.  Where what follows has to come as well, that is what
    comes first of it, or the final token.
    """
    first, last = np.zeros(axis.size), np.zeros(axis.size)
    elsewhere = 0.0
    for port, taken in enumerate(inputs):
        if taken.axis == index:
            if not (rule.in_turn and port):
                np.maximum(first, taken.coming if rule.heads else taken.first, out=first)
            np.maximum(last, taken.last, out=last)
            if rule.rows or (rule.ahead and port == 0 and taken.flat):
                np.maximum(last[:-1], taken.coming[1:], out=last[:-1])
        else:
            if rule.ahead and port == 0 and taken.axis is None:
                last[-1] = final
            there = taken.last > 0
            if there.any():
                np.maximum(first, taken.first[there].min(), out=first)
                elsewhere = max(elsewhere, float(taken.last.max()))
    if rule.in_turn:
        others = [taken for taken in inputs[1:] if taken.axis == index]
        lanes = [np.where(taken.last > 0, taken.first, np.inf) for taken in others]
        if lanes:
            soonest = np.minimum.reduce(lanes)
            np.maximum(first, np.where(np.isinf(soonest), 0.0, soonest), out=first)
    here = (last > 0) if copies else (work > 0)
    if elsewhere > 0:
        place = int(np.flatnonzero(here)[-1]) if here.any() else axis.size - 1
        last[place] = max(last[place], elsewhere)
        here[place] = True
    return _Needed(first, last, here)
