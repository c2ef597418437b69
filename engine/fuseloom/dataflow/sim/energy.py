"""Energy of a run: its exact counts, as actions (``docs/spec/energy.md``)."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import RegionActions, RegionCounts, region_actions
from fuseloom.dataflow.sim.result import EngineResult, written_fibers
from fuseloom.results.energy import EnergyUse


def run_counts(result: EngineResult, copied: float = 0.0) -> RegionCounts:
    """The counts of a run; ``copied`` bytes were moved beside it to copy tensors."""
    stats = result.memory
    return RegionCounts(
        result.tokens.tolist(),
        result.values.tolist(),
        {node.id: written_fibers(result, node.id) for node in result.graph.nodes},
        copied,
        None if stats is None else float(stats.bytes),
        None if stats is None else float(sum(channel.activates for channel in stats.channels)),
    )


def run_actions(result: EngineResult, machine: Machine, copied: float = 0.0) -> RegionActions:
    """The actions of a run, node by node."""
    return region_actions(result.graph, run_counts(result, copied), machine)


def run_energy(result: EngineResult, machine: Machine, copied: float = 0.0) -> EnergyUse:
    """The energy of a run by kind of action, and its time."""
    return run_actions(result, machine, copied).use(result.cycles / machine.clock_hz)
