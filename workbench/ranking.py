"""Legal dataflow orders of a region, by estimated cycles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.cost.estimate import Known, estimate_region
from engine.errors import FuseloomError
from engine.program import check_data
from engine.samml.compiler import compile_region
from workbench.design import Built


@dataclass(frozen=True)
class RankedOrder:
    """A legal order.

    Attributes
    ----------
    cycles : float
        Estimated cycles of the region; infinite if the machine cannot realise the order.
    reason : str
        Why it cannot.
    """

    order: tuple[str, ...]
    cycles: float
    reason: str = ""


def candidates(built: Built, number: int, limit: int) -> Iterator[RankedOrder]:
    """Estimate the first ``limit`` legal orders of a region, one at a time.

    The first legal orders are those in which statements run as they read; nothing says that the
    best one is among them.
    """
    region = built.regions[number].region
    program = built.compilation.program
    known = Known(program, check_data(program, built.data))
    for earlier in built.regions[:number]:
        estimate_region(earlier, known)
    for order in region.orders(limit):
        try:
            cycles = estimate_region(compile_region(region, order), known).cycles
        except FuseloomError as reason:
            yield RankedOrder(order, float("inf"), str(reason))
        else:
            yield RankedOrder(order, float(cycles))


def ranked(found: list[RankedOrder]) -> list[RankedOrder]:
    """Cheapest first; equal ones stay as they were found."""
    return sorted(found, key=lambda entry: entry.cycles)
