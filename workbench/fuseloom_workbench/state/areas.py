"""The area of hardware: of one node with its output channels.

The engine adds up what was measured (:mod:`fuseloom.dataflow.rtl`).  It needs Amaranth for that,
which is imported when the first area is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl import require_amaranth
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.errors import GraphError

if TYPE_CHECKING:
    from fuseloom.dataflow.rtl.synthesis import HardwareArea
    from fuseloom.dataflow.rtl.unit import PrimitiveUnit

SEARCHER = "SearcherUnit"
"""The unit whose area depends on the contents of what it reads: the length of the longest row."""


@dataclass(frozen=True)
class NodeArea:
    """The hardware of a node.

    Attributes
    ----------
    node : HardwareArea
        What it adds to the channels around it; merged gates may make some of that negative.
    channels : mapping of int to HardwareArea
        Of its output channels, by stream; those whose readers were not measured are left out.
    least : bool
        Whether it is larger on data whose rows are longer: it searches in them.
    """

    node: HardwareArea
    channels: Mapping[int, HardwareArea] = field(default_factory=dict)
    least: bool = False


def load_hardware() -> None:
    """Import what areas need, if it is installed, so that the first one does not wait for it."""
    try:
        require_amaranth()
    except GraphError:
        return
    import_module("fuseloom.dataflow.rtl.region_area")


def node_area(graph: Graph, node: Node, machine: Machine) -> NodeArea:
    """Return the hardware of a node on a machine, without memories for the tensors it reads.

    Raises
    ------
    GraphError
        If the node cannot be hardware, if its area was not measured, or if Amaranth is missing.
    """
    require_amaranth()
    from fuseloom.dataflow.rtl.area import area_table, logic_areas, measured_unit
    from fuseloom.dataflow.rtl.channel import ChannelBuffer

    alone = replace(machine, memory=None)
    unit = _unit(node, alone)
    row = measured_unit(area_table(), node, unit)
    channels: dict[int, HardwareArea] = {}
    for port, stream in enumerate(node.outputs):
        if stream is None:
            continue
        capacity = machine.capacity_of(graph.streams[stream]) or machine.energy.unbounded_depth
        buffer = ChannelBuffer(capacity, port in unit.late_outputs)
        reader = graph.nodes[graph.consumer[stream]]
        # a channel depends on the nodes at its ends alone
        pair = Graph(graph.name, (replace(node, id=0), replace(reader, id=1)), graph.streams)
        try:
            _, found = logic_areas(pair, [unit, _unit(reader, alone)], {stream: buffer})
        except GraphError:
            continue
        channels |= found
    return NodeArea(row.area, channels, unit.configuration[0] == SEARCHER)


def _unit(node: Node, machine: Machine) -> PrimitiveUnit:
    """The hardware of a node that reads tensors without elements."""
    from fuseloom.dataflow.rtl.design import check_machine
    from fuseloom.dataflow.rtl.registry import NodeSpec, unit_of
    from fuseloom.dataflow.sim.bound import canonical

    check_machine(machine)
    nothing = {"seg": np.zeros(2), "crd": np.zeros(0), "vals": np.zeros(0)}
    return unit_of(NodeSpec(node, machine, canonical(nothing)))
