"""The request for a search: strategy, objective, end, budgets and rules, limits of a region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import prod
from typing import Any

from fuseloom.dataflow.fusion.directives import Parallel
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.space import MAX_MACHINES, ParameterValue
from fuseloom.dataflow.space.requirements import KINDS
from fuseloom.errors import FuseloomError
from fuseloom.exploration.objective import OBJECTIVES, Objective
from fuseloom.wording import counted
from fuseloom_workbench.search.parameters import machine_space, parameter_values
from fuseloom_workbench.state.design import Design

SECONDS = 10.0
"""That a search takes, unless it is told otherwise; then the best so far is taken."""
LONGEST = 600.0
MOST_RUNS = 10_000
MOST_LANES = 64
MOST_COPIES = 4
MOST_RULES = 50
LONGEST_RULE = 300
"""Characters of a rule."""
MOST_PARAMETERS = 50
"""Parameters of a machine that have values."""
MOST_BUILT = 50
"""Machines that are built to check them when a search is asked for; others are when it begins."""
LARGEST = 1e15
"""LUTs or joules of a budget."""
STRATEGIES = {
    "auto": "Looks where most may be gained, simulates, and proves a bound; "
    "ends when the gap is closed or time is up.",
    "exhaustive": "The same with a gap of 0 %: ends when every other schedule is proved to be no "
    "better, or time is up.",
    "random": "Draws cuts, orders and look-ups at random and simulates them: "
    "what any search must beat.",
}
OBJECTIVE_TEXTS = {
    "cycles": "Clock cycles of a run.",
    "time": "Cycles at the clock of the machine.",
    "energy": "Joules of all actions of a run.",
    "edp": "Energy times time: the energy-delay product.",
    "area": "Lookup tables of the largest region's hardware.",
}
"""The objectives in words, by name."""


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search.

    Attributes
    ----------
    strategy : {"auto", "exhaustive", "random"}
    seconds : float
        After which the best so far is taken.
    gap : float
        The search ends when no schedule can be better by more than this share; of ``auto`` only.
    runs : int
        Parts that are simulated at most; of ``random`` only.
    lanes : int
        Lanes of a region at most; 0 is as many as the design asks for.
    copies : int
        Inputs that a region may read in a second mode order.
    seed : int
        Of ``random``.
    nonzero : bool
        Whether results may leave out their zeros, where that saves cycles; not of ``random``, nor
        of a search of designs.
    objective : str
        The number that is to be small, one of :data:`fuseloom.exploration.objective.OBJECTIVES`.
    area, energy : float or None
        Lookup tables that the hardware of a region may take, and joules that a run may; None is no
        limit.
    rules : tuple of str
        What every region keeps (:mod:`fuseloom.dataflow.space.requirements`).
    parameters : mapping of str to tuple
        Values of parameters of the machine, of all of which the search looks for the best machine
        (:mod:`fuseloom.dataflow.machine.space`); empty searches the machine shown alone.
    every : bool
        Whether to find the best schedule of each of these machines.

    Objectives, budgets, rules and parameters do not go with ``random``.
    """

    strategy: str = "auto"
    seconds: float = SECONDS
    gap: float = 0.05
    runs: int = 100
    lanes: int = 0
    copies: int = 0
    seed: int = 0
    nonzero: bool = False
    objective: str = "cycles"
    area: float | None = None
    energy: float | None = None
    rules: tuple[str, ...] = ()
    parameters: Mapping[str, tuple[ParameterValue, ...]] = field(default_factory=dict)
    every: bool = False

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
        parameters = _parameters(values.get("parameters"))
        if isinstance(lanes := values.get("lanes"), str) and "," in lanes.strip(" ,"):
            parameters["lanes"] = _several_lanes(parameter_values("lanes", values.pop("lanes")))
        made = cls(
            strategy,
            _number(values, "seconds", own.seconds, 0.1, min(LONGEST, limit), "s"),
            _number(values, "gap", own.gap * 100, 0.0, 99.0, "%") / 100,
            int(_number(values, "runs", own.runs, 1, MOST_RUNS, "runs", whole=True)),
            int(_number(values, "lanes", own.lanes, 0, MOST_LANES, "lanes", whole=True)),
            int(_number(values, "copies", own.copies, 0, MOST_COPIES, "copies", whole=True)),
            int(_number(values, "seed", own.seed, 0, 2**31 - 1, "", whole=True)),
            _flag(values, "nonzero"),
            _objective(values.get("objective", own.objective)),
            _limit(values, "area", "LUTs"),
            _limit(values, "energy", "J"),
            _rules(values.get("rules", ())),
            parameters,
            _flag(values, "every"),
        )
        made.check()
        return made

    @property
    def goal(self) -> Objective:
        """The objective, with its unit."""
        return OBJECTIVES[self.objective]

    @property
    def limited(self) -> bool:
        """True if there is a budget of area or energy."""
        return self.area is not None or self.energy is not None

    @property
    def designs(self) -> bool:
        """True unless the search is for the fewest cycles on the machine shown, without limits."""
        return self.objective != "cycles" or self.limited or bool(self.parameters)

    @property
    def machines(self) -> int:
        """The number of machines that are searched."""
        return prod(len(values) for values in self.parameters.values())

    def on(self, machine: Machine, lanes: int) -> SearchSettings:
        """The same settings, without parameters if these give this very machine and no other.

        Parameters
        ----------
        lanes : int
            Of a region, where the settings have none.

        Raises
        ------
        FuseloomError
            If a machine cannot be, of so few that they are built at once; the parameter is the
            word before the colon.
        """
        if not self.parameters or self.machines > MOST_BUILT:
            return self
        space = machine_space(machine, self.lanes or lanes, self.parameters)
        first = next(space.points())
        if space.size > 1 or first.machine != machine or first.on_chip is not None:
            return self
        alone = replace(self, parameters={}, every=False)
        return replace(alone, lanes=first.lanes) if "lanes" in self.parameters else alone

    def check(self) -> None:
        """Check that the settings go together.

        Raises
        ------
        FuseloomError
            If one does not; its name is the word before the colon.
        """
        given = {
            "objective": self.objective != "cycles", "area": self.area is not None,
            "energy": self.energy is not None, "rules": bool(self.rules),
            "lanes": "lanes" in self.parameters, "parameters": bool(self.parameters),
        }  # fmt: skip
        odd = next((name for name, there in given.items() if there), "")
        if self.strategy == "random" and odd:
            raise FuseloomError(
                f"{odd}: does not go with schedules drawn at random", hint="auto or exhaustive"
            )
        if self.machines > MAX_MACHINES:
            raise FuseloomError(
                f"parameters: {counted(self.machines, 'machine')}", hint=f"at most {MAX_MACHINES:,}"
            )
        if self.nonzero and self.designs:
            raise FuseloomError(
                "nonzero: goes with a search for the fewest cycles",
                hint="on one machine, without a budget of area or energy",
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data that :meth:`of` reads back; the gap in percent."""
        parameters = {name: list(values) for name, values in self.parameters.items()}
        plain = {**asdict(self), "gap": self.gap * 100, "rules": list(self.rules)}
        return {**plain, "parameters": parameters}


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


def _objective(given: Any) -> str:
    if not isinstance(given, str) or given not in OBJECTIVES:
        raise FuseloomError(f"objective: {str(given)[:40]!r} is none", hint=", ".join(OBJECTIVES))
    return given


def _limit(values: Mapping[str, Any], name: str, unit: str) -> float | None:
    """A budget; None without one."""
    if values.get(name) in (None, ""):
        return None
    return _number(values, name, 0.0, 0.0, LARGEST, unit)


def _rules(given: Any) -> tuple[str, ...]:
    """Rules, one a line of a text, or a list of them; the first word of each is a known one."""
    lines = given.splitlines() if isinstance(given, str) else given
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise FuseloomError(f"rules: {str(given)[:40]!r} is no text")
    rules = tuple(line for each in lines if (line := " ".join(each.split())))
    if len(rules) > MOST_RULES or any(len(rule) > LONGEST_RULE for rule in rules):
        raise FuseloomError(
            f"rules: {counted(len(rules), 'rule')}, or one that is too long",
            hint=f"at most {MOST_RULES} of {LONGEST_RULE} characters",
        )
    for rule in rules:
        kind = rule.replace(",", " ").split()[:1]
        if not kind or kind[0] not in KINDS:
            raise FuseloomError(
                f"rules: {rule[:40]!r} is none", hint=f"{', '.join(KINDS)}; then names"
            )
    return rules


def _parameters(given: Any) -> dict[str, tuple[ParameterValue, ...]]:
    """Values of parameters by name; those without any are left out."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or len(given) > MOST_PARAMETERS:
        raise FuseloomError(
            "parameters: not a table of values", hint=f"of at most {MOST_PARAMETERS} parameters"
        )
    found = {str(name): parameter_values(str(name)[:80], own) for name, own in given.items()}
    if "lanes" in found:
        found["lanes"] = _several_lanes(found["lanes"])
    return {name: own for name, own in found.items() if own}


def _several_lanes(values: Iterable[ParameterValue]) -> tuple[ParameterValue, ...]:
    most = (MOST_LANES, "lanes")
    return tuple(int(_number({"lanes": n}, "lanes", 1, 1, *most, whole=True)) for n in values)


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
