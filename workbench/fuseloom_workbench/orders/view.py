"""The dataflow orders of a region: estimates, their number and the cheapest, as plain data."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuseloom.dataflow.cost.estimate import EstimateContext, cost_region
from fuseloom.dataflow.fusion.pog import count_text
from fuseloom.dataflow.orders import RankedOrder, rank, ranked
from fuseloom.program import check_data
from fuseloom_workbench.base.parts import LATER, Draw, LaterPart
from fuseloom_workbench.base.quantities import short
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.session import Session

LIMIT = 40
"""Nest classes that are estimated."""
SLICE = 0.03
"""Seconds of ranking between two results."""
PACE = 0.3
"""Seconds between two of them that are shown."""


@dataclass(frozen=True)
class RankedSoFar:
    """The orders of a region that were found so far, and whether these are all."""

    orders: tuple[RankedOrder, ...]
    whole: bool


def key(session: Session) -> str:
    """All that the ranking depends on: everything but the region's own order."""
    others = [
        session.built.region_order(k) for k in range(len(session.regions)) if k != session.region
    ]
    design = replace(session.design, orders={})
    return repr((session.built.problem, design, session.region, others))


def view(session: Session, found: Sequence[RankedOrder]) -> dict[str, Any]:
    """The orders found so far, best first."""
    chosen = session.built.region_order(session.region)
    total = session.current.legal_orders
    entries = ranked(found)
    best = entries[0].cycles if entries else 0.0
    simulated = _simulated_orders(session)
    return {
        "name": session.current.name,
        "total": count_text(total),
        "one": total == 1,
        "shown": f"{len(entries):,}",
        "all": len(entries) < LIMIT,
        "ready": bool(entries),
        "entries": [
            {
                "order": list(e.order),
                "text": "→".join(e.order),
                "alike": _others(e.stands_for.orders),
                "cycles": "" if e.reason else short(e.cycles, "").strip(),
                "simulated": _simulated(simulated, e),
                "more": f"{e.cycles / best:.2f}× best" if best and e.cycles > best else "",
                "reason": e.reason,
                "chosen": e.covers(chosen),
            }
            for e in entries
        ],
        "listed": any(e.covers(chosen) for e in entries),
        "chosen": " → ".join(chosen),
        "repairs": [str(repair) for repair in session.current.region.repairs],
        "indices": list(session.current.own_order),
        "edges": [[e.outer, e.inner, e.reason] for e in session.current.pog.edges],
        "rules": [f"{e.outer} outside {e.inner}: {e.reason}" for e in session.current.pog.edges],
    }


def _others(orders: int) -> str:
    return "" if orders == 1 else f"and {orders - 1:,} more with the same graph"


def _simulated_orders(session: Session) -> dict[tuple[str, ...], int]:
    """Cycles of this region by its order, in runs of the same program, data and machine."""
    problem, name = session.built.problem, session.current.name
    return {
        tuple(region.order): region.cycles
        for record in session.records.values()
        if record.problem == problem
        for region in record.run.regions
        if region.name == name
    }


def _simulated(known: dict[tuple[str, ...], int], entry: RankedOrder) -> str:
    own = [cycles for order, cycles in known.items() if entry.covers(order)]
    return f"{own[-1]:,}" if own else ""


def candidates(built: BuiltDesign, number: int, limit: int) -> Iterator[RankedOrder]:
    """Estimate the first ``limit`` nest classes of a region, one at a time.

    What the regions before it write is expected, not simulated.
    """
    program = built.compilation.program
    context = EstimateContext.shared(
        program, check_data(program, built.data), machine=built.design.machine
    )
    for earlier in built.regions[:number]:
        cost_region(earlier, context)
    yield from rank(built.regions[number].region, context, limit)


def rank_orders(session: Session, _: Draw) -> Iterator[RankedSoFar]:
    """Rank the orders of the region shown."""
    return _ranked(candidates(session.built, session.region, LIMIT))


def _ranked(orders: Iterator[RankedOrder]) -> Iterator[RankedSoFar]:
    found: list[RankedOrder] = []
    until = time.monotonic() + SLICE
    for entry in orders:
        found.append(entry)
        if time.monotonic() > until:
            yield RankedSoFar(tuple(found), whole=False)
            until = time.monotonic() + SLICE
    yield RankedSoFar(tuple(found), whole=True)


def _given_up(_: Session, ranking: RankedSoFar | None, __: float) -> RankedSoFar:
    return RankedSoFar(() if ranking is None else ranking.orders, whole=True)


def _parts(session: Session, ranking: RankedSoFar | None) -> dict[str, str]:
    return {"orders": json.dumps(view(session, () if ranking is None else ranking.orders))}


# what it estimates is kept with the program, which a change of the session reads, too
LATER["orders"] = LaterPart(key, rank_orders, _parts, _given_up, pace=PACE, threaded=False)
