"""The chain of kernels, as plain data."""

from __future__ import annotations

from typing import Any

from workbench.palette import region_fill
from workbench.quantities import count, short
from workbench.session import Session


def view(session: Session) -> dict[str, Any]:
    """Kernels, the regions they lie in, and what each region is expected to take."""
    record = session.record
    built = session.built
    units = [
        {
            "name": unit.name,
            "texts": list(unit.texts),
            "region": number,
            "memory": unit.memory,
        }
        for unit, number in zip(built.units, built.unit_regions, strict=True)
    ]
    total = sum(r.cycles for r in session.estimate.regions) or 1.0
    regions = []
    for k, (region, estimated) in enumerate(
        zip(session.regions, session.estimate.regions, strict=True)
    ):
        regions.append(
            {
                "name": region.name,
                "fill": region_fill(k),
                "estimate": short(estimated.cycles, "cycles"),
                "share": estimated.cycles / total,
                "simulated": short(record.run.regions[k].cycles, "cycles") if record else "",
                "hint": f"{count(estimated.flops, 'FLOPs')}, "
                f"{count(estimated.bytes, 'bytes')} of memory traffic, "
                f"{count(len(region.graph.nodes), 'graph nodes')}",
            }
        )
    return {"units": units, "regions": regions, "shown": session.region}
