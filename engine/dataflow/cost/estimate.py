"""The analytical cost of a compiled program: tokens, FLOPs, bytes and cycles, without a run.

Source: ``fusion.md`` §6; §5.4 of the paper uses it to prune the design space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from engine.dataflow.compiler import Compilation, CompiledRegion
from engine.dataflow.cost.flow import Context, Flow
from engine.dataflow.cost.rules import RULES
from engine.dataflow.cost.statistics import Expected, Measured, Statistics
from engine.dataflow.fusion.repair import traffic
from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.graph import Graph
from engine.dataflow.samml.tile_values import latency
from engine.dataflow.samml.work import node_bytes, node_flops
from engine.errors import LoweringError
from engine.program.relayout import reshaped
from engine.program.storage import StoredTensor, check_data
from engine.program.stored_views import resolve_view
from engine.program.types import Program
from engine.results import estimate as results
from engine.results.estimate import RegionTotals


@dataclass(frozen=True)
class NodeEstimate:
    """Expected numbers of one node.

    Attributes
    ----------
    tokens : float
        Tokens on its busiest output (busiest input, for a writer).
    cycles : float
        Cycles of its own work.
    flops, bytes : float
        Arithmetic operations; bytes moved to and from memory.
    """

    node: int
    tokens: float
    cycles: float
    flops: float
    bytes: float


@dataclass(frozen=True)
class RegionEstimate(RegionTotals):
    """Expected numbers of one region, and of every node of its graph.

    Attributes
    ----------
    cycles : float
        Cycles of the busiest node, and those a value takes on the longest path.
    """

    nodes: tuple[NodeEstimate, ...] = field(repr=False)

    @property
    def bottleneck(self) -> NodeEstimate:
        return max(self.nodes, key=lambda n: n.cycles)


class Estimate(results.Estimate[RegionEstimate]):
    """Expected numbers of a program: its regions, run one after another."""


class Known:
    """Statistics by view key: measured for inputs, expected for what regions write."""

    def __init__(self, program: Program, data: Mapping[str, StoredTensor]) -> None:
        self.program = program
        self.data = dict(data)
        self.expected: dict[str, Expected] = {}
        self._measured: dict[str, Statistics] = {}

    def __call__(self, key: str) -> Statistics:
        name, _, order = key.partition("@")
        self._reshape(name)
        if name in self.expected:
            if not order:
                return self.expected[name]
            stored = self.program.tensor(name).format.mode_order
            return self.expected[name].permuted([stored.index(int(m)) for m in order.split(",")])
        if key not in self._measured:
            self._measured[key] = Measured(resolve_view(self.data, key))
        return self._measured[key]

    def elements(self, name: str) -> float:
        """How many elements a tensor stores, all those of a block included."""
        self._reshape(name)
        if name not in self.expected:
            return self.data[name].nnz
        return self.expected[name].total * prod(self.program.tensor(name).format.tile)

    def _reshape(self, name: str) -> None:
        """Note what a reshape that memory has done by now is expected to hold."""
        statement = self.program.producers.get(name)
        if statement is None or statement.op.fuses or name in self.data or name in self.expected:
            return
        source = statement.operands[0].tensor
        self._reshape(source)
        tensor = self.program.tensor(name)
        if source in self.data:
            self.data[name] = reshaped(self.data[source], tensor)
        else:
            self.expected[name] = Expected.uniform(tensor, self.elements(source))


def estimate(compilation: Compilation, data: Mapping[str, Any]) -> Estimate:
    """Estimate the cost of a compiled program on data, region by region.

    Parameters
    ----------
    data : mapping
        Every input by name, as for ``simulate``; only its coordinates matter.

    Raises
    ------
    DataError
        If the data do not fit the program.
    """
    known = Known(compilation.program, check_data(compilation.program, data))
    return Estimate(tuple(estimate_region(region, known) for region in compilation.regions))


def estimate_region(region: CompiledRegion, known: Known) -> RegionEstimate:
    """Estimate one region and note what it is expected to write in ``known``.

    Raises
    ------
    LoweringError
        If a primitive has no rule.
    """
    graph = region.graph
    flows: dict[int, Flow] = {}
    nodes: dict[int, NodeEstimate] = {}
    written: dict[str, dict[int, Flow]] = {}
    depth: dict[int, int] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        if node.op not in RULES:
            raise LoweringError(f"no cost rule for the primitive {node.op!r}")
        inputs = tuple(flows[s] for s in node.inputs)
        outputs = tuple(-1 if s is None else s for s in node.outputs)
        outcome = RULES[node.op](node, inputs, Context(known, outputs))
        made_flows = zip(node.outputs, outcome.flows, strict=True)
        flows.update({s: flow for s, flow in made_flows if s is not None})
        if primitive(node.op).memory.writes_level:
            levels = written.setdefault(str(node.params["tensor"]), {})
            levels[int(node.params["level"])] = inputs[0]
        taken = [f.values * f.present for f in inputs]
        made = max((f.values * f.present for f in outcome.flows), default=0.0)
        fibers = inputs[0].shape.fibers if inputs and inputs[0].shape is not None else 0.0
        tokens = max((f.tokens for f in outcome.flows or inputs), default=0.0)
        nodes[k] = NodeEstimate(
            k,
            tokens,
            outcome.busy,
            node_flops(node, taken, made),
            node_bytes(node, taken, made, fibers),
        )
        depth[k] = latency(node) + max((depth[graph.producer[s]] for s in node.inputs), default=0)
    for name, levels in written.items():
        counts = tuple(levels[k].counts for k in range(len(levels)))
        known.expected[name] = Expected(tuple(c for c in counts if c is not None))
    copied = sum(
        traffic(region.region.program.tensor(name), known.elements(name)) for name in region.copies
    )
    return _total(region.name, graph, nodes, max(depth.values(), default=0), copied)


def _total(
    name: str, graph: Graph, nodes: dict[int, NodeEstimate], depth: int, copied: float
) -> RegionEstimate:
    ordered = tuple(nodes[n.id] for n in graph.nodes)
    return RegionEstimate(
        name,
        max(n.cycles for n in ordered) + depth,
        sum(n.flops for n in ordered),
        sum(n.bytes for n in ordered) + copied,
        ordered,
    )
