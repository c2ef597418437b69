"""Energy of candidates of a region, and the area of their hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl import require_amaranth
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.errors import FuseloomError
from fuseloom.program.storage import StoredTensor
from fuseloom.results.area import AreaUse
from fuseloom.results.energy import ActionKind

if TYPE_CHECKING:
    from fuseloom.dataflow.rtl.synthesis import HardwareArea

ROUNDING = 1e-9
"""Share by which sums of the same joules, in other orders, may differ."""
OUTSIDE = (ActionKind.MEMORY, ActionKind.ACTIVATE)
"""Actions of which an estimate is exact only without a memory: bytes moved, rows activated."""


def region_joules(made: RegionEstimate, machine: Machine) -> tuple[float, float]:
    """Joules that a region is expected to take, and those that no run of it is below.

    Counts of exact estimates are those of runs, but for what a memory moves and activates.
    """
    used = made.energy
    if made.mode is not EstimateMode.EXACT:
        return used.joules, 0.0
    outside = sum(used.actions.get(kind.value, 0.0) for kind in OUTSIDE)
    least = used.joules if machine.memory is None else used.joules - outside
    return used.joules, least * (1.0 - ROUNDING)


def region_luts(
    graph: Graph, machine: Machine, data: Mapping[str, StoredTensor] | None = None
) -> float:
    """Lookup tables of a region's hardware on data; without data, those that are needed on any.

    Raises
    ------
    GraphError
        If it cannot be hardware, if its area was not measured, or if Amaranth is missing.
    """
    return _logic(graph, machine, data).luts


def region_area(
    graph: Graph, machine: Machine, data: Mapping[str, StoredTensor] | None = None
) -> AreaUse:
    """The area of a region's hardware, or the reason why it is not known.

    Parameters
    ----------
    data : mapping, optional
        What the region reads; without it, the area is what is needed on any data.
    """
    try:
        area = _logic(graph, machine, data)
    except FuseloomError as problem:
        return AreaUse(reason=str(problem))
    return AreaUse(area.luts, area.flip_flops, area.dsps)


def region_areas(
    compilation: Compilation, machine: Machine, data: Mapping[str, StoredTensor] | None = None
) -> tuple[AreaUse, ...]:
    """The area of each region of a program, as :func:`region_area` has it."""
    return tuple(region_area(region.graph, machine, data) for region in compilation.regions)


def _logic(graph: Graph, machine: Machine, data: Mapping[str, StoredTensor] | None) -> HardwareArea:
    require_amaranth()
    from fuseloom.dataflow.rtl.region_area import logic_area

    return logic_area(graph, machine, data)
