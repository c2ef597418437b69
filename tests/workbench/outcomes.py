"""Records of runs that never were."""

from __future__ import annotations

from fuseloom.results.check import Check
from fuseloom.results.record import MachineId, RegionRecord, RunRecord
from fuseloom_workbench.state.records import source_of


def outcome(cycles=100, ok=True, *, session):
    """The record of a run that never was."""
    row = {
        "tokens_in": 1,
        "tokens": 2,
        "tokens_out": 2,
        "busy": 3,
        "busy_share": 0.5,
        "stall_input": 0,
        "stall_output": 0,
        "stall_memory": 0,
        "idle": 0,
        "first": 0,
        "last": 3,
        "origin": "",
        "energy": 2e-12,
    }
    regions = [
        RegionRecord(
            region.name,
            region.order,
            cycles if number == 0 else 0,
            5.0,
            6.0,
            nodes=tuple(
                {"node": n.id, "owner": n.id, "label": n.label, "op": n.op, **row}
                for n in region.graph.nodes
            ),
        )
        for number, region in enumerate(session.regions)
    ]
    return RunRecord(
        session.compilation.program.name,
        str(session.built.schedule),
        MachineId(session.machine.name, session.machine.fingerprint),
        source_of(session.built),
        tuple(regions),
        Check(3e-7, ok),
        0.1,
    )
