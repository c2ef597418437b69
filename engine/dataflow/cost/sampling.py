"""A region executed on samples of its outermost indices, where all of them would take too much.

Each outermost index has a sample of its own, and what runs along it is executed with that
index restricted and the others whole.  Tensors that earlier regions write and nobody has executed
are made up from what is expected of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.dataflow.compiler import CompiledRegion
from engine.dataflow.cost.exact.axes import working_index
from engine.dataflow.cost.exact.execution import Budget, Executed, Execution, TooLargeError, execute
from engine.dataflow.cost.exact.nests import Carried, Floats
from engine.dataflow.cost.exact.samples import Sample, measures_of, outermost
from engine.dataflow.cost.known import SAMPLED_ELEMENTS, Known

SIZES = (256, 128, 64, 32, 16, 8)
"""How many coordinates are tried for each outermost index."""
LONGEST = 5_000_000
"""Coordinates of an index of which samples are drawn."""


def sampled(region: CompiledRegion, known: Known) -> tuple[Execution, Mapping[str, Sample]] | None:
    """A region executed on the largest samples that the budget allows; None if none does.

    Raises
    ------
    UnknownError
        If it reads what nobody knows anything of.
    """
    graph, extents = region.graph, region.region.extents
    indices = outermost(graph)
    if any(extents[x] > LONGEST for x in indices):
        return None
    measures = {x: measures_of(graph, x, extents[x], known.elementwise) for x in indices}
    for size in SIZES:
        samples = {x: _sample(known, *measures[x], size) for x in indices}
        try:
            executed = _executed(region, known, samples)
        except TooLargeError:
            continue
        return executed, samples
    return None


def _sample(known: Known, key: tuple[object, ...], measures: Floats, size: int) -> Sample:
    """The sample of an index; regions and orders that traverse the same tensors by it share it."""
    if (key, size) not in known.samples:
        known.samples[key, size] = Sample.of(measures, size)
    return known.samples[key, size]


def _executed(region: CompiledRegion, known: Known, samples: Mapping[str, Sample]) -> Execution:
    """One execution out of those along each outermost index."""
    graph = region.graph
    along = {
        x: execute(graph, known.patterns, known.memo, Budget(SAMPLED_ELEMENTS), {x: sample})
        for x, sample in samples.items()
    }
    any_of = next(iter(along.values()))
    streams: dict[int, Carried] = {}
    for stream in graph.streams:
        found = along[stream.indices[0]] if stream.indices else any_of
        streams[stream.id] = found.streams[stream.id]
    nodes: dict[int, Executed] = {}
    for node in graph.nodes:
        index = working_index(graph, node, any_of.nodes[node.id])
        nodes[node.id] = (along[index] if index else any_of).nodes[node.id]
    return Execution(graph, streams, nodes)
