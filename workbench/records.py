"""What is kept of a simulated configuration: plain data, picklable and comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.design import Built, Design
from workbench.machines import machine_label


def standin_text(label: str) -> str:
    """The loud label of data that only resemble the data set of their name."""
    return f"stand-in: NOT the real graph, {label}"


@dataclass(frozen=True)
class RegionRecord:
    """One region's run, as :mod:`engine.dataflow.sim.explain.data` describes it.

    Attributes
    ----------
    nodes : mapping
        A graph node's id to its row of the trace; ports of the memory come behind the graph's
        own nodes, and name theirs as ``owner``.
    memory : mapping or None
        What the memory did, if the machine has one.
    timeline : mapping
        Activity of every node over time.
    path : mapping or None
        The critical path, if the run was explained.
    channels : sequence
        Occupancy of every channel, the fullest first; empty unless the run was explained.
    """

    name: str
    cycles: int
    nodes: Mapping[int, Mapping[str, Any]] = field(repr=False)
    memory: Mapping[str, Any] | None = field(default=None, repr=False)
    timeline: Mapping[str, Any] = field(default_factory=dict, repr=False)
    path: Mapping[str, Any] | None = field(default=None, repr=False)
    channels: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> RegionRecord:
        """The record of what a worker sent back about a region."""
        return cls(
            data["name"],
            data["cycles"],
            {row["node"]: row for row in data["nodes"]},
            data.get("memory"),
            data.get("timeline") or {},
            data.get("path"),
            data.get("channels") or (),
        )

    def ports_of(self, node: int) -> list[Mapping[str, Any]]:
        """Rows of the memory ports of a node."""
        return [row for row in self.nodes.values() if row.get("owner") == node]


@dataclass(frozen=True)
class RunRecord:
    """One simulated configuration.

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
    machine, data : str
        What people call the machine and the data.
    standin : bool
        Whether the data only resemble the data set of that name.
    check : str
        How the outputs compare with the dense reference, in words.
    """

    configuration: str
    problem: str
    name: str
    preset: bool
    design: Design = field(repr=False)
    schedule: str
    estimated: float
    cycles: int
    flops: float
    bytes: float
    ok: bool
    max_rel_error: float
    check: str
    seconds: float
    machine: str
    data: str
    standin: bool
    regions: tuple[RegionRecord, ...] = field(repr=False)

    @property
    def explained(self) -> bool:
        """Whether the critical path of every region is known."""
        return all(region.path is not None for region in self.regions)

    def with_paths_of(self, known: RunRecord | None) -> RunRecord:
        """This record, with what an explained run of the same configuration has found."""
        if known is None or self.explained or not known.explained or known.cycles != self.cycles:
            return self
        pairs = zip(self.regions, known.regions, strict=True)
        regions = tuple(replace(a, path=b.path, channels=b.channels) for a, b in pairs)
        return replace(self, regions=regions)

    @classmethod
    def of(cls, built: Built, name: str, outcome: Mapping[str, Any]) -> RunRecord:
        """The record of what a worker sent back about a design."""
        return cls(
            configuration=built.configuration,
            problem=built.problem,
            name=name,
            preset=bool(built.preset_name),
            design=built.design,
            schedule=str(built.schedule),
            estimated=float(built.estimate.cycles),
            cycles=outcome["cycles"],
            flops=outcome["flops"],
            bytes=outcome["bytes"],
            ok=outcome["ok"],
            max_rel_error=outcome["max_rel_error"],
            check=outcome["check"],
            seconds=outcome["seconds"],
            machine=machine_label(built.design.machine),
            data=built.loaded.label,
            standin=built.loaded.standin,
            regions=tuple(RegionRecord.of(r) for r in outcome["regions"]),
        )
