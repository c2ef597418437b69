"""Between which cycles a run is expected, nineteen times out of twenty.

Of samples, by how far what the deciding nodes do differs from what the totals that are met explain
(successive differences, as samples are systematic).  To that comes what the model itself has been
seen to be off.
"""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.context import ExecutedGraph
from fuseloom.dataflow.cost.exact.axes import working_index
from fuseloom.dataflow.cost.exact.timing import Timed
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.dram import Dram, Queues
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph

DEVIATIONS = 2.0
"""Standard deviations on each side."""
MODEL = 0.02
"""The relative error of the cycles if all counts are right."""
CYCLES = 10.0
"""And in cycles, which only counts where there are few."""
WAITING = 0.15, 0.65
"""The relative decrease and increase of the cycles if tokens wait for room in channels."""
CONTENTION = 0.15, 0.25
"""The same if they wait for a DRAM."""
BOTH = 0.4, 0.9
"""The same if they wait for both, one because of the other."""
STANDING = 0.05, 0.15
"""The same if nodes stand still for a memory's answers."""
INSIDE = 0.12
"""The relative error of the cycles if an inner index is sampled, too."""
STATISTICS = 4.0
"""The factor of error of the cycles if only statistics are known."""
DECIDING = 0.5
"""A node decides that has so much of the work of the busiest one."""


def interval(
    found: ExecutedGraph | None,
    when: Timed | None,
    cycles: float,
    least: float | None,
    machine: Machine,
) -> tuple[float, float]:
    """The least and the most that are expected.

    Parameters
    ----------
    found : ExecutedGraph or None
        A region executed; None if only statistics are known.
    when : Timed or None
        When its nodes are done; of no account where all coordinates were executed.
    least : float or None
        What no run takes less than.
    """
    if found is None:
        return cycles / STATISTICS, cycles * STATISTICS
    less, more = _model_error(machine, found.executed.graph)
    high = cycles * (1.0 + more) + CYCLES
    if isinstance(machine.memory, Dram):  # what is written last waits for more to be written
        high += machine.memory.write_latency(machine.clock_hz)
    if found.mode is EstimateMode.EXACT:
        return least if least is not None else 0.0, high
    assert when is not None
    inside = any(s.fiber_tree.weights is not None for s in found.executed.streams.values())
    off = DEVIATIONS * _deviation(found, when) + (INSIDE * cycles if inside else 0.0)
    return max(cycles * (1.0 - less) - CYCLES - off, 0.0), high + off


def _model_error(machine: Machine, graph: Graph) -> tuple[float, float]:
    """The relative decrease and increase of the cycles that a machine's timing may be off."""
    bounded = machine.channel_capacity is not None
    bounded |= any(stream.capacity is not None for stream in graph.streams)
    match machine.memory:
        case Dram():
            return BOTH if bounded else CONTENTION
        case Queues() if not bounded:
            return STANDING
        case _:
            return WAITING if bounded else (MODEL, MODEL)


def _deviation(found: ExecutedGraph, when: Timed) -> float:
    """The largest standard deviation of what the deciding nodes do."""
    graph, most = found.executed.graph, max(when.work.values(), default=0.0)
    largest = 0.0
    for node, made in found.executed.nodes.items():
        sample = found.samples.get(working_index(graph, graph.nodes[node], made) or "")
        top, work = made.work.top, when.work[node]
        if sample is None or sample.whole or top is None or work < DECIDING * most or not work:
            continue
        done = np.zeros(sample.extent)
        inside = top.crd < sample.extent
        done[top.crd[inside]] = made.work.per[inside]
        there = done[sample.coords]
        interval = work / max(float(there @ sample.weights) + made.work.behind, 1.0)
        largest = max(largest, interval * sample.deviation(there))
    return largest
