"""The record of a simulated configuration: its design and the record of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.results.record import DataSource, RegionRecord, RunRecord
from fuseloom_workbench.state.design import BuiltDesign, Design
from fuseloom_workbench.state.expected import EstimateSummary
from fuseloom_workbench.state.machines import machine_label


def standin_text(label: str) -> str:
    """The loud label of data that only resemble the data set of their name."""
    return f"stand-in: NOT the real graph, {label}"


def verdict(run: RunRecord) -> str:
    """Describe how the outputs of a run compare with the dense reference."""
    return "not compared with the dense reference" if run.check is None else str(run.check)


def source_of(built: BuiltDesign) -> DataSource:
    """Return the source of a design's data for a run's record."""
    return built.loaded.source


def ports_of(region: RegionRecord, node: int) -> list[Mapping[str, Any]]:
    """Rows of the memory ports of a node."""
    return [row for row in region.nodes or () if row["owner"] == node != row["node"]]


def busy_by_family(run: RunRecord) -> Mapping[Family, int]:
    """Busy cycles of all nodes of a run by family of primitives; empty if none are known."""
    found: dict[Family, int] = {}
    for region in run.regions:
        for row in region.nodes or ():
            primitive = CATALOGUE.get(row.get("op", ""))
            if primitive is not None:
                found[primitive.family] = found.get(primitive.family, 0) + int(row["busy"])
    return found


@dataclass(frozen=True)
class KeptRun:
    """A run of one configuration.

    Attributes
    ----------
    configuration : str
        What identifies it: model, data, machine and the resolved schedule.
    problem : str
        Model, data and machine only: runs with the same one can be compared.
    name : str
        The preset's or the model's name, or one that counts the user's own.
    preset : bool
        Whether the name is a preset's.
    estimated : float
        Cycles the cost model expected.
    run : RunRecord
        What came of it.
    expected : EstimateSummary or None
        What the cost model said besides; None where nobody has kept it.
    searched : bool
        Whether a search has found its schedule.
    """

    configuration: str
    problem: str
    name: str
    preset: bool
    design: Design = field(repr=False)
    estimated: float
    run: RunRecord = field(repr=False)
    expected: EstimateSummary | None = field(default=None, repr=False)
    searched: bool = False

    @classmethod
    def of(cls, built: BuiltDesign, run: RunRecord) -> KeptRun:
        """A design's run; under the preset's name, or none."""
        return cls(
            configuration=built.configuration,
            problem=built.problem,
            name=built.known_name,
            preset=bool(built.preset_name),
            design=built.design,
            estimated=float(built.estimate.cycles),
            run=run,
            expected=EstimateSummary.of(built),
        )

    @cached_property
    def machine(self) -> str:
        """The name of the machine for people."""
        return machine_label(self.design.machine)

    @property
    def data(self) -> str:
        """The name of the data for people."""
        return "" if self.run.data is None else self.run.data.label

    @property
    def standin(self) -> str:
        """The loud label of data that are not what they are called; empty for others."""
        data = self.run.data
        return standin_text(data.label) if data is not None and data.standin else ""

    @cached_property
    def busy(self) -> Mapping[Family, int]:
        """Busy cycles of all nodes, by the family of their primitive; empty if none are known."""
        return busy_by_family(self.run)

    @property
    def max_rel_error(self) -> float:
        """Largest relative error against the dense reference; infinite if none is known."""
        return float("inf") if self.run.check is None else self.run.check.max_rel_error

    @property
    def verdict(self) -> str:
        """The verdict on the outputs against the dense reference, in words."""
        return verdict(self.run)

    def with_paths_of(self, known: KeptRun | None) -> KeptRun:
        """This one, with what another run of the same configuration has found besides."""
        if known is None or known.run.cycles != self.run.cycles:
            return self
        pairs = zip(self.run.regions, known.run.regions, strict=True)
        regions = tuple(_with_more(a, b) for a, b in pairs)
        if all(a is b for a, b in zip(regions, self.run.regions, strict=True)):
            return self
        return replace(self, run=replace(self.run, regions=regions))


def _with_more(region: RegionRecord, known: RegionRecord) -> RegionRecord:
    """A region's run, with the path and the events of another one that is the same."""
    if region.path is None and known.path is not None:
        region = replace(region, path=known.path, channels=known.channels)
    ours, theirs = region.timeline, known.timeline
    kept = theirs is not None and theirs.get("events")
    if ours is not None and kept and not ours.get("events"):
        region = replace(region, timeline=theirs)
    return region
