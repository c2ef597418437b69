"""What is kept of a simulated configuration: plain data, picklable and comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.sim.machine import Machine
from workbench.design import Built, Design


@dataclass(frozen=True)
class RegionRecord:
    """One region's run; ``nodes`` maps a graph node's id to its row of the trace."""

    name: str
    cycles: int
    nodes: Mapping[int, Mapping[str, Any]] = field(repr=False)


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
    regions: tuple[RegionRecord, ...] = field(repr=False)

    @classmethod
    def of(cls, built: Built, machine: Machine, name: str, outcome: Mapping[str, Any]) -> RunRecord:
        """The record of what a worker sent back about a design."""
        return cls(
            configuration=built.configuration(machine),
            problem=built.problem(machine),
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
            regions=tuple(
                RegionRecord(r["name"], r["cycles"], {row["node"]: row for row in r["nodes"]})
                for r in outcome["regions"]
            ),
        )
