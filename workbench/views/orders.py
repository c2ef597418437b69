"""How many dataflow orders a region has and the cheapest of them, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.dataflow.orders import RankedOrder, ranked
from workbench.quantities import short
from workbench.session import Session

LIMIT = 40
"""Nest classes that are estimated."""


def key(session: Session) -> str:
    """All that the ranking depends on: everything but the region's own order."""
    others = [
        session.built.region_order(k) for k in range(len(session.regions)) if k != session.region
    ]
    design = session.design
    return repr(
        (
            design.model,
            design.data,
            design.seed,
            design.text,
            design.cuts,
            design.wishes,
            design.settings,
            design.machine,
            session.region,
            others,
        )
    )


def view(session: Session, found: Sequence[RankedOrder]) -> dict[str, Any]:
    """The orders found so far, best first."""
    chosen = session.built.region_order(session.region)
    total = session.current.pog.count()
    entries = ranked(found)
    best = entries[0].cycles if entries else 0.0
    return {
        "name": session.current.name,
        "total": f"{total:,}",
        "one": total == 1,
        "shown": f"{len(entries):,}",
        "all": len(entries) < LIMIT,
        "ready": bool(entries),
        "entries": [
            {
                "order": list(e.order),
                "text": " → ".join(e.order),
                "alike": _others(e.stands_for.orders),
                "cycles": "" if e.reason else short(e.cycles, "cycles"),
                "more": f"{e.cycles / best:.2f}× best" if best and e.cycles > best else "",
                "reason": e.reason,
                "chosen": e.covers(chosen),
            }
            for e in entries
        ],
        "listed": any(e.covers(chosen) for e in entries),
        "chosen": " → ".join(chosen),
        "repairs": [str(repair) for repair in session.current.region.repairs],
        "rules": [f"{e.outer} outside {e.inner}: {e.reason}" for e in session.current.pog.edges],
    }


def _others(orders: int) -> str:
    return "" if orders == 1 else f"and {orders - 1:,} more with the same graph"
