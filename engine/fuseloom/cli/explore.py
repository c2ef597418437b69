"""``fuseloom explore``: the dataflow orders of every region, by estimated cycles; or a sweep.

Where an option asks for a sweep, :mod:`fuseloom.cli.sweeps` does it.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, positive, print_json
from fuseloom.cli.inputs import CompiledInputs, inputs, program_options
from fuseloom.cli.sweeps import is_sweep, sweep, sweep_options
from fuseloom.cli.tables import orders_table
from fuseloom.dataflow.fusion.pog import orders_text
from fuseloom.exploration.sweep.sweep import LIMIT
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.documents import OrderedRegion, OrdersDocument, RankedGraph

GRAPHS = 40
"""Distinct graphs of a region, unless told otherwise."""


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    parser.add_argument(
        "--limit", type=positive, metavar="N",
        help=f"distinct graphs to estimate per region (default: {GRAPHS}); configurations of a "
        f"sweep to look at, the first ones (default: {LIMIT:,})",
    )  # fmt: skip
    sweep_options(parser)


def _run(options: Any) -> int:
    if is_sweep(options):
        return sweep(options)
    given = inputs(options)
    if not options.json:
        print(given.heading, end="")
    found = _ranked(given, options.limit or GRAPHS)
    if options.json:
        content: OrdersDocument = {
            "name": given.compilation.program.name,
            "data": given.source,
            "regions": found,
        }
        print_json(DocumentKind.ORDERS, content)
        return 0
    for region in found:
        number = len(region["graphs"])
        shown = counted(number, "distinct graph") if number != 1 else "one graph"
        first = "" if region["complete"] else "the first "
        print(f"{region['name']}: {orders_text(region['legal_orders'])}, {first}{shown}")
        for line in orders_table(region["graphs"]):
            print(line)
    return 0


def _ranked(given: CompiledInputs, limit: int) -> list[OrderedRegion]:
    """Per region one order per distinct graph, the cheapest first."""
    from fuseloom.dataflow.cost.estimate import EstimateContext, cost_region
    from fuseloom.dataflow.orders import rank, ranked

    compilation = given.compilation
    context = EstimateContext.shared(compilation.program, given.data, machine=given.machine)
    found: list[OrderedRegion] = []
    for region in compilation.regions:
        entries = list(rank(region.region, context, limit + 1))
        cost_region(region, context)  # notes what it writes, for the regions after it
        graphs: list[RankedGraph] = [
            {
                "order": entry.order,
                "orders": entry.stands_for.orders,
                "cycles": None if entry.reason else entry.cycles,
                "reason": entry.reason or None,
                "chosen": entry.covers(region.own_order),
            }
            for entry in ranked(entries[:limit])
        ]
        found.append(
            {
                "name": region.name,
                "legal_orders": region.legal_orders,
                "complete": len(entries) <= limit,
                "graphs": graphs,
            }
        )
    return found


EXPLORE = Command(_declare, _run)
