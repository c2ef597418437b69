"""The result of a simulation, for both engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.dram import MemoryStats
from fuseloom.dataflow.machine.actions import NodeCounts
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.tile_values import node_bytes, node_flops
from fuseloom.dataflow.sim.observe import Observed
from fuseloom.dataflow.sim.tokens import Token
from fuseloom.results.work import Work
from fuseloom.wording import counted, described

Int64: TypeAlias = npt.NDArray[np.int64]
Log: TypeAlias = Mapping[int, list[tuple[Token, int]]]


@dataclass(frozen=True)
class EngineResult:
    """Clocks, counters and outputs of one run; both engines give the same, exactly.

    The clock of a node moves for four reasons, and each cycle is booked on one of them:
    waiting for an input token to arrive (``stall_input``), waiting for a free slot in an
    output channel (``stall_output``), waiting for the memory to answer (``stall_memory``), and
    its own work (the rest: busy).

    Attributes
    ----------
    clocks, stall_input, stall_output, stall_memory, first : ndarray of int64, one per node
        Final clock; cycles stalled; clock at the first token taken or put, after waiting for
        it (peeking alone does not count; -1 if there was none).
    tokens, values, taken : ndarray of int64, one per stream
        Tokens put into it, how many of them are values (no stop, empty or final token), and
        tokens taken out of it.
    outputs : mapping
        Node id of each writer to its arrays: ``crd`` and ``seg`` (int64) or ``vals`` (float32).
    log : mapping or None
        Stream id to the tokens taken from it with their timestamps, if asked for.
    observed : Observed or None
        Occupancies, timelines and the like, if asked for.
    memory : MemoryStats or None
        What the memory did, if the machine has one.
    """

    graph: Graph
    clocks: Int64
    stall_input: Int64
    stall_output: Int64
    stall_memory: Int64
    first: Int64
    tokens: Int64
    values: Int64
    taken: Int64
    outputs: Mapping[int, Mapping[str, npt.NDArray[Any]]]
    log: Log | None = None
    observed: Observed | None = None
    memory: MemoryStats | None = None

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.graph.name}: {counted(self.cycles, 'cycle')}, "
            f"{counted(self.total_tokens, 'token')}",
        )

    @property
    def cycles(self) -> int:
        """Elapsed cycles: the latest final clock, observers of a test bench left out."""
        counted = [
            int(self.clocks[node.id])
            for node in self.graph.nodes
            if not primitive(node.op).observer
        ]
        return max(counted, default=0)

    @property
    def busy(self) -> Int64:
        """Cycles of its own work, per node."""
        return self.clocks - self.stall_input - self.stall_output - self.stall_memory

    @property
    def total_tokens(self) -> int:
        """Tokens put into all channels."""
        return int(self.tokens.sum())


def written_fibers(result: EngineResult, node: int) -> int:
    """Fibers of the level that a node wrote; 0 if it wrote none."""
    written = result.outputs.get(node, {})
    return len(written["seg"]) - 1 if "seg" in written else 0


def measured_work(result: EngineResult) -> Work:
    """The work of one region's run."""
    total, values = Work(), result.values.tolist()
    for node in result.graph.nodes:
        own = NodeCounts.of(node, values, written_fibers(result, node.id))
        total += Work(
            node_flops(node, own.taken, own.made), node_bytes(node, own.taken, own.made, own.fibers)
        )
    return total
