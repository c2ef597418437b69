"""The analytical cost of a compiled program: tokens, FLOPs, bytes and cycles, without a run.

A region's graph is executed on coordinates alone, which gives what every node has to do, exactly;
when it is done follows from a max-plus recurrence over the outermost index.  Where executing takes
too much, statistics must do.  Rules: ``docs/spec/estimate.md`` §2, §4.  FuseFlow §7
uses an estimate to prune the design space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.cost.contention import on_windows, waiting
from fuseloom.dataflow.cost.context import EstimateContext, ExecutedGraph
from fuseloom.dataflow.cost.exact.channels import rooms_of
from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.cost.exact.fiber_levels import Profile
from fuseloom.dataflow.cost.exact.timing import Timed, timed
from fuseloom.dataflow.cost.executed import executed_region
from fuseloom.dataflow.cost.interval import interval
from fuseloom.dataflow.cost.metadata import from_metadata
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.numbers import Estimate, RegionEstimate
from fuseloom.dataflow.cost.on_chip import OnChip, channel_bytes, held_bytes
from fuseloom.dataflow.cost.why import NodeEstimate
from fuseloom.dataflow.dram import Dram
from fuseloom.dataflow.fusion.repair import traffic
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import RegionCounts
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.tile_values import node_bytes, node_flops

__all__ = [
    "Estimate",
    "EstimateContext",
    "EstimateMode",
    "NodeEstimate",
    "RegionEstimate",
    "cost_region",
    "estimate",
    "estimate_region",
]


@check_arguments
def estimate(
    compilation: Compilation,
    data: Mapping[str, Any],
    *,
    mode: EstimateMode | str = EstimateMode.AUTO,
    machine: Machine | None = None,
) -> Estimate:
    """Estimate the cost of a compiled program on data, region by region.

    Parameters
    ----------
    data : mapping
        Every input by name, as for ``simulate``; only its coordinates matter.
    mode : EstimateMode or str
        ``exact``: execute every region on coordinates; ``sampled``: on some coordinates of the
        outermost indices; ``metadata``: statistics only; ``auto``: the first of these that takes
        some tenths of a second at most.
    machine : Machine, optional
        Whose latencies and intervals count, and the latency and peak of its memory; of channels
        with a bound, how rows wait for room in them.

    Raises
    ------
    DataError
        If the data do not fit the program, or an exact estimate would take too much.

    Examples
    --------
    >>> import fuseloom as fl
    >>> gcn, data = fl.load("gcn", "karate")
    >>> expected = fl.estimate(fl.compile(gcn.program, gcn.presets["partial"]), data)
    >>> for region in expected.regions:
    ...     print(region.name, round(region.cycles), region.mode.value)
    T1..H 11319 exact
    T5..Y 2787 exact
    >>> expected.low <= 14_106 <= expected.high  # what a run takes
    True
    """
    context = EstimateContext.of(compilation.program, data, mode, machine)
    return Estimate(tuple(estimate_region(region, context) for region in compilation.regions))


def estimate_region(region: CompiledRegion, context: EstimateContext) -> RegionEstimate:
    """Estimate one region and note in ``context`` what it writes, or is expected to write.

    Raises
    ------
    LoweringError
        If a primitive has no rule.
    DataError
        If the mode is exact, and that would take too much.
    """
    with context.lock:
        key = (region.graph, context.guessed(region.graph))
        if key not in context.done:
            context.done[key] = _bounded(region, context, cost_region(region, context))
            context.costed.pop(key, None)
        return context.done[key]


def cost_region(region: CompiledRegion, context: EstimateContext) -> RegionEstimate:
    """The same without lower bound and interval, if all coordinates are known.

    That takes a quarter less, and is what candidates are compared by.

    Raises
    ------
    LoweringError, DataError
        As :func:`estimate_region`.
    """
    with context.lock:
        key = (region.graph, context.guessed(region.graph))
        if key in context.done:
            return context.done[key]
        if key not in context.costed:
            context.costed[key] = _estimated(region, context)
        return context.costed[key]


def _estimated(region: CompiledRegion, context: EstimateContext) -> RegionEstimate:
    found, when = executed_region(region, context), None
    if found is not None and found.mode is EstimateMode.EXACT:
        context.note(found.executed)
    elif found is None or not context.expects(region.graph):
        nodes, counts, cycles = from_metadata(region, context)  # notes what it is expected to write
    if found is not None:
        when, cycles = _timed(region, context, found)
        nodes, counts = _numbers(found.executed, when)
    copied = sum(
        traffic(region.region.program.tensor(name), context.elements(name))
        for name in region.copies
    )
    flops, moved = sum(n.flops for n in nodes), sum(n.bytes for n in nodes) + copied
    if (memory := context.machine.memory) is not None:  # nothing moves faster than its peak
        cycles = max(cycles, moved / memory.peak_per_cycle(context.machine.clock_hz))
    low, high = 0.0, inf
    if found is None or found.mode is not EstimateMode.EXACT:
        low, high = interval(found, when, cycles, None, context.machine)
    tensors = {name: context.why(name) for name in sorted(context.touches(region.graph))}
    return RegionEstimate(
        region.name,
        cycles,
        flops,
        moved,
        nodes,
        region.graph,
        tensors,
        EstimateMode.METADATA if found is None else found.mode,
        None,
        OnChip(
            None if found is None else sum(n.held for n in nodes),
            channel_bytes(region.graph, context.machine),
        ),
        context.budget if found is None else found.made,
        low,
        high,
        replace(counts, copied=float(copied)),
        context.machine,
    )


def _bounded(
    region: CompiledRegion, context: EstimateContext, costed: RegionEstimate
) -> RegionEstimate:
    """The estimate of a region with its lower bound and interval."""
    if costed.mode is not EstimateMode.EXACT:
        return costed
    found = executed_region(region, context)
    assert found is not None
    least = _bound(found, context.machine)
    low, high = interval(found, None, costed.cycles, least, context.machine)
    return replace(costed, least=least, low=low, high=high)


def _timed(
    region: CompiledRegion, context: EstimateContext, found: ExecutedGraph
) -> tuple[Timed, float]:
    """When the nodes of a region are done, and the cycles of all of it.

    Of a region that was executed on samples, windows tell how much longer it takes where channels
    are full, and how long it waits for a memory.
    """
    machine, executed = context.machine, found.executed
    sampled = found.mode is not EstimateMode.EXACT
    bounded = bool(rooms_of(executed, machine))
    limited = bounded or isinstance(machine.memory, Dram)
    when = timed(executed, machine, samples=found.samples, full=not sampled)
    windows = on_windows(region, context, found, when) if sampled and limited else None
    cycles = when.cycles
    if windows is not None and windows.whole:
        cycles = timed(windows.execution, machine).cycles
    elif windows is not None and bounded:
        free = timed(windows.execution, machine, full=False).cycles
        cycles *= timed(windows.execution, machine).cycles / max(free, 1.0)
    elif sampled and bounded:
        when = timed(executed, machine, samples=found.samples)
        cycles = when.cycles
    return when, cycles + (waiting(found, windows, when, context) or 0.0)


def _bound(found: ExecutedGraph, machine: Machine) -> float:
    """The lower bound, which neither channels nor a memory change."""
    key = replace(machine, name="", channel_capacity=None, memory=None)
    if key not in found.bounds:
        found.bounds[key] = timed(found.executed, machine, bound=True).cycles
    return found.bounds[key]


def _numbers(executed: Execution, when: Timed) -> tuple[tuple[NodeEstimate, ...], RegionCounts]:
    """Return the work of every node, by the counts of its streams, and these."""
    graph, held = executed.graph, held_bytes(executed)
    numbers = []

    def total(stream: int, profile: Profile) -> float:
        return when.total(profile, next(iter(graph.streams[stream].indices), None))

    values = {s: total(s, carried.values) for s, carried in executed.streams.items()}
    tokens = {s: total(s, carried.tokens) + 1.0 for s, carried in executed.streams.items()}
    fibers = {
        node.id: total(node.inputs[0], executed.streams[node.inputs[0]].fiber_tree.filled)
        for node in graph.nodes
        if primitive(node.op).memory.writes_level
    }
    counts = RegionCounts(tokens, values, fibers)
    for node in graph.nodes:
        own = counts.of(node)
        put = [s for s in node.outputs if s is not None]
        numbers.append(
            NodeEstimate(
                node.id,
                max((tokens[s] for s in put or node.inputs), default=0.0),
                when.work[node.id],
                node_flops(node, own.taken, own.made),
                node_bytes(node, own.taken, own.made, own.fibers),
                when.ends[node.id],
                held.get(node.id, 0.0),
            )
        )
    return tuple(numbers), counts
