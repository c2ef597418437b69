"""Expected numbers of nodes and regions."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.dataflow.cost.mode import Mode
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
    end : float or None
        Clock at which it is done, where the graph was executed.
    """

    node: int
    tokens: float
    cycles: float
    flops: float
    bytes: float
    end: float | None = None


@dataclass(frozen=True)
class RegionEstimate(RegionTotals):
    """Expected numbers of one region, and of every node of its graph.

    Attributes
    ----------
    nodes : tuple of NodeEstimate
        In the order of the graph.
    mode : Mode
        What they rest on: ``EXACT``, ``SAMPLED`` or ``METADATA``.
    least : float or None
        Cycles that no run takes fewer than, on any channels; None where only statistics are
        known.
    """

    nodes: tuple[NodeEstimate, ...] = field(repr=False)
    mode: Mode = Mode.METADATA
    least: float | None = None

    @property
    def bottleneck(self) -> NodeEstimate:
        """The node with the most work of its own."""
        return max(self.nodes, key=lambda n: n.cycles)


class Estimate(results.Estimate[RegionEstimate]):
    """Expected numbers of a program: its regions, run one after another."""

    @property
    def least(self) -> float | None:
        """Cycles that no run takes fewer than; None where that is not known of a region."""
        bounds = [r.least for r in self.regions]
        return None if None in bounds else sum(b for b in bounds if b is not None)
