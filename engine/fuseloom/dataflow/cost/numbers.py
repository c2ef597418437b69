"""Expected numbers of nodes and regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.on_chip import NOT_KNOWN, OnChip
from fuseloom.dataflow.cost.why import (
    NodeEstimate,
    Provenance,
    named_node,
    why_energy,
    why_node,
    why_region,
)
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import RegionActions, RegionCounts, region_actions
from fuseloom.dataflow.machine.energy_terms import energy_terms
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.display import shown, tag
from fuseloom.errors import DataError
from fuseloom.program.formats import suggestion
from fuseloom.results import estimate as results
from fuseloom.results.display import figures_html
from fuseloom.results.energy import EnergyUse
from fuseloom.results.estimate import RegionTotals
from fuseloom.wording import counted, grouped

NO_COUNTS = RegionCounts((), ())


@dataclass(frozen=True)
class RegionEstimate(RegionTotals):
    """Expected numbers of one region, and of every node of its graph.

    Attributes
    ----------
    nodes : tuple of NodeEstimate
        In the order of the graph.
    tensors : mapping
        Of every tensor that it reads or writes, how many elements it has and how that is known.
    mode : EstimateMode
        What they rest on: ``EXACT``, ``SAMPLED`` or ``METADATA``.
    least : float or None
        Cycles that no run takes fewer than, on any channels; None where only statistics are
        known.
    on_chip : OnChip
        What its accumulators hold, and what its channels have room for.
    executed : float
        Elements that were made, or would have been, to execute it whole: what the estimate took.
    low, high : float
        Cycles between which a run is expected, nineteen times out of twenty.
    counts : RegionCounts
        Expected tokens and values of its streams, which its energy follows from.
    machine : Machine
        Whose actions take that energy.
    """

    nodes: tuple[NodeEstimate, ...] = field(repr=False)
    graph: Graph = field(repr=False, compare=False)
    tensors: Mapping[str, Provenance] = field(repr=False, compare=False)
    mode: EstimateMode = EstimateMode.METADATA
    least: float | None = None
    on_chip: OnChip = NOT_KNOWN
    executed: float = field(default=0.0, repr=False)
    low: float = 0.0
    high: float = float("inf")
    counts: RegionCounts = field(default=NO_COUNTS, repr=False, compare=False)
    machine: Machine = field(default_factory=Machine, repr=False, compare=False)

    @property
    def bottleneck(self) -> NodeEstimate:
        """The node with the most work of its own."""
        return max(self.nodes, key=lambda n: n.cycles)

    @cached_property
    def actions(self) -> RegionActions:
        """Expected actions of its nodes."""
        return region_actions(self.graph, self.counts, self.machine)

    @property
    def energy(self) -> EnergyUse:
        """Expected joules by kind of action (``docs/spec/energy.md`` §4)."""
        return self.actions.use(self.cycles / self.machine.clock_hz)

    def why(self, node: str | int | None = None) -> Provenance:
        """Return the provenance of the cycles of the region, or of a node by number or label.

        Raises
        ------
        DataError
            If there is no such node.
        """
        if node is None:
            return why_region(self.name, self.mode, self.cycles, self.nodes, self.graph)
        return why_node(self.nodes[named_node(self.graph, str(node)).id], self.graph)

    def why_energy(self) -> Provenance:
        """Return the provenance of the energy: its terms with the source of each, in joules."""
        terms = energy_terms(self.actions, self.machine)
        return why_energy(self.name, self.mode, self.energy, terms, self.machine)

    def totals(self) -> dict[str, Any]:
        """Plain data: the name, the figures, what they rest on, how sure they are, and bytes."""
        return {
            **super().totals(),
            "mode": self.mode.value,
            "least": self.least,
            "low": self.low,
            "high": self.high,
            "on_chip": self.on_chip.to_dict(),
            "energy": self.energy.to_dict(),
        }


class Estimate(results.EstimateTotals[RegionEstimate]):
    """Expected numbers of a program: its regions, run one after another."""

    @property
    def least(self) -> float | None:
        """Cycles that no run takes fewer than; None where that is not known of a region."""
        bounds = [r.least for r in self.regions]
        return None if None in bounds else sum(b for b in bounds if b is not None)

    @property
    def low(self) -> float:
        """Cycles that a run is expected to take at least."""
        return sum(r.low for r in self.regions)

    @property
    def high(self) -> float:
        """Cycles that a run is expected to take at most."""
        return sum(r.high for r in self.regions)

    @property
    def energy(self) -> EnergyUse:
        """Expected joules by kind of action, and the time on the machine."""
        return sum((r.energy for r in self.regions), EnergyUse())

    def why(self, name: str, node: str | int | None = None) -> Provenance:
        """Return the provenance of a number: of a region, of one of its nodes, or of a tensor.

        Parameters
        ----------
        name : str
            A region, or a tensor that one reads or writes.
        node : str or int, optional
            Label or number of a node of the region.

        Raises
        ------
        DataError
            If there is none.
        """
        for region in self.regions:
            if region.name == name:
                return region.why(node)
        for region in self.regions:
            if node is None and name in region.tensors:
                return region.tensors[name]
        known = [r.name for r in self.regions] + [t for r in self.regions for t in r.tensors]
        raise DataError(f"no region or tensor is called {name!r}", hint=suggestion(name, known))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the totals, the bound, the interval, the energy, and those of each region."""
        return {
            **super().to_dict(),
            "least": self.least,
            "low": self.low,
            "high": self.high,
            "energy": self.energy.to_dict(),
        }

    def _repr_html_(self) -> str:
        return shown(
            tag("h4", f"estimate: {counted(self.cycles, 'cycle')}"),
            figures_html(
                [(r.name, r.cycles, r.flops, r.bytes) for r in self.regions],
                (self.cycles, self.flops, self.bytes),
                [
                    ("expected between", [*(_between(r.low, r.high) for r in self.regions),
                                          _between(self.low, self.high)]),
                    ("rests on", [*(r.mode.value for r in self.regions), ""]),
                ],
            ),
        )  # fmt: skip


def _between(low: float, high: float) -> str:
    return f"{grouped(low)} and {grouped(high)}" if isfinite(high) else f"{grouped(low)} and more"
