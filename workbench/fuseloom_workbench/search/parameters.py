"""The parameters of machines among whose values a search may choose, and the machines they give."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.machine.space import MachineSpace, ParameterValue, parse_machine_space
from fuseloom.dataflow.machine.text import UNBOUNDED, print_machine
from fuseloom.errors import FuseloomError, SimulationError
from fuseloom_workbench.input.forms import UNITS

LONGEST_LIST = 5_000
"""Characters of the values of a parameter."""
MEMORY = "memory"
FIXED = ("name", "kind", "quirks")
"""Keys of a machine that are no parameters: names, and what is a list in its file."""
FIRST = (
    "channel_capacity", f"{MEMORY}.channels", f"{MEMORY}.channel_num", MEMORY, "on_chip",
)  # fmt: skip
"""Parameters that are offered first, of those that a machine has."""
OWN_UNITS = {
    "lanes": ("lanes", "Copies of a region that the machine has room for"),
    "on_chip": ("bytes", "That a region may hold on the chip; unbounded is allowed"),
    "clock_hz": ("Hz", UNITS["clock_hz"][1]),
    "energy.buffer_bytes": ("bytes", "Of the memory in which accumulators hold their entries"),
    "energy.unbounded_depth": ("tokens", "For which a channel without a bound is built"),
}
TABLE_UNITS = {
    "energy": ("pJ", "Energy of this action"),
    "functions": ("cycles", "From operands to the result of this function"),
    "blocks": ("cycles", "A formula of the edge b of a block, and of its s numbers"),
    f"{MEMORY}.timing": ("clocks", "Of the memory"),
}
"""Unit and meaning of the parameters of a table."""
WORDS = {"on": True, "true": True, "off": False, "false": False}


@dataclass(frozen=True)
class MachineParameter:
    """A parameter of a machine.

    Attributes
    ----------
    name : str
        As in the file of a space of machines.
    label, unit, meaning : str
        For people.
    own : str
        Its value on the machine that is shown.
    """

    name: str
    label: str
    unit: str
    meaning: str
    own: str

    @classmethod
    def of(cls, name: str, own: str = "") -> MachineParameter:
        """The parameter of that name."""
        table, _, key = name.rpartition(".")
        unit, meaning = OWN_UNITS.get(name) or TABLE_UNITS.get(table) or UNITS.get(key, ("", ""))
        if name == MEMORY:
            known = [preset for preset, make in PRESETS.items() if make().memory is not None]
            meaning = f"none, or that of another machine: {', '.join(known)}"
        label = name.replace(".", " ").replace("_", " ").removesuffix(" hz")
        return cls(name, label, unit, meaning, own)


def parameters(machine: Machine) -> list[MachineParameter]:
    """Return every parameter that machines like this one have; those offered first come first."""
    own = {name: _text(value) for name, value in _scalars(machine.to_dict())}
    bounds = MachineSpace.of(machine, 2, 0.0).parameters  # of a region: no machine has these
    found = {**dict.fromkeys(bounds, UNBOUNDED), **own}
    found["channel_capacity"] = own["channel_capacity"] or UNBOUNDED
    found[MEMORY] = "none" if machine.memory is None else machine.memory.name
    first = [name for name in FIRST if name in found]
    rest = [name for name in found if name not in first]
    return [MachineParameter.of(name, found[name]) for name in (*first, *rest)]


def _scalars(tables: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its key; of tables in the table, with a dot between."""
    for key, value in tables.items():
        if key in FIXED:
            continue
        if isinstance(value, Mapping):
            yield from _scalars(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def parameter_values(name: str, given: Any) -> tuple[ParameterValue, ...]:
    """Return the values of a parameter: a list of them, or a text with commas between.

    Raises
    ------
    FuseloomError
        If there are none; the name is the word before the colon.

    Examples
    --------
    >>> parameter_values("channel_capacity", "16, 64,unbounded")
    (16, 64, 'unbounded')
    """
    texts = given.split(",") if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or len(str(given)) > LONGEST_LIST:
        raise FuseloomError(
            f"{name}: {str(given)[:40]!r} is no list of values",
            hint=f"with commas between, at most {LONGEST_LIST:,} characters",
        )
    values = [_value(text) if isinstance(text, str) else text for text in texts]
    for value in values:
        if not isinstance(value, int | float | str):
            raise FuseloomError(f"{name}: {str(value)[:40]!r} is no value", hint="a number or text")
    return tuple(value for value in values if value != "")


def _value(text: str) -> ParameterValue:
    """A value as somebody wrote it: a number if it is one."""
    word = text.strip()
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        if isfinite(number):
            return number
    return word


def machine_space(
    machine: Machine, lanes: int, values: Mapping[str, tuple[ParameterValue, ...]]
) -> MachineSpace:
    """Return the machines that have one of the values of each parameter, and else are as this one.

    Parameters
    ----------
    lanes : int
        Of a region, where the parameters have none.

    Raises
    ------
    FuseloomError
        If there are too many, or one cannot be; the name of the parameter is the word before the
        colon, or ``parameters`` if they do not go together.
    """
    words = {name for name, own in _scalars(machine.to_dict()) if isinstance(own, str)}
    values = {  # a formula may be a number
        name: tuple(map(str, own)) if name in words else own for name, own in values.items()
    }
    space = {**MachineSpace.of(machine, lanes).parameters, **values}
    try:
        return _parsed(machine, space)
    except SimulationError as reason:
        for name, own in values.items():
            try:
                _parsed(machine, {name: own})
            except SimulationError as alone:
                raise FuseloomError(f"{name}: {alone.message}", hint=alone.hint) from None
        raise FuseloomError(f"parameters: {reason.message}", hint=reason.hint) from None


def _parsed(machine: Machine, values: Mapping[str, tuple[ParameterValue, ...]]) -> MachineSpace:
    if not values:
        return MachineSpace.of(machine)
    lines = [f"{_literal(key)} = {_literal(own)}" for key, own in values.items()]
    return parse_machine_space("\n".join((print_machine(machine), "[parameters]", *lines)))


def _literal(value: Any) -> str:
    """A key, a value or a list of them, in TOML."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _text(value: Any) -> str:
    """A value for people; empty where the machine has none of its own."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}"
    return "" if value is None else str(value)


def setting_texts(settings: Mapping[str, ParameterValue]) -> list[dict[str, str]]:
    """Return the parameters of a machine for people: name, label, value and unit of each."""
    made = []
    for name, value in settings.items():
        parameter = MachineParameter.of(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # a parameter that is named after what it counts needs no unit besides
        unit = parameter.unit if number and not parameter.label.endswith(parameter.unit) else ""
        label = {"name": name, "label": parameter.label}
        made.append({**label, "value": _text(value), "unit": unit})
    return made
