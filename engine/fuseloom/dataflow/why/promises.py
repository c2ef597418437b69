"""The promise of a change and whether it was kept: an estimate, and a bound that is proven.

A run takes no fewer cycles than the bound, whatever happens: no node does its work in less time
(:attr:`~fuseloom.dataflow.cost.numbers.RegionEstimate.least`), and a faster node shortens the
critical path by no more than half of its own part of that
(:meth:`~fuseloom.dataflow.sim.explain.critical.CriticalPath.what_if`).  So a change gains at most
what lies between the cycles now and the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.dataflow.cost import Estimate
from fuseloom.results.declarations import Amount, Record
from fuseloom.results.record import RunRecord
from fuseloom.wording import counted

_SLACK = 1e-6
"""Of a cycle: what sums of floats are off by."""


@dataclass(frozen=True)
class Promise(Record):
    """The prediction of a change before it is run.

    Attributes
    ----------
    now : float
        Cycles without it: measured, or else estimated.
    least : float
        Cycles that a run with it takes at least; 0 where nothing is known.
    estimated, high : float or None
        Cycles expected with it, and those that a run exceeds one time in forty; None where nothing
        but the bound is known.
    """

    now: Amount
    least: Amount
    estimated: Amount | None = None
    high: Amount | None = None

    @property
    def text(self) -> str:
        """The figures, in short: expected cycles, or the bound."""
        if self.estimated is None:
            return f"≥ {self.least:,.0f}"
        return f"est. {self.estimated:,.0f}"

    @property
    def sentence(self) -> str:
        """The promise in full."""
        bound = f"at least {counted(self.least, 'cycle')}, whatever happens"
        if not self.least:
            bound = "no bound is known"
        if self.estimated is None:
            return f"{bound}; {self.now:,.0f} now"
        return f"estimated {counted(self.estimated, 'cycle')}, {bound}; {self.now:,.0f} now"


@dataclass(frozen=True)
class PromiseVerdict:
    """The verdict on a promise.

    Attributes
    ----------
    held : bool
        Whether the run took no longer than was to be expected, and no less than the bound.
    text : str
        "held", "missed by 4 %", or that the bound was wrong.
    """

    held: bool
    text: str


def held(promise: Promise, record: RunRecord) -> PromiseVerdict:
    """Compare a promise with a run.

    An estimate is held to by a run that takes no more cycles than the upper end of its interval;
    how far it is missed is counted from the estimate itself.
    """
    cycles = record.cycles
    if cycles < promise.least - _SLACK:
        return PromiseVerdict(
            False, f"below its bound of {counted(promise.least, 'cycle')}: the bound is wrong"
        )
    if promise.estimated is None:
        return PromiseVerdict(True, "held")
    if cycles <= max(promise.high or 0.0, promise.estimated) + _SLACK:
        return PromiseVerdict(True, "held")
    missed = cycles / promise.estimated - 1.0 if promise.estimated else 1.0
    return PromiseVerdict(False, f"missed by {missed:.0%}".replace("%", " %"))


def bound(estimate: Estimate) -> float:
    """Cycles that no run of a program takes fewer than; of regions not known exactly, none."""
    return sum(region.least or 0.0 for region in estimate.regions)
