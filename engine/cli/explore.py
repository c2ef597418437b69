"""``fuseloom explore``: the dataflow orders of every region, by estimated cycles."""

from __future__ import annotations

import json
from collections.abc import Mapping

from engine.dataflow.compiler import Compilation, CompiledRegion
from engine.dataflow.cost.estimate import Known, estimate_region
from engine.explore import RankedOrder, rank, ranked
from engine.program import StoredTensor


def explore(
    compilation: Compilation, data: Mapping[str, StoredTensor], limit: int, as_json: bool
) -> int:
    """Print one order per distinct graph of each region, the cheapest first."""
    known = Known(compilation.program, data)
    found: list[tuple[CompiledRegion, list[RankedOrder], bool]] = []
    for region in compilation.regions:
        entries = list(rank(region.region, known, limit + 1))
        found.append((region, ranked(entries[:limit]), len(entries) > limit))
        estimate_region(region, known)  # notes what it writes, for the regions after it
    if as_json:
        print(json.dumps([_record(*entry) for entry in found]))
        return 0
    for region, entries, more in found:
        total = region.pog.count()
        shown = f"{len(entries)} distinct graphs" if len(entries) != 1 else "one graph"
        first = "the first " if more else ""
        print(f"{region.name}: {total:,} legal orders, {first}{shown}")
        for entry in entries:
            cycles = entry.reason or f"{entry.cycles:,.0f} cycles"
            chosen = "*" if entry.covers(_own(region)) else " "
            alike = entry.stands_for.orders
            print(f"  {chosen} {'→'.join(entry.order):32} {alike:>8,} orders  {cycles}")
    return 0


def _own(region: CompiledRegion) -> tuple[str, ...]:
    """The region's order without what the compiler added."""
    return tuple(x for x in region.order if x in region.region.extents)


def _record(region: CompiledRegion, entries: list[RankedOrder], more: bool) -> dict[str, object]:
    return {
        "region": region.name,
        "legal_orders": region.pog.count(),
        "complete": not more,
        "graphs": [
            {
                "order": entry.order,
                "orders": entry.stands_for.orders,
                "cycles": None if entry.reason else entry.cycles,
                "reason": entry.reason,
                "chosen": entry.covers(_own(region)),
            }
            for entry in entries
        ],
    }
