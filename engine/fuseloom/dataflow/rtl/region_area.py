"""The area of a region's logic on a machine, without the contents of its tensors or with them.

A search asks for the areas of hundreds of graphs of the same few modules, so units and channels are
made once for each set of parameters.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.area import logic_areas
from fuseloom.dataflow.rtl.channel import ChannelBuffer
from fuseloom.dataflow.rtl.design import check_machine
from fuseloom.dataflow.rtl.registry import NodeSpec, unit_of
from fuseloom.dataflow.rtl.synthesis import HardwareArea
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph, canonical
from fuseloom.dataflow.sim.golden.registry import implementation
from fuseloom.program.storage import StoredTensor

MOST_UNITS = 4_096
"""Units that are kept."""
_NOTHING = canonical({"seg": np.zeros(2), "crd": np.zeros(0), "vals": np.zeros(0)})
"""The arrays of a tensor without elements."""
_units: dict[Hashable, PrimitiveUnit] = {}
_channel = cache(ChannelBuffer)


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
    alone = replace(machine, memory=None)
    check_machine(alone)
    if data is None:
        reading = (n.id for n in graph.nodes if implementation(n.op).reads is not None)
        bound = BoundGraph(graph, dict.fromkeys(reading, _NOTHING))
    else:
        bound = bind(graph, data)
    key = alone.fingerprint
    units = [_unit(NodeSpec(node, alone, bound.of(node.id)), key) for node in graph.nodes]
    depth = machine.energy.unbounded_depth
    channels = {
        stream: _channel(
            machine.capacity_of(graph.streams[stream]) or depth,
            port in units[node.id].late_outputs,
        )
        for node in graph.nodes
        for port, stream in enumerate(node.outputs)
        if stream is not None
    }
    nodes, buffers = logic_areas(graph, units, channels)
    return sum([*nodes.values(), *buffers.values()], start=HardwareArea())


def _unit(spec: NodeSpec, machine: str) -> PrimitiveUnit:
    """The unit of a node, or one with the same parameters on arrays of the same sizes."""
    node = spec.node
    params = tuple(sorted((name, repr(value)) for name, value in node.params.items()))
    ports = len(node.inputs), tuple(stream is None for stream in node.outputs)
    key = (node.op, params, ports, machine, tuple(map(_size, spec.arrays.items())))
    if key not in _units:
        if len(_units) >= MOST_UNITS:
            _units.clear()
        _units[key] = unit_of(spec)
    return _units[key]


def _size(array: tuple[str, npt.NDArray[Any]]) -> Hashable:
    """The size of an array, and of segments the longest one, by which searches differ."""
    name, values = array
    longest = int(np.diff(values).max(initial=0)) if name == "seg" else 0
    return name, len(values), longest
