"""Dataflow orders of a region of a design, by estimated cycles."""

from __future__ import annotations

from collections.abc import Iterator

from fuseloom.dataflow.cost.estimate import EstimateContext, estimate_region
from fuseloom.dataflow.orders import RankedOrder, rank
from fuseloom.program import check_data
from fuseloom_workbench.state.design import BuiltDesign


def candidates(built: BuiltDesign, number: int, limit: int) -> Iterator[RankedOrder]:
    """Estimate the first ``limit`` nest classes of a region, one at a time.

    What the regions before it write is expected, not simulated.
    """
    program = built.compilation.program
    context = EstimateContext.shared(
        program, check_data(program, built.data), machine=built.design.machine
    )
    for earlier in built.regions[:number]:
        estimate_region(earlier, context)
    yield from rank(built.regions[number].region, context, limit)
