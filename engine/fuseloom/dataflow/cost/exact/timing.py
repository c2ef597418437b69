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
from typing import TypeAlias

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
from fuseloom.dataflow.cost.exact.channels import reading_latency, rooms_of
from fuseloom.dataflow.cost.exact.execution import RULES, Execution, ExecutionRule
from fuseloom.dataflow.cost.exact.fiber_levels import Bools, Floats, Profile
from fuseloom.dataflow.cost.exact.holding import PendingWork
from fuseloom.dataflow.cost.exact.loops import periods
from fuseloom.dataflow.cost.exact.rows import waits_for_room
from fuseloom.dataflow.cost.exact.samples import NO_SAMPLES, Sample
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import Timing, value_interval, value_latency
from fuseloom.dataflow.samml.catalogue import primitive
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
    work = _works(execution, machine, axes)
    when, arrivals = _passed(execution, machine, axes, work, bound, {})
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
        bounded, arrivals = _passed(execution, machine, axes, slower, bound, until)
    return replace(bounded, work=when.work)


Works: TypeAlias = Mapping[str, dict[int, Floats]]
"""By index and node, cycles at every place."""


def _works(execution: Execution, machine: Machine, axes: Mapping[str, Axis]) -> Works:
    """Return the work of every node."""
    graph = execution.graph
    found: dict[str, dict[int, Floats]] = {}
    for k in graph.topological():
        node, made = graph.nodes[k], execution.nodes[k]
        if made.work.top is not None:
            name = working_index(graph, node, made)
            assert name is not None
            work = axes[name].spread(made.work) * value_interval(node, machine)
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


def _passed(
    execution: Execution,
    machine: Machine,
    axes: dict[str, Axis],
    works: Works,
    bound: bool,
    until: Mapping[int, Floats],
) -> tuple[Timed, dict[int, ArrivalTimes]]:
    """When a graph is done and tokens pass, if nodes are not done with places before then."""
    graph = execution.graph
    arrivals: dict[int, ArrivalTimes] = {}
    ends: dict[int, float] = {}
    finals: dict[int, float] = {}
    totals: dict[int, float] = {}
    steps: dict[int, Stepping] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        made = execution.nodes[k]
        slow = value_latency(node, machine)
        if not bound:
            slow += reading_latency(node, machine)
        # Where in a fiber values come is not known, so a bound leaves most latencies out.
        latency = 1 if bound else slow
        pace = Timing(latency, value_interval(node, machine))
        inputs = [arrivals[s] for s in node.inputs]
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
                wait = 1 if copies else latency_of(made, execution.streams[s], slow)
                arrivals[s] = alone(late + wait)
        else:
            name = working_index(graph, node, made)
            assert name is not None
            axis = axes[name]
            known = RULES[node.op]
            fiber_trees = [execution.streams[s].fiber_tree for s in node.inputs]
            inputs = [
                moved_to(p, fiber_tree.top, beside, made.work.top, name, axes)
                for p, fiber_tree, beside in zip(
                    inputs, fiber_trees, beside(known, fiber_trees, made), strict=True
                )
            ]
            work = works[name][k]
            totals[k] = float(work.sum()) + made.final * pace.interval
            final = finals[graph.producer[node.inputs[0]]] + 1
            rows = known.rows and made.flushes is not None and made.flushes.top is not None
            a, b, here = _arrivals(
                inputs, name, axis, work, replace(known, rows=rows), final, copies
            )
            if copies:
                if k in until:
                    a, b = _copied(a, np.maximum(b, until[k]), here)
                done = float(b.max())
                out = replace(
                    inputs[0], first=np.where(here, a + 1, 0), last=np.where(here, b + 1, 0)
                )
                arrivals.update((s, out) for s in outputs)
            else:
                total = np.cumsum(work)
                closing = 0.0 if known.free_stops and not inputs[0].flat else 1.0
                b = b + closing
                if not bound:
                    for s, p in zip(node.inputs, inputs, strict=True):
                        if p.together is not None and p.axis == name:
                            tokens = axis.spread(execution.streams[s].tokens)
                            b = np.maximum(b, _taken(p, p.together, tokens, work))
                last = b
                if k in until:
                    b = np.maximum(b, until[k])
                ready = np.where(here, np.maximum(a + work, b) - total, -np.inf)
                end = total + np.maximum.accumulate(ready)
                start_at = np.maximum(a, np.concatenate(([0.0], end[:-1])))
                step = Stepping(name, here, start_at, end, work)
                done = step.done
                if k in until:
                    step = replace(step, end=np.maximum(start_at + work, last))
                steps[k] = step
                for s in outputs:
                    carried = execution.streams[s]
                    index = graph.streams[s].indices[0] if carried.fiber_tree.depth else name
                    p = step.gives(made, carried, index, axes[index], pace, slow)
                    if known.aligns and fiber_trees[0].depth == 1:  # a stop waits for what follows
                        p = replace(p, last=p.last + (p.last > 0) * axes[index].inside)
                    arrivals[s] = p.delayed(end) if k in until and index == name else p
        finals[k] = max(done, before)
        ends[k] = finals[k] + made.final * pace.interval
    return Timed(max(ends.values(), default=0.0), ends, totals, axes, steps), arrivals


def _copied(first: Floats, last: Floats, here: Bools) -> tuple[Floats, Floats]:
    """When a copy takes the first and the last token of each place: all in turn."""
    last = np.maximum.accumulate(np.where(here, last, 0.0))
    before = np.concatenate(([0.0], last[:-1]))
    first = np.minimum(np.maximum(first, before), last)
    return np.where(here, first, 0.0), np.where(here, last, 0.0)


def _taken(p: ArrivalTimes, together: Floats, tokens: Floats, work: Floats) -> Floats:
    """When tokens that come together with the last one are worked through, as any other."""
    steps = work * together / np.maximum(tokens, 1.0)
    return np.where(p.last > 0, p.last + np.minimum(steps, work), 0.0)


def _arrivals(
    inputs: list[ArrivalTimes],
    name: str,
    axis: Axis,
    work: Floats,
    rule: ExecutionRule,
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
