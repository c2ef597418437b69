"""How many dataflow orders a region has, and the cheapest of the graphs they give."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any

import panel as pn

from engine.dataflow.orders import RankedOrder, ranked
from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.quantities import short
from workbench.ranking import candidates

LIMIT = 40
SLICE = 0.03
"""Seconds of ranking between two chances for other callbacks to run."""
REMEMBERED = 200


class OrdersPanel(SessionComponent):
    """Legal orders of the region shown, one per graph they give, ranked by estimated cycles.

    Only the first ``LIMIT`` nest classes are estimated, in short slices, and the panel says so;
    dragging the table's rows reaches all others.
    """

    _esm = script("orders_panel")
    _stylesheets = [style("orders_panel")]

    def __init__(self, *args: Any, **params: Any) -> None:
        self._known: dict[str, list[RankedOrder]] = {}
        self._total = 0
        self._turn = 0
        super().__init__(*args, **params)

    def _follow(self) -> None:
        self.session.param.watch(lambda *_: self.restart(), ["answers", "region"])
        self.restart()

    def restart(self) -> None:
        """Rank the orders of the region shown now, unless it has been done."""
        key = self._key()
        if self._known.get(key) is None:
            self._turn += 1
            self._found: list[RankedOrder] = []
            self._total = self.session.current.pog.count()
            work = candidates(self.session.built, self.session.region, LIMIT)
            self.refresh()
            turn = self._turn

            async def rank() -> None:
                await self._rank(work, turn, key)

            pn.state.execute(rank)
            return
        self._found = self._known[key]
        self._total = self.session.current.pog.count()
        self.refresh()

    def _key(self) -> str:
        """All that the ranking depends on: everything but this region's own order."""
        session = self.session
        others = [
            session.built.region_order(k)
            for k in range(len(session.regions))
            if k != session.region
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

    async def _rank(self, work: Iterator[RankedOrder], turn: int, key: str) -> None:
        found: list[RankedOrder] = []
        until = time.monotonic() + SLICE
        for entry in work:
            found.append(entry)
            if time.monotonic() > until:
                await asyncio.sleep(0.001)
                if turn != self._turn:
                    return
                until = time.monotonic() + SLICE
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[key] = self._found = found
        self.refresh()

    def make_view(self) -> dict[str, Any]:
        session = self.session
        chosen = session.built.region_order(session.region)
        entries = ranked(self._found)
        best = entries[0].cycles if entries else 0.0
        return {
            "name": session.current.name,
            "total": f"{self._total:,}",
            "one": self._total == 1,
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
            "rules": [
                f"{e.outer} outside {e.inner}: {e.reason}" for e in session.current.pog.edges
            ],
        }

    def handle(self, request: Mapping[str, Any]) -> None:
        order = request.get("order")
        if request["kind"] == "choose" and isinstance(order, list):
            self.session.set_order(self.session.region, [str(x) for x in order])


def _others(orders: int) -> str:
    return "" if orders == 1 else f"and {orders - 1:,} more with the same graph"
