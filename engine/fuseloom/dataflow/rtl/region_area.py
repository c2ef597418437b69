"""The area of a region's logic on a machine, without the contents of its tensors or with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.area import graph_area
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.synthesis import HardwareArea
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph, canonical
from fuseloom.dataflow.sim.golden.registry import implementation
from fuseloom.program.storage import StoredTensor

_NOTHING = {"seg": np.zeros(2), "crd": np.zeros(0), "vals": np.zeros(0)}
"""The arrays of a tensor without elements."""


def logic_area(
    graph: Graph, machine: Machine, data: Mapping[str, StoredTensor] | None = None
) -> HardwareArea:
    """The area of a region's nodes and channels; memories of tensors are not counted.

    Latencies and capacities are those of the machine; its memory has no hardware here.  A channel
    without a bound is built for ``machine.energy.unbounded_depth`` tokens.

    Parameters
    ----------
    data : mapping, optional
        What the region reads.  Without it, the area is that on tensors without elements: a search
        in a compressed level is as small as may be, and all else as it is on any data.

    Raises
    ------
    GraphError
        If a node has no hardware, or its area was not measured, naming it.
    """
    depth = machine.energy.unbounded_depth
    streams = tuple(
        replace(stream, capacity=machine.capacity_of(stream) or depth) for stream in graph.streams
    )
    bounded = replace(graph, streams=streams)
    if data is None:
        reading = (n.id for n in graph.nodes if implementation(n.op).reads is not None)
        bound = BoundGraph(bounded, {node: canonical(_NOTHING) for node in reading})
    else:
        bound = bind(bounded, data)
    return graph_area(HardwareGraph(bound, replace(machine, memory=None))).logic
