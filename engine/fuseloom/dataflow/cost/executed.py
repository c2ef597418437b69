"""A region executed on coordinates, on all of them or on samples, and kept.

What a graph does is the same on every machine and with channels of any capacity; only its clocks
are not.  So another machine, or the same graph with other capacities, times again what was
executed before.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.cost.context import EstimateContext, ExecutedGraph
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Execution, TooLargeError, execute
from fuseloom.dataflow.cost.exact.patterns import UnknownError
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.sampling import sampled
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.errors import DataError

MOST_KEPT = 5e7
"""Elements of executions that are kept together."""


def executed_region(region: CompiledRegion, context: EstimateContext) -> ExecutedGraph | None:
    """A region executed as the mode says; None if only statistics are left.

    Raises
    ------
    DataError
        If the mode is exact, and that would take too much.
    """
    key = (_without_capacities(region.graph), context.guessed(region.graph))
    found = context.kept.get(key)
    if found is None:
        found = _exactly(region, context) or _on_samples(region, context)
        _keep(context, key, found)
    if found is None:
        return None
    return replace(found, executed=replace(found.executed, graph=region.graph))


def _without_capacities(graph: Graph) -> Graph:
    if all(stream.capacity is None for stream in graph.streams):
        return graph
    return replace(graph, streams=tuple(replace(s, capacity=None) for s in graph.streams))


def _keep(context: EstimateContext, key: Hashable, found: ExecutedGraph | None) -> None:
    """Keep an execution in place of the oldest ones."""
    if found is None or found.made > MOST_KEPT:
        return
    kept = context.kept
    kept.made += found.made
    kept[key] = found
    while kept.made > MOST_KEPT:
        kept.made -= kept.popitem(last=False)[1].made


def _exactly(region: CompiledRegion, context: EstimateContext) -> ExecutedGraph | None:
    if context.mode in (EstimateMode.METADATA, EstimateMode.SAMPLED) or not context.reads_known(
        region.graph
    ):
        return None
    budget = ElementBudget(context.budget)
    try:
        made = execute(region.graph, context.patterns, context.memo, budget)
    except TooLargeError:
        if context.mode is EstimateMode.EXACT:
            raise DataError(
                f"an exact estimate of region {region.name} makes more than {context.budget:,.0f} "
                "elements",
                hint="estimate from samples, with mode sampled",
            ) from None
        return None
    except UnknownError:
        return None
    return ExecutedGraph(made, EstimateMode.EXACT, budget.made)


def _on_samples(region: CompiledRegion, context: EstimateContext) -> ExecutedGraph | None:
    if context.mode in (EstimateMode.METADATA, EstimateMode.EXACT):
        return None
    try:
        for name in context.reads(region.graph):
            context.make_up(name)
        found = sampled(region, context)
    except UnknownError:
        return None
    if found is None:
        return None
    made: Execution = found[0]
    return ExecutedGraph(made, EstimateMode.SAMPLED, context.budget, found[1])
