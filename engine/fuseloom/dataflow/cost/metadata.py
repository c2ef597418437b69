"""A region's expected numbers from statistics alone (``docs/spec/estimate.md`` §6).

Where the coordinates of what it reads are not known, or executing it would take too much.
"""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.flow import Flow, FlowContext
from fuseloom.dataflow.cost.rules import RULES
from fuseloom.dataflow.cost.statistics import ExpectedStatistics, Floats
from fuseloom.dataflow.cost.why import NodeEstimate
from fuseloom.dataflow.machine.actions import RegionCounts
from fuseloom.dataflow.machine.timing import value_latency
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.tile_values import node_bytes, node_flops
from fuseloom.errors import LoweringError
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Tensor


def from_metadata(
    region: CompiledRegion, context: EstimateContext
) -> tuple[tuple[NodeEstimate, ...], RegionCounts, float]:
    """Expected numbers of every node, counts, and cycles; what it is expected to write is noted.

    Cycles are those of the busiest node, and those a value takes on the longest path.

    Raises
    ------
    LoweringError
        If a primitive has no rule.
    """
    graph = region.graph
    flows: dict[int, Flow] = {}
    nodes: dict[int, NodeEstimate] = {}
    counts = RegionCounts({}, {}, {})
    written: dict[str, dict[int, Flow]] = {}
    depth: dict[int, int] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        if node.op not in RULES:
            raise LoweringError(f"no cost rule for the primitive {node.op!r}")
        inputs = tuple(flows[s] for s in node.inputs)
        outputs = tuple(-1 if s is None else s for s in node.outputs)
        at_hand = FlowContext(context, outputs, context.patterns.nonzeros.share)
        outcome = RULES[node.op](node, inputs, at_hand)
        made_flows = zip(node.outputs, outcome.flows, strict=True)
        flows.update({s: flow for s, flow in made_flows if s is not None})
        if not node.outputs and context.program.tensor(str(node.params["tensor"])).rank:
            levels = written.setdefault(str(node.params["tensor"]), {})
            if primitive(node.op).memory.writes_level:
                levels[int(node.params["level"])] = inputs[0]
        for s, flow in zip(node.outputs, outcome.flows, strict=True):
            if s is not None:
                counts.values[s], counts.tokens[s] = flow.values * flow.present, flow.tokens
        taken = [f.values * f.present for f in inputs]
        made = max((f.values * f.present for f in outcome.flows), default=0.0)
        fibers = inputs[0].shape.fibers if inputs and inputs[0].shape is not None else 0.0
        counts.fibers[k] = fibers
        tokens = max((f.tokens for f in outcome.flows or inputs), default=0.0)
        nodes[k] = NodeEstimate(
            k,
            tokens,
            outcome.busy,
            node_flops(node, taken, made),
            node_bytes(node, taken, made, fibers),
        )
        depth[k] = value_latency(node, context.machine) + max(
            (depth[graph.producer[s]] for s in node.inputs), default=0
        )
    for name, levels in written.items():
        context.expected[name] = _expected(context.program.tensor(name), levels)
    ordered = tuple(nodes[n.id] for n in graph.nodes)
    return ordered, counts, max(n.cycles for n in ordered) + max(depth.values(), default=0)


def _expected(tensor: Tensor, written: dict[int, Flow]) -> ExpectedStatistics:
    """Return the expected statistics of a written tensor; a level without a writer is complete."""
    counts: list[Floats] = []
    for level, dimension in enumerate(tensor.format.mode_order):
        flow = written.get(level)
        if flow is not None and flow.counts is not None:
            counts.append(flow.counts)
        else:
            above = float(counts[-1].sum()) if counts else 1.0
            counts.append(np.full(grid_shape(tensor)[dimension], above))
    return ExpectedStatistics(tuple(counts))
