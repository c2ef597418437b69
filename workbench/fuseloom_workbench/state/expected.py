"""The cost model's summary of a design besides its cycles, kept with its run."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.dataflow.cost import Estimate
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import no_flops
from fuseloom.dataflow.samml.tile_values import flops_per_value
from fuseloom.results.declarations import Record
from fuseloom.results.document import finite
from fuseloom_workbench.state.design import BuiltDesign


@dataclass(frozen=True)
class EstimateSummary(Record):
    """An estimate's interval, what it rests on, and what the chip needs.

    Attributes
    ----------
    low : float
        Cycles which a run is expected to take at least, nineteen times out of twenty.
    high : float or None
        Cycles which it is expected to take at most; None where there is no bound.
    basis : str
        ``exact``, ``sampled`` or ``metadata``: the least certain of the regions'.
    held : float or None
        Bytes that accumulators and replayers hold, of the region that needs the most; None where
        only statistics are known.
    channels : float or None
        Bytes of room in channels, of the same; None where channels have no bound.
    peak : float
        FLOPs in a cycle that no region exceeds: each node that computes gives at most one value.
    """

    low: float
    high: float | None
    basis: str
    held: float | None
    channels: float | None
    peak: float

    @classmethod
    def of(cls, built: BuiltDesign) -> EstimateSummary:
        """Return the summary of a design's estimate."""
        estimate: Estimate = built.estimate
        modes = [region.mode for region in estimate.regions]
        basis = max(modes, key=list(EstimateMode).index, default=EstimateMode.EXACT)
        return cls(
            float(estimate.low),
            finite(float(estimate.high)),
            basis.value,
            most_of([region.on_chip.held for region in estimate.regions]),
            most_of([region.on_chip.channels for region in estimate.regions]),
            max((peak(region.graph) for region in built.regions), default=0.0),
        )

    @property
    def on_chip(self) -> float | None:
        """Bytes on chip: what is held, and the room of channels that have a bound."""
        return None if self.held is None else self.held + (self.channels or 0.0)


def most_of(bytes_of_regions: list[float | None]) -> float | None:
    """The most of any region, as they run in turn; None if one is not known."""
    known = [float(x) for x in bytes_of_regions if x is not None]
    return max(known, default=0.0) if len(known) == len(bytes_of_regions) else None


def peak(graph: Graph) -> float:
    """FLOPs of a graph in a cycle, at most."""
    working = (node for node in graph.nodes if primitive(node.op).flops is not no_flops)
    return float(sum(flops_per_value(node) for node in working))
