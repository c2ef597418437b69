"""What is kept of a simulated configuration: its design and the record of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.results.record import DataSource, RegionRecord, RunRecord
from workbench.design import Built, Design
from workbench.machines import machine_label


def standin_text(label: str) -> str:
    """The loud label of data that only resemble the data set of their name."""
    return f"stand-in: NOT the real graph, {label}"


def verdict(run: RunRecord) -> str:
    """How the outputs of a run compare with the dense reference, in words."""
    return "not compared with the dense reference" if run.check is None else str(run.check)


def source_of(built: Built) -> DataSource:
    """Where the data of a design came from, as a run's record tells it."""
    return DataSource(
        built.loaded.label, built.loaded.origin, built.loaded.standin, built.loaded.options
    )


def ports_of(region: RegionRecord, node: int) -> list[Mapping[str, Any]]:
    """Rows of the memory ports of a node."""
    return [row for row in region.nodes or () if row["owner"] == node != row["node"]]


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
        The preset's name, or one that counts the user's own.
    preset : bool
        Whether the name is a preset's.
    estimated : float
        Cycles the cost model expected.
    run : RunRecord
        What came of it.
    """

    configuration: str
    problem: str
    name: str
    preset: bool
    design: Design = field(repr=False)
    estimated: float
    run: RunRecord = field(repr=False)

    @classmethod
    def of(cls, built: Built, run: RunRecord) -> KeptRun:
        """A design's run; under the preset's name, or none."""
        return cls(
            configuration=built.configuration,
            problem=built.problem,
            name=built.preset_name,
            preset=bool(built.preset_name),
            design=built.design,
            estimated=float(built.estimate.cycles),
            run=run,
        )

    @property
    def machine(self) -> str:
        """What people call the machine."""
        return machine_label(self.design.machine)

    @property
    def data(self) -> str:
        """What people call the data."""
        return "" if self.run.data is None else self.run.data.label

    @property
    def standin(self) -> str:
        """The loud label of data that are not what they are called; empty for others."""
        data = self.run.data
        return standin_text(data.label) if data is not None and data.standin else ""

    @property
    def max_rel_error(self) -> float:
        """Largest relative error against the dense reference; infinite if none is known."""
        return float("inf") if self.run.check is None else self.run.check.max_rel_error

    @property
    def verdict(self) -> str:
        """How the outputs compare with the dense reference, in words."""
        return verdict(self.run)

    def with_paths_of(self, known: KeptRun | None) -> KeptRun:
        """This one, with what an explained run of the same configuration has found."""
        if known is None or self.run.explained or not known.run.explained:
            return self
        if known.run.cycles != self.run.cycles:
            return self
        pairs = zip(self.run.regions, known.run.regions, strict=True)
        regions = tuple(replace(a, path=b.path, channels=b.channels) for a, b in pairs)
        return replace(self, run=replace(self.run, regions=regions))
