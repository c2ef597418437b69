"""Channel capacities measured in a run: as small as this data and machine allow.

:func:`fuseloom.dataflow.samml.passes.buffers.size_buffers` gives capacities that hold for all data;
these here hold for one data set and one machine only, and keep the cycle count.
"""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import Engine, run_graph
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.reports import Limits


def measured_buffers(
    bound: BoundGraph,
    machine: Machine,
    *,
    engine: str | Engine = Engine.AUTO,
    limit: int | None = None,
) -> Graph:
    """The graph with the least capacities with which this run takes no cycle longer.

    ::

        %7:val2, %8:val2 = broadcast(%6)    ->    %7:val2/2, %8:val2/9 = broadcast(%6)

    The graph runs once with unbounded channels.  A channel then needs as many slots as it had
    tokens put and not yet taken, at the clocks of its producer; with these no put waits, so
    the run is the same, to the cycle, and cannot deadlock.  Other data may need more.

    Parameters
    ----------
    limit : int, optional
        Most tokens the run may put.

    Raises
    ------
    SimulationError
        If the run fails or exceeds the limit.
    """
    free = replace(bound, graph=bound.graph.with_capacity(None))
    unbounded = replace(machine, channel_capacity=None)
    result = run_graph(free, unbounded, engine, observe=Observe(peaks=True), limits=Limits(limit))
    assert result.observed is not None
    occupancy = result.observed.occupancy_max
    assert occupancy is not None
    streams = tuple(
        replace(stream, capacity=max(1, int(slots)))
        for stream, slots in zip(bound.graph.streams, occupancy, strict=True)
    )
    return replace(bound.graph, streams=streams)
