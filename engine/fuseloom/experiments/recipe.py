"""The definition of a figure: configurations to be run, and the use of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from fuseloom.errors import FuseloomError
from fuseloom.experiments.claims import Got, published
from fuseloom.experiments.configuration import Configuration


class ExperimentSize(Enum):
    """The size of an experiment: as published, some minutes, or some seconds in all."""

    FULL = "full"
    SMALL = "small"
    SMOKE = "smoke"


class AccountingMode(Enum):
    """Whose accounting: the published one, or this project's defaults."""

    PAPER = "paper"
    OURS = "ours"


@dataclass(frozen=True)
class RegionResult:
    """One region's part of a result; ``busiest`` are the cycles of its busiest node."""

    name: str
    cycles: float
    flops: float
    bytes: float
    busiest: float
    words: float


@dataclass(frozen=True)
class Result:
    """The result of a configuration.

    Attributes
    ----------
    estimated : bool
        Whether nothing was run; ``busiest`` and ``words`` are then cycles, and bytes by 4.
    check : str
        What a comparison of the results said; empty where there was none.
    ok, compared : bool
        Whether nothing is known to be wrong, and whether anything was compared.
    seconds, cpu : float
        Wall and CPU time, data and check included.
    peak : float
        Most bytes in memory.
    """

    regions: tuple[RegionResult, ...]
    label: str = ""
    standin: bool = False
    estimated: bool = False
    check: str = ""
    ok: bool = True
    compared: bool = True
    seconds: float = 0.0
    cpu: float = 0.0
    peak: float = 0.0
    schedule: str = ""
    key: str = ""

    def _sum(self, name: str) -> float:
        return float(sum(getattr(region, name) for region in self.regions))

    @property
    def cycles(self) -> float:
        return self._sum("cycles")

    @property
    def flops(self) -> float:
        return self._sum("flops")

    @property
    def bytes(self) -> float:
        return self._sum("bytes")

    @property
    def busiest(self) -> float:
        return self._sum("busiest")

    @property
    def words(self) -> float:
        return self._sum("words")

    def region(self, name: str) -> RegionResult:
        """The region of that name.

        Raises
        ------
        MissingError
            If there is none.
        """
        found = next((region for region in self.regions if region.name == name), None)
        if found is None:
            raise MissingError(f"no region is called {name}")
        return found


class MissingError(FuseloomError):
    """A number needs a result that did not come out."""


class RecipeResults:
    """Results by the labels of a recipe's configurations.

    Attributes
    ----------
    used : list of str
        Labels that were asked for since it was last emptied.
    """

    def __init__(
        self,
        found: Mapping[str, Result],
        reasons: Mapping[str, str] | None = None,
        measured: Mapping[str, Any] | None = None,
    ) -> None:
        self._found = found
        self._reasons = reasons or {}
        self._measured = measured or {}
        self.used: list[str] = []

    def measured(self, label: str) -> Any:
        """Return the value of a measurement.

        Raises
        ------
        MissingError
            If it gave nothing.
        """
        if label not in self._measured:
            raise MissingError(self._reasons.get(label, f"{label} was not measured"))
        return self._measured[label]

    def was_measured(self, label: str) -> bool:
        """Return whether there is the value of a measurement."""
        return label in self._measured

    def __getitem__(self, label: str) -> Result:
        self.used.append(label)
        if label not in self._found:
            raise MissingError(self._reasons.get(label, f"{label} was not run"))
        return self._found[label]

    def __contains__(self, label: str) -> bool:
        return label in self._found

    def get(self, label: str) -> Result | None:
        """The same, or None."""
        return self[label] if label in self._found else None

    def number(self, label: str, what: str) -> float:
        """One number of a result, such as its ``cycles``."""
        return float(getattr(self[label], what))

    def speed_up(self, base: str, label: str) -> float:
        """Cycles of one by those of another."""
        return self[base].cycles / self[label].cycles

    def items(self) -> Any:
        """All of them with their labels."""
        return self._found.items()


Value = Callable[[RecipeResults], Got]
"""A function that derives a claim's number from results."""


@dataclass(frozen=True)
class Series:
    """Points of one colour: ``whose`` is ``ours`` or ``paper``."""

    name: str
    x: tuple[Any, ...]
    y: tuple[float | None, ...]
    whose: str = "ours"
    labels: tuple[str, ...] = ()
    """The configuration of each point, where there is one."""


@dataclass(frozen=True)
class RegionAddress:
    """A region, and the words of an address at which the explorer shows it.

    Attributes
    ----------
    words : mapping
        Model, data, sizes, program and schedule.
    """

    name: str
    words: Mapping[str, str]


@dataclass(frozen=True)
class Panel:
    """One plot: bars or lines over ``x``, or points.

    Attributes
    ----------
    kind : str
        ``bars``, ``lines``, ``points`` or ``text``; ``table`` and ``graph`` are those of a region.
    text : str
        Of a panel that is no plot, in lines.
    log : str
        Axes that are logarithmic: ``""``, ``x``, ``y`` or ``xy``.
    region : RegionAddress or None
        The region whose table or graph it is.
    """

    title: str
    kind: str
    series: tuple[Series, ...] = ()
    x: str = ""
    y: str = ""
    log: str = ""
    text: str = ""
    region: RegionAddress | None = None

    @property
    def plotted(self) -> bool:
        """True for bars, lines and points; the other kinds are text."""
        return self.kind in ("bars", "lines", "points")


@dataclass(frozen=True)
class Measure:
    """A measurement that is no run: a target (``module:function``), and what it is told."""

    target: str
    request: Mapping[str, Any]


@dataclass(frozen=True)
class Recipe:
    """A table or a figure.

    Attributes
    ----------
    id : str
        As ``fuseloom figures`` takes it.
    text : str
        Three sentences: what it shows, and where and why ours differs from the published one.
    configurations : callable
        ``configurations(size, mode)`` by label.
    values : callable
        ``values(size, mode)``: how each claim's number follows, by the claim's id.
    panels : callable
        ``panels(results, size, mode)``: what is drawn.
    measures : callable
        ``measures(size, mode)``: measurements that are no runs, by label.
    measures_on_request : callable
        ``measures_on_request(size, mode)``: those that are only made on request, by other labels.
    heavy : callable
        ``heavy(size, mode)``: labels that are simulated on request only, and estimated otherwise.
    """

    id: str
    title: str
    text: str
    configurations: Callable[[ExperimentSize, AccountingMode], Mapping[str, Configuration]]
    values: Callable[[ExperimentSize, AccountingMode], Mapping[str, Value]]
    panels: Callable[[RecipeResults, ExperimentSize, AccountingMode], tuple[Panel, ...]]
    measures: Callable[[ExperimentSize, AccountingMode], Mapping[str, Measure]] = field(
        default=lambda size, mode: {}
    )
    measures_on_request: Callable[[ExperimentSize, AccountingMode], Mapping[str, Measure]] = field(
        default=lambda size, mode: {}
    )
    heavy: Callable[[ExperimentSize, AccountingMode], frozenset[str]] = field(
        default=lambda size, mode: frozenset()
    )


def nothing(size: ExperimentSize, mode: AccountingMode) -> dict[str, Any]:
    """No configurations, or no claims."""
    return {}


def attempt(value: Callable[..., float], *arguments: Any) -> float | None:
    """A number for a plot; None where what it needs did not come out."""
    try:
        return value(*arguments)
    except MissingError:
        return None


def expected_of(claim: str, size: ExperimentSize) -> float | None:
    """The published number of a claim, for a plot; None where there is none at this size."""
    found = published().get(claim)
    return None if found is None or size.value not in found.sizes else found.expected
