"""The results of a search over machines and schedules: the best design, and what else is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from fuseloom.dataflow.machine.space import ParameterValue
from fuseloom.display.shows import Shows
from fuseloom.results.declarations import Amount, Count, Positive, Record, Share, declared
from fuseloom.results.document import plain
from fuseloom.wording import described

Settings = Annotated[Mapping[str, ParameterValue], "The value of each parameter of the machine."]


@dataclass(frozen=True)
class MachineDesign(Record):
    """A machine with a schedule that was run on it.

    Attributes
    ----------
    schedule : str
        Its text.
    cycles : float
        Clock cycles of its run.
    seconds : float
        These at the machine's clock.
    energy : float
        Joules.
    area : float
        Lookup tables of the largest region's hardware; 0 where it was not asked for.
    bytes : float
        Bytes to and from memory.
    """

    settings: Settings
    schedule: str
    cycles: Amount
    seconds: Amount
    energy: Amount
    area: Amount
    bytes: Amount


@dataclass(frozen=True)
class SearchedMachine(Record):
    """The bound on the schedules of one machine, and the best that was run.

    Attributes
    ----------
    value : float or None
        The objective of the best of its schedules that was run.
    bound : float
        The objective that none of its schedules is below.
    verdict : str
        What became of it: the best, none of its schedules is better, or beyond the budget.
    """

    settings: Settings
    value: Amount | None
    bound: Amount
    verdict: str


@dataclass(frozen=True)
class ParameterEffect(Record):
    """The best design with a parameter of the machine fixed.

    Attributes
    ----------
    parameter : str
    setting : int, float, str or bool
        Its value.
    value : float or None
        The objective of the best design with it that was run.
    bound : float
        The objective that no design with it is below.
    """

    parameter: str
    setting: ParameterValue
    value: Amount | None
    bound: Amount


class CodesignData(TypedDict):
    """A :class:`Codesign` as plain data."""

    objective: Annotated[str, "The number that was to be small."]
    unit: Annotated[str, "Of the objective."]
    value: Annotated[Amount, "The objective of the design."]
    bound: Annotated[Amount, "The objective that no design of the space is below."]
    gap: Annotated[Share, "By how much, at most, the best is below what was found."]
    complete: Annotated[bool, "Whether nothing better can be left."]
    design: Annotated[MachineDesign, "The best machine with its schedule."]
    machines: Annotated[Sequence[SearchedMachine], "Every machine of the space."]
    effects: Annotated[
        Sequence[ParameterEffect], "Of each value of each parameter, the best design with it."
    ]
    front: Annotated[
        Sequence[MachineDesign] | None,
        "Designs that no other one beats in time and energy (and in area, where that is found), "
        "the fastest first; null if they were not asked for.",
    ]
    front_complete: Annotated[bool, "Whether these are all."]
    schedules: Annotated[Count, "Candidates of parts that were looked at."]
    runs: Annotated[Count, "Parts that were simulated."]
    refused: Annotated[Mapping[str, Positive], "Candidates that there are not, by rule."]


@dataclass(frozen=True)
class Codesign(Shows, html="fuseloom.exploration.display:codesign_html"):
    """The best machine with its schedule.

    Attributes
    ----------
    objective, unit : str
        The number that was to be small, and its unit.
    value, bound : float
        The objective of the design, and the one that no design of the space is below.
    complete : bool
        Whether nothing better can be left.
    design : MachineDesign
    machines : tuple of SearchedMachine
        Every machine of the space.
    effects : tuple of ParameterEffect
        Of each value of each parameter, the best design with it.
    front : tuple of MachineDesign or None
        If it was asked for: designs that no other beats in time and energy, and in area where that
        was found.
    front_complete : bool
        Whether these are all.
    schedules, runs : int
        Candidates of parts that were looked at, and parts that were simulated.
    refused : mapping of str to int
        Candidates that there are not, by rule.
    """

    objective: str
    unit: str
    value: float
    bound: float
    complete: bool
    design: MachineDesign
    machines: tuple[SearchedMachine, ...]
    effects: tuple[ParameterEffect, ...]
    front: tuple[MachineDesign, ...] | None
    front_complete: bool
    schedules: int
    runs: int
    refused: Mapping[str, int] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """By how much, at most, the best is below what was found: a share of the latter."""
        return max(0.0, 1.0 - self.bound / self.value) if self.value > 0 else 0.0

    @property
    def verdict(self) -> str:
        """The lower bound on the objective of every design of the space, in a sentence."""
        if self.gap == 0:
            return "no machine of this space has a better schedule"
        return (
            f"no machine of this space has a schedule below {self.bound:.6g} {self.unit}: at most "
            f"{self.gap:.1%} better"
        )

    def __repr__(self) -> str:
        return described(self, f"{self.objective} {self.value:.6g} {self.unit}, {self.verdict}")

    def to_dict(self) -> CodesignData:
        """Plain data."""
        made: CodesignData = plain({n: getattr(self, n) for n in declared(CodesignData)})
        return made
