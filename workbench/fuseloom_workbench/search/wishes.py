"""The request for a search: its strategy, its end, and the limits of a region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fuseloom.dataflow.fusion.directives import Parallel
from fuseloom.errors import FuseloomError
from fuseloom_workbench.state.design import Design

SECONDS = 10.0
"""That a search takes, unless it is told otherwise; then the best so far is taken."""
LONGEST = 600.0
MOST_RUNS = 10_000
MOST_LANES = 64
MOST_COPIES = 4
STRATEGIES = {
    "auto": "Looks where most may be gained, simulates, and proves a bound; "
    "ends when the gap is closed or time is up.",
    "exhaustive": "The same with a gap of 0 %: ends when every other schedule is proved to take "
    "no fewer cycles, or time is up.",
    "random": "Draws cuts, orders and look-ups at random and simulates them: "
    "what any search must beat.",
}


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search.

    Attributes
    ----------
    strategy : {"auto", "exhaustive", "random"}
    seconds : float
        After which the best so far is taken.
    gap : float
        Share of the cycles by which a better schedule may be missed; of ``auto`` only.
    runs : int
        Parts that are simulated at most; of ``random`` only.
    lanes : int
        Lanes of a region at most; 0 is as many as the design asks for.
    copies : int
        Inputs that a region may read in a second mode order.
    seed : int
        Of ``random``.
    nonzero : bool
        Whether results may leave out their zeros, where that saves cycles; not of ``random``.
    """

    strategy: str = "auto"
    seconds: float = SECONDS
    gap: float = 0.05
    runs: int = 100
    lanes: int = 0
    copies: int = 0
    seed: int = 0
    nonzero: bool = False

    @classmethod
    def of(cls, given: Any, limit: float = LONGEST) -> SearchSettings:
        """Settings from plain data, of a page.

        Raises
        ------
        FuseloomError
            If one is none, or out of bounds; its name is the word before the colon.
        """
        values = dict(given) if isinstance(given, Mapping) else {}
        strategy = values.get("strategy", "auto")
        if not isinstance(strategy, str) or strategy not in STRATEGIES:
            raise FuseloomError(
                f"strategy: {str(strategy)[:40]!r} is none", hint=", ".join(STRATEGIES)
            )
        own = cls()
        return cls(
            strategy,
            _number(values, "seconds", own.seconds, 0.1, min(LONGEST, limit), "s"),
            _number(values, "gap", own.gap * 100, 0.0, 99.0, "%") / 100,
            int(_number(values, "runs", own.runs, 1, MOST_RUNS, "runs", whole=True)),
            int(_number(values, "lanes", own.lanes, 0, MOST_LANES, "lanes", whole=True)),
            int(_number(values, "copies", own.copies, 0, MOST_COPIES, "copies", whole=True)),
            int(_number(values, "seed", own.seed, 0, 2**31 - 1, "", whole=True)),
            _flag(values, "nonzero"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data that :meth:`of` reads back; the gap in percent."""
        return {**asdict(self), "gap": self.gap * 100}


@dataclass(frozen=True)
class SearchRequest:
    """The input of a search worker."""

    design: Design
    wishes: SearchSettings = SearchSettings()


def _number(
    values: Mapping[str, Any], name: str, own: float, low: float, high: float, unit: str,
    whole: bool = False,
) -> float:  # fmt: skip
    given = values.get(name, own)
    bounds = f"{low:g} to {high:,.10g} {unit}".strip()
    bounds = f"an integer, {bounds}" if whole else bounds
    try:
        number = float(str(given).replace(",", "").strip() if isinstance(given, str) else given)
    except (TypeError, ValueError, OverflowError):
        raise FuseloomError(f"{name}: {str(given)[:40]!r} is no number", hint=bounds) from None
    if not low <= number <= high or (whole and number != int(number)):
        raise FuseloomError(f"{name}: {str(given)[:40]} is out of bounds", hint=bounds)
    return number


def _flag(values: Mapping[str, Any], name: str) -> bool:
    given = values.get(name, False)
    if not isinstance(given, bool):
        raise FuseloomError(f"{name}: {str(given)[:40]!r} is neither true nor false")
    return given


def lanes_of(design: Design) -> int:
    """The lanes of a region, at most, that a design asks for."""
    lanes: dict[Any, int] = {}
    for setting in design.settings:
        if isinstance(setting, Parallel):
            lanes[setting.region] = lanes.get(setting.region, 1) * setting.factor
    return max(lanes.values(), default=1)
