"""The estimated totals of a design, and what its cycles are spent on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.why.recomputation import Recomputation, recomputation
from fuseloom.dataflow.why.spots import spots
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.expected import most_of


def recomputation_of(built: BuiltDesign) -> Sequence[Recomputation]:
    """How often each intermediate of a design is expected to be computed."""
    program = built.compilation.program
    context = EstimateContext.of(program, built.data, machine=built.design.machine)
    return recomputation(built.compilation, context, built.estimate)


@dataclass(frozen=True)
class EstimateFigures:
    """The estimated totals of a design.

    Attributes
    ----------
    memory, computing, recomputing : float
        Cycles of the busiest node of each region: if it reads or writes memory; if it computes,
        those it would take if it computed each value once, and the rest.
    pipeline : float
        All other cycles: a region begins with nothing and ends with what is under way, and its
        busiest node waits.
    bytes : float
        Memory traffic.
    on_chip : float or None
        Bytes that the region which holds the most holds on chip; None where that is not known.
    """

    memory: float
    computing: float
    recomputing: float
    pipeline: float
    bytes: float
    on_chip: float | None

    @classmethod
    def of(cls, built: BuiltDesign) -> EstimateFigures:
        """The figures of a design's estimate."""
        compilation, estimate = built.compilation, built.estimate
        over = {(found.region, found.tensor): found.factor for found in recomputation_of(built)}
        memory = computing = recomputing = pipeline = 0.0
        for region, expected in zip(compilation.regions, estimate.regions, strict=True):
            most, tensor = _busiest(region, expected)
            pipeline += expected.cycles - most
            if tensor is None:
                memory += most
                continue
            once = most / max(over.get((region.name, tensor), 1.0), 1.0)
            computing += once
            recomputing += most - once
        on_chip = most_of([region.on_chip.held for region in estimate.regions])
        return cls(memory, computing, recomputing, pipeline, float(estimate.bytes), on_chip)

    @property
    def parts(self) -> dict[str, float]:
        """The cycles by what they are spent on, as people call it."""
        return {
            "recomputation": self.recomputing,
            "computing": self.computing,
            "memory": self.memory,
            "fill, drain, waits": self.pipeline,
        }

    @property
    def cycles(self) -> float:
        return sum(self.parts.values())


def cycles_of_statements(built: BuiltDesign, region: int) -> dict[str, float]:
    """By statement of a region, the estimated cycles of its busiest node."""
    found: dict[str, float] = {}
    expected = built.estimate.regions[region].nodes
    for spot, numbers in zip(spots(built.regions[region]), expected, strict=True):
        found[spot.statement] = max(found.get(spot.statement, 0.0), numbers.cycles)
    return found


def _busiest(region: CompiledRegion, expected: RegionEstimate) -> tuple[float, str | None]:
    """Cycles of the busiest node, at most the region's, and the tensor it works on.

    No tensor if it moves data of memory.
    """
    if not expected.nodes:
        return 0.0, None
    most = expected.bottleneck
    cycles = min(float(most.cycles), float(expected.cycles))
    if most.bytes > 0:
        return cycles, None
    column = region.graph.nodes[most.node].origin.rpartition(".")[0]
    return cycles, next((c.tensor for c in region.table.columns if c.name == column), "")
