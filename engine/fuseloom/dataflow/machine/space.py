"""Spaces of machines: a file that lists the values of some parameters.

It says what a file of a machine says (:mod:`fuseloom.dataflow.machine.text`), and in a table
``parameters`` the values among which to choose::

    base = "hbm2"

    [parameters]
    lanes = [1, 2, 4]
    on_chip = [65536, "unbounded"]
    channel_capacity = [16, "unbounded"]
    "memory.channels" = [2, 8]

Keys are those of a machine, with a dot before what a table of it has; besides, ``lanes`` are the
copies of a region that the machine has room for, and ``on_chip`` the bytes that a region may hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, TypeAlias

from fuseloom.dataflow.machine.machine import Machine
from fuseloom.dataflow.machine.text import UNBOUNDED, machine_of, print_machine, read_toml
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

ParameterValue: TypeAlias = int | float | str | bool
MAX_MACHINES = 1_000
"""Machines of a space: each is searched by itself."""
MAX_LANES = 256
EXAMPLE = "lines such as lanes = [1, 2, 4] below [parameters]"


@dataclass(frozen=True)
class MachinePoint:
    """A machine of a space.

    Attributes
    ----------
    settings : mapping of str to int, float, str or bool
        The value of each parameter.
    machine : Machine
    lanes : int
        Lanes that a region may have.
    on_chip : float or None
        Bytes that a region may hold on chip; None is unbounded.
    """

    settings: Mapping[str, ParameterValue]
    machine: Machine = field(repr=False)
    lanes: int = 1
    on_chip: float | None = None

    def __str__(self) -> str:
        return settings_text(self.settings)


@dataclass(frozen=True)
class MachineSpace:
    """A machine, and the values that some of its parameters may have.

    Attributes
    ----------
    given : mapping
        The tables of the machine, as its file has them.
    parameters : mapping of str to tuple
        The values of each parameter.
    """

    given: Mapping[str, Any]
    parameters: Mapping[str, tuple[ParameterValue, ...]]

    @classmethod
    def of(cls, machine: Machine, lanes: int = 1, on_chip: float | None = None) -> MachineSpace:
        """The space of one machine."""
        fixed: dict[str, tuple[ParameterValue, ...]] = {}
        if lanes > 1:
            fixed["lanes"] = (lanes,)
        if on_chip is not None:
            fixed["on_chip"] = (on_chip,)
        return cls(read_toml(print_machine(machine)), fixed)

    @property
    def size(self) -> int:
        """The number of machines."""
        return prod(len(values) for values in self.parameters.values())

    def points(self) -> Iterator[MachinePoint]:
        """Every machine; the last parameter changes fastest.

        Raises
        ------
        SimulationError
            If there is no machine with such values; the message has them.
        """
        for values in product(*self.parameters.values()):
            yield self.point(dict(zip(self.parameters, values, strict=True)))

    def point(self, settings: Mapping[str, ParameterValue]) -> MachinePoint:
        """The machine with these values."""
        own = dict(settings)
        lanes, on_chip = own.pop("lanes", 1), own.pop("on_chip", UNBOUNDED)
        tables = json.loads(json.dumps(self.given))
        for key, value in own.items():
            *path, last = key.split(".")
            at = tables
            for name in path:
                at = at.setdefault(name, {})
                if not isinstance(at, dict):
                    raise SimulationError(
                        f"parameter {key!r}: {name} is {at!r} in the file", hint="a table there"
                    )
            at[last] = value
        try:
            machine = machine_of(tables)
        except SimulationError as problem:
            told = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
            raise SimulationError(f"with {told}: {problem.message}", hint=problem.hint) from None
        assert isinstance(lanes, int)
        return MachinePoint(
            settings, machine, lanes, None if on_chip == UNBOUNDED else float(on_chip)
        )


def settings_text(settings: Mapping[str, ParameterValue]) -> str:
    """The values of a machine's parameters, for people."""
    return ", ".join(f"{key} {value}" for key, value in settings.items()) or "as it is"


def parse_machine_space(text: str) -> MachineSpace:
    """The space that a TOML text describes.

    Raises
    ------
    SimulationError
        If it is not TOML, lists no values, too many, or values that no machine has.
    """
    given = read_toml(text)
    listed = given.pop("parameters", None)
    if not isinstance(listed, dict) or not listed:
        raise SimulationError("a space of machines without parameters", hint=EXAMPLE)
    parameters = {key: _values(key, values) for key, values in _flat(listed)}
    space = MachineSpace(given, parameters)
    if space.size > MAX_MACHINES:
        raise SimulationError(
            f"a space of {counted(space.size, 'machine')}", hint=f"at most {MAX_MACHINES:,}"
        )
    for _ in space.points():  # each is built once, so that a wrong one is told of at once
        pass
    return space


def _flat(listed: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every list with its key; of tables in the table, with a dot between."""
    for key, values in listed.items():
        if isinstance(values, dict):
            yield from _flat(values, f"{before}{key}.")
        else:
            yield f"{before}{key}", values


def _values(key: str, values: object) -> tuple[ParameterValue, ...]:
    if not isinstance(values, list) or not values:
        raise SimulationError(f"parameter {key!r} is {values!r}", hint=EXAMPLE)
    if len({repr(value) for value in values}) < len(values):
        raise SimulationError(f"parameter {key!r} has a value twice", hint="each value once")
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key == "lanes" and not (type(value) is int and 1 <= value <= MAX_LANES):
            raise SimulationError(f"lanes of {value!r}", hint=f"from 1 to {MAX_LANES}")
        if key == "on_chip" and value != UNBOUNDED and not (number and 0 <= value < 1 << 60):
            raise SimulationError(f"on_chip of {value!r}", hint='bytes, or "unbounded"')
        if not isinstance(value, int | float | str | bool):
            raise SimulationError(
                f"parameter {key!r} has the value {value!r}", hint="numbers and texts"
            )
    return tuple(values)
