"""What every node of the region shown did over time, as plain data."""

from __future__ import annotations

from typing import Any

from workbench.quantities import count
from workbench.session import Session

NOTHING = (
    "<p class='quiet'>No run of this configuration yet. Press Run to see what each node does.</p>"
)
KEPT = (
    "<p class='quiet'>Of a kept run the cycles are known. Press Run to see what each node does.</p>"
)


def view(session: Session) -> dict[str, Any]:
    """Names of nodes and their cycles per bin in the activity chosen; nothing without a run."""
    record = session.record
    region = record.run.regions[session.region] if record else None
    if region is None or region.timeline is None:
        return {"note": NOTHING if region is None else KEPT}
    names = [f"{row['label']} · {number}" for number, row in region.rows.items()]
    width = region.timeline["width"]
    ports = sum(row["owner"] != row["node"] for row in region.rows.values())
    return {
        "note": f"<p class='quiet'>{count(len(names) - ports, 'nodes')} in the order of the graph"
        + (f", then {count(ports, 'memory ports')}" if ports else "")
        + f"; each bin is {width:,} of {count(region.cycles, 'cycles')}.</p>",
        "names": names,
        "width": width,
        "total": region.cycles,
        "activity": session.activity,
        "cycles": region.timeline["cycles"][session.activity],
    }
