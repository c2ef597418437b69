"""Objectives of a search over machines and schedules, and budgets that its answers keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fuseloom.dataflow.dram import Ideal, peak_bandwidth
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import FuseloomError
from fuseloom.program.formats import suggestion
from fuseloom.results.declarations import Record
from fuseloom.results.method import Cost


@dataclass(frozen=True)
class Objective:
    """A number to be small: of two costs, one that is no more in each of its axes has no more.

    Attributes
    ----------
    unit : str
    axes : tuple of str
        The fields of a cost on which it depends.
    of : callable
        ``of(cost, clock_hz)``.
    """

    name: str
    unit: str
    axes: tuple[str, ...]
    of: Callable[[Cost, float], float]


OBJECTIVES: Mapping[str, Objective] = MappingProxyType(
    {
        each.name: each
        for each in (
            Objective("cycles", "cycles", ("cycles",), lambda cost, clock: cost.cycles),
            Objective("time", "s", ("cycles",), lambda cost, clock: cost.cycles / clock),
            Objective("energy", "J", ("energy",), lambda cost, clock: cost.energy),
            Objective(
                "edp", "J·s", ("cycles", "energy"),
                lambda cost, clock: cost.energy * cost.cycles / clock,
            ),
            Objective("area", "LUTs", ("area",), lambda cost, clock: cost.area),
        )
    }
)  # fmt: skip
"""Objectives by name; ``edp`` is the product of energy and delay."""


def objective_of(name: str) -> Objective:
    """The objective of that name.

    Raises
    ------
    FuseloomError
        If there is none.
    """
    if name not in OBJECTIVES:
        raise FuseloomError(
            f"no objective is called {name!r}", hint=suggestion(name, list(OBJECTIVES))
        )
    return OBJECTIVES[name]


@dataclass(frozen=True)
class DesignBudget(Record):
    """Limits of a machine with its schedule; None is no limit.

    Attributes
    ----------
    area : float or None
        Lookup tables of the largest region's hardware.
    energy : float or None
        Joules of a run.
    bandwidth : float or None
        Bytes per second of the machine's memory, with every data bus busy.
    """

    area: float | None = None
    energy: float | None = None
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        for name, unit in (("area", "LUTs"), ("energy", "J"), ("bandwidth", "bytes/s")):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise FuseloomError(f"a budget of {name} {value}", hint=f"{unit}, 0 or more")

    def refuses(self, machine: Machine) -> str:
        """The reason why a machine is beyond the budget, whatever its schedule; or nothing."""
        if self.bandwidth is None:
            return ""
        if machine.memory is None or isinstance(machine.memory, Ideal):
            return "its memory has no limit, and the budget of bandwidth has"
        peak = peak_bandwidth(machine.memory, machine.clock_hz)
        if peak <= self.bandwidth:
            return ""
        return f"its memory gives {peak:.4g} bytes/s, beyond the budget of {self.bandwidth:.4g}"
