"""The searchable space, and the reason why a schedule is not the best, as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fuseloom.dataflow.machine.space import MAX_MACHINES
from fuseloom.dataflow.machine.text import print_machine
from fuseloom.dataflow.space.requirements import KINDS
from fuseloom.exploration.objective import OBJECTIVES
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.search.parameters import FIRST, parameters
from fuseloom_workbench.search.wishes import (
    LONGEST,
    MOST_COPIES,
    MOST_LANES,
    MOST_RUNS,
    OBJECTIVE_TEXTS,
    STRATEGIES,
    SearchSettings,
    lanes_of,
)
from fuseloom_workbench.state.answered import digest
from fuseloom_workbench.state.session import Session


@page_part("search")
def view(session: Session) -> dict[str, Any]:
    """The design in short, bounds of the settings, and the last answer to "why not"."""
    design, record = session.design, session.record
    shown = digest(session.configuration)
    verdict = session.verdict
    return {
        "problem": digest(session.built.problem),
        "configuration": shown,
        "what": f"{design.model} on {session.built.loaded.label}, machine {design.machine.name}",
        "schedule": str(session.built.schedule),
        "lanes": lanes_of(design),
        "estimate": f"est. {count(session.estimate.cycles, 'cycles')}",
        "simulated": "" if record is None else f"sim. {count(record.run.cycles, 'cycles')}",
        "strategies": STRATEGIES,
        "objectives": {
            name: {"text": text, "unit": OBJECTIVES[name].unit}
            for name, text in OBJECTIVE_TEXTS.items()
        },
        "rules": "\n".join(KINDS.values()),
        "parameters": [
            {**asdict(parameter), "first": parameter.name in FIRST}
            for parameter in parameters(design.machine)
            if parameter.name != "lanes"  # which have a field of their own
        ],
        "machine": print_machine(design.machine),
        "own": SearchSettings().to_dict(),
        "most": {
            "seconds": min(LONGEST, float(session.run_limit)),
            "runs": MOST_RUNS,
            "lanes": MOST_LANES,
            "copies": MOST_COPIES,
            "machines": MAX_MACHINES,
        },
        "verdict": verdict,
        "old": bool(verdict) and not verdict["of"] and verdict["shown"] != shown,
    }
