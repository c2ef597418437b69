"""Energy of a run or of an estimate: joules by kind of action, and the energy-delay product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal

from fuseloom.results.declarations import Amount, Record

PICO = 1e-12
EnergyUnit = Literal["operations", "words", "bits", "rows"]


class ActionKind(Enum):
    """The kinds of actions that take energy (``docs/spec/energy.md`` §2)."""

    ADD = "add"
    MULTIPLY = "multiply"
    COMPARE = "compare"
    DIVIDE = "divide"
    SPECIAL = "special"
    INTEGER = "integer"
    CHANNEL = "channel"
    BUFFER = "buffer"
    MEMORY = "memory"
    ACTIVATE = "activate"


@dataclass(frozen=True)
class EnergyTerm(Record):
    """A term of the sum that an energy is: actions of a kind that take as much each.

    Attributes
    ----------
    kind : str
        The kind of action, as in ``energy.actions``.
    count : float
        How many there are.
    unit : str
        What is counted.
    picojoules : float
        Energy of each, pJ.
    source : str
        Where that figure comes from: the machine's own parameter, or the default's publication.

    Examples
    --------
    >>> f'{EnergyTerm("add", 2_000.0, "operations", 0.9, "default").joules:.3g} J'
    '1.8e-09 J'
    """

    kind: str
    count: Amount
    unit: EnergyUnit
    picojoules: Amount
    source: str

    derived = ("joules",)

    @property
    def joules(self) -> Annotated[Amount, "Energy of all of them, J."]:
        """Energy of all of them, in joules."""
        return PICO * self.count * self.picojoules


@dataclass(frozen=True)
class EnergyUse(Record):
    """Energy of a region or a program, and the time that it takes.

    Attributes
    ----------
    actions : mapping of str to float
        Joules by kind of action; kinds that take none are left out.
    seconds : float
        Time that the machine takes, by its clock.

    Examples
    --------
    >>> used = EnergyUse({"add": 2e-9}, 1e-6) + EnergyUse({"add": 2e-9, "memory": 4e-9}, 3e-6)
    >>> used.joules, used.seconds, used.actions["add"]
    (8e-09, 4e-06, 4e-09)
    """

    actions: Mapping[str, Amount] = field(default_factory=dict)
    seconds: Amount = 0.0

    derived = ("joules", "edp")

    @property
    def joules(self) -> Annotated[Amount, "Energy of all actions, J."]:
        """Energy of all actions, in joules."""
        return sum(self.actions.values())

    @property
    def edp(self) -> Annotated[Amount, "Energy-delay product: joules times seconds, J s."]:
        """Energy-delay product: joules times seconds."""
        return self.joules * self.seconds

    def __add__(self, other: EnergyUse) -> EnergyUse:
        """Both, one after the other: energies by kind and times add."""
        kinds = dict.fromkeys((*self.actions, *other.actions))
        return EnergyUse(
            {kind: self.actions.get(kind, 0) + other.actions.get(kind, 0) for kind in kinds},
            self.seconds + other.seconds,
        )
