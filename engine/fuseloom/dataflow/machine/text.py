"""Machines as text: TOML that prints, parses and validates.

A file says only what differs from a preset::

    base = "hbm2"
    name = "slow memory"
    channel_capacity = 64        # or "unbounded"
    quirks = ["spacc_strict"]

    [memory]
    policy = "closed"
    timing = { cl = 20 }
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.machine.machine import Machine
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

MAX_SIZE = 1 << 16
MAX_POINTS = 100
"""Points in a line: a key of many parts takes memory by the square of their number."""
UNBOUNDED = "unbounded"


def read_machine(name_or_text: str) -> Machine:
    """The preset of that name, or the machine that a text describes.

    Raises
    ------
    SimulationError
        If there is no such preset, or the text is not TOML or describes no machine.
    """
    if "=" not in name_or_text:
        return Machine.preset(name_or_text.strip())
    return parse_machine(name_or_text)


def parse_machine(text: str) -> Machine:
    """The machine that a TOML text describes: a preset (``base``) and what differs from it.

    Raises
    ------
    SimulationError
        If the text is too long, is not TOML, or has an unknown key or a wrong value.
    """
    return machine_of(read_toml(text))


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text, within limits.

    Raises
    ------
    SimulationError
        If the text is too long or is not TOML.
    """
    if len(text) > MAX_SIZE:
        raise SimulationError(
            f"a machine of {counted(len(text), 'character')}", hint=f"at most {MAX_SIZE:,}"
        )
    if max(line.count(".") for line in text.split("\n")) > MAX_POINTS:
        raise SimulationError("machine: a key of too many parts", hint="lines such as memory.a = 1")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise SimulationError(f"machine: {problem}", hint="lines such as alu_latency = 2") from None


def machine_of(given: Mapping[str, Any]) -> Machine:
    """The machine of the tables of a file: a preset (``base``) and what differs from it.

    Raises
    ------
    SimulationError
        If a key is unknown or a value is wrong.
    """
    given = dict(given)
    base = given.pop("base", "default")
    if not isinstance(base, str):
        raise SimulationError(f"machine: base is {base!r}", hint="the name of a preset, in quotes")
    data = Machine.preset(base).to_dict()
    if given.get("channel_capacity") == UNBOUNDED:
        given["channel_capacity"] = None
    quirks = given.pop("quirks", None)
    if isinstance(quirks, list):
        data["quirks"] = {name: name in quirks for name in data["quirks"]}
        unknown = [name for name in quirks if name not in data["quirks"]]
        if unknown:
            raise SimulationError(
                f"machine: no quirk is called {unknown[0]!r}",
                hint=f"known: {', '.join(data['quirks'])}",
            )
    elif quirks is not None:
        raise SimulationError(
            f"machine: quirks is {quirks!r}", hint='a list such as ["spacc_strict"]'
        )
    memory = given.get("memory")
    if memory == "none":
        given["memory"] = None
    elif isinstance(memory, str):  # the memory of another preset
        given["memory"] = Machine.preset(memory).to_dict()["memory"]
    elif isinstance(memory, Mapping) and memory.get("kind", _kind(data)) != _kind(data):
        data["memory"] = {}  # of another kind: nothing is kept
    return Machine.from_dict(_merged(data, given))


def _kind(data: Mapping[str, Any]) -> str:
    """Kind of the memory that data of a machine have, if any."""
    memory = data["memory"]
    return "" if memory is None else str(memory["kind"])


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for key, value in new.items():
        before = merged.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return merged


def print_machine(machine: Machine) -> str:
    """TOML that :func:`parse_machine` reads back to an equal machine."""
    data = machine.to_dict()
    capacity = data.pop("channel_capacity")
    data["quirks"] = [name for name, on in data["quirks"].items() if on]
    tables = {key: data.pop(key) for key in list(data) if isinstance(data[key], Mapping)}
    if not any(cycles is not None for cycles in tables["functions"].values()):
        del tables["functions"]
    if machine.energy == Energy():
        del tables["energy"]
    if data.get("memory", ...) is None:
        data["memory"] = "none"
    lines = [f"channel_capacity = {_literal(capacity or UNBOUNDED)}"]
    lines += [f"{key} = {_literal(value)}" for key, value in data.items()]
    for name, table in tables.items():
        lines += ["", f"[{name}]"]
        lines += [f"{key} = {_literal(value)}" for key, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


def _literal(value: Any) -> str:
    """A TOML value; JSON writes strings, numbers, truths and lists alike."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_literal(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)
