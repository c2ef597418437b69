"""The configuration of a figure's run: workload, data, schedule and machine, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from fuseloom.results.declarations import Record, read

Number = int | float
_COMMON = ("locate off", "repeat references", "fuse x..Y")
"""Directives that a title leaves out."""


class How(Enum):
    """The origin of its cycles: a run, cycle by cycle and checked, or an estimate.

    ``ESTIMATED``: the graph executed on coordinates, or samples of them.  ``HEURISTIC``: sizes and
    numbers of elements of the tensors, spread evenly.
    """

    SIMULATED = "simulated"
    ESTIMATED = "estimated"
    HEURISTIC = "heuristic"


class Orders(Enum):
    """Which order a region has whose order the schedule leaves open.

    ``BEST``: the one with the fewest estimated cycles, with the look-ups and dense levels that
    save cycles.  ``FIRST``: the first that can be built, and nothing else.
    """

    BEST = "best"
    FIRST = "first"


@dataclass(frozen=True)
class Configuration(Record):
    """One configuration of an experiment.

    Attributes
    ----------
    workload : str
        A name of :data:`fuseloom.experiments.workloads.WORKLOADS`.
    data : str
        Name of its data set.
    options : tuple of (str, number)
        Sizes and densities, by name; others are the workload's own.
    preset : str
        Name of a schedule of the workload; empty for none.
    settings : str
        Further directives of the schedule.
    machine : str
        Name of a preset of the machine.
    """

    workload: str
    data: str = ""
    options: tuple[tuple[str, Number], ...] = ()
    preset: str = ""
    settings: str = ""
    how: How = How.SIMULATED
    orders: Orders = Orders.BEST
    machine: str = "default"
    seed: int = 0

    def estimated(self) -> Configuration:
        """The same, estimated instead of simulated."""
        return replace(self, how=How.ESTIMATED)

    def guessed(self) -> Configuration:
        """The same, estimated from sizes and averages alone."""
        return replace(self, how=How.HEURISTIC)

    def scheduled(self, preset: str, settings: str | None = None) -> Configuration:
        """The same under another schedule."""
        return replace(
            self, preset=preset, settings=self.settings if settings is None else settings
        )

    @property
    def title(self) -> str:
        """For display, e.g. ``gcn cora, partial``."""
        where = f" {self.data}" if self.data else ""
        parts = [f"{self.workload}{where}"]
        parts += [self.preset] if self.preset else []
        parts += [f"{name}={value:g}" for name, value in self.options]
        own = [x.strip() for x in self.settings.split(";")]
        parts += [x for x in own if x and x not in _COMMON]
        if self.how is not How.SIMULATED:
            parts.append("estimated" if self.how is How.ESTIMATED else "from averages")
        return ", ".join(parts)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Configuration:
        """Read what ``to_dict`` gave.

        Raises
        ------
        RecordError
            If it is none.
        """
        return read(cls, data, "configuration")
