"""FLOPs and bytes a run really did, counted per node by the catalogue's formulas."""

from __future__ import annotations

from dataclasses import dataclass

from engine.samml.work import node_bytes, node_flops
from engine.sim.result import EngineResult


@dataclass(frozen=True)
class Work:
    """Work of a node, a region or a program (``fusion.md`` §6).

    Attributes
    ----------
    flops : float
        Arithmetic operations on values, accumulations included.
    bytes : float
        Bytes read from and written to memory: coordinates, segments and values, 4 each.
    """

    flops: float = 0
    bytes: float = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.bytes + other.bytes)


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
