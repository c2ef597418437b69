"""What the machine's memory did in the run of the region shown, as plain data."""

from __future__ import annotations

from typing import Any

from workbench.state.session import Session


def view(session: Session) -> dict[str, Any]:
    """The region's memory statistics, if its run has any."""
    record = session.record
    memory = record.run.regions[session.region].memory if record else None
    return {
        "region": session.current.name,
        "there": session.machine.memory is not None,
        "memory": memory,
    }
