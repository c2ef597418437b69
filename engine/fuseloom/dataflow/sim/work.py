"""FLOPs and bytes a run really did, counted per node by the catalogue's formulas."""

from __future__ import annotations

from fuseloom.dataflow.samml.work import node_bytes, node_flops
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.results.work import Work


def measured_work(result: EngineResult) -> Work:
    """The work of one region's run."""
    total = Work()
    for node in result.graph.nodes:
        taken = [int(result.values[s]) for s in node.inputs]
        made = max((int(result.values[s]) for s in node.outputs if s is not None), default=0)
        written = result.outputs.get(node.id, {})
        fibers = len(written["seg"]) - 1 if "seg" in written else 0
        total += Work(node_flops(node, taken, made), node_bytes(node, taken, made, fibers))
    return total
