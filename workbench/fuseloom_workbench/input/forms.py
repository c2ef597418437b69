"""Formats of tensors and parameters of a machine as forms: a field changed is an edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.dataflow.machine import Machine
from fuseloom.errors import ProgramError, SimulationError
from fuseloom.program import Program, Tensor, parse
from fuseloom.program.formats import Format, LevelFormat, format_text, level_format
from fuseloom.wording import counted
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.state.design import Design
from fuseloom_workbench.state.edits import with_program
from fuseloom_workbench.state.machines import tokens_of
from fuseloom_workbench.state.session import Session

MEANING = {
    LevelFormat.DENSE: "every coordinate is there: looked up by its position",
    LevelFormat.COMPRESSED: "only coordinates that occur, fiber by fiber",
    LevelFormat.SINGLETON: "one coordinate for each of the level above",
}
_MHZ = 1e6
UNITS = {
    "channel_capacity": ("tokens", "Tokens each channel holds; unbounded is allowed"),
    "alu_latency": ("cycles", "From operands to result"),
    "alu_interval": ("cycles", "Between two results of an ALU"),
    "load_latency": ("cycles", "From a reference to its value"),
    "search_latency": ("cycles", "From a coordinate to its position in a compressed level"),
    "search_interval": ("cycles", "Between two coordinates that are looked up"),
    "clock_hz": ("MHz", "Cycles per second, which turn cycles into time"),
    "outstanding": ("requests", "Of a port of the memory that may be under way"),
    "port_slots": ("tokens", "That a read port holds"),
    "channels": ("channels", "Of the memory"),
    "pseudo_channels": ("per channel", "Pseudo channels"),
    "bank_groups": ("groups", "Bank groups of a pseudo channel"),
    "banks": ("per group", "Banks"),
    "rows": ("rows", "Of a bank"),
    "row_bytes": ("bytes", "Of a row"),
    "access_bytes": ("bytes", "That one access moves"),
    "tck_ps": ("ps", "A clock of the memory"),
    "read_queue": ("requests", "That the read queue holds"),
    "write_queue": ("requests", "That the write queue holds"),
    "write_high": ("requests", "At which writes are drained"),
    "write_low": ("requests", "At which draining ends"),
    "write_patience": ("clocks", "That a write waits at most while there are no more"),
    "row_hit_cap": ("accesses", "To an open row before older requests come first"),
    "controller_latency": ("clocks", "Of the controller"),
    "latency": ("cycles", "Of the memory"),
    "channel_num": ("channels", "Of the memory"),
    "init_interval": ("cycles", "Between two requests"),
    "start_up": ("cycles", "Before the first word"),
    "per_channel_latency": ("cycles", "For each channel"),
}
"""Unit and meaning of parameters; of timing, clocks of the memory."""


# Formats -------------------------------------------------------------------------------------


@page_part("formats")
def formats(session: Session) -> dict[str, Any]:
    """A row per tensor, and the words of its menus."""
    program = session.built.program
    return {
        "levels": [{"word": f.value, "meaning": text} for f, text in MEANING.items()],
        "tensors": [_row(program, tensor) for tensor in program.tensors if tensor.rank],
    }


def _row(program: Program, tensor: Tensor) -> dict[str, Any]:
    name, own = tensor.name, tensor.format
    role = "input" if name in program.inputs else "output" if name in program.outputs else "between"
    return {
        "name": name,
        "shape": "×".join(f"{size:,}" for size in tensor.shape),
        "role": role,
        "levels": [level.value for level in own.levels],
        "order": list(own.mode_order),
        "text": format_text(own),
    }


def set_format(session: Session, name: str, levels: Sequence[str], order: Sequence[int]) -> None:
    """Store a tensor in other levels, or its modes in another order."""

    def change() -> Design:
        program = session.built.program
        tensor = program.by_name.get(name)
        if tensor is None:
            raise ProgramError(f"the program has no tensor {name!r}")
        if len(levels) != tensor.rank or sorted(order) != list(range(tensor.rank)):
            raise ProgramError(
                f"{name} has {counted(tensor.rank, 'mode')}",
                hint="a level for each, and each mode once",
            )
        wanted = replace(
            tensor.format,
            levels=tuple(level_format(word) for word in levels),
            mode_order=tuple(order),
        )
        text = str(_with_format(program, name, wanted))
        if parse(text).tensor(name).format != wanted:
            raise ProgramError(f"{name} cannot be declared as {format_text(wanted)}")
        return with_program(session.built, text)

    session.edit(change, "input", f"{name} is stored otherwise; Undo goes back.")


def _with_format(program: Program, name: str, wanted: Format) -> Program:
    tensors = tuple(replace(t, format=wanted) if t.name == name else t for t in program.tensors)
    return replace(program, tensors=tensors)


# Machine -------------------------------------------------------------------------------------


def fields(machine: Machine) -> list[dict[str, Any]]:
    """The parameters of a machine in groups, each with its unit."""
    data = machine.to_dict()
    memory = data.get("memory") or {}
    groups = [("Machine", "", data), ("Memory", "memory.", memory),
              ("Timing of the memory", "memory.timing.", memory.get("timing") or {})]  # fmt: skip
    made = []
    for title, prefix, values in groups:
        rows = [
            _field(prefix, key, value) for key, value in values.items() if _is_field(key, value)
        ]
        if rows:
            made.append({"title": title, "fields": rows})
    return made


def _is_field(key: str, value: Any) -> bool:
    return key not in ("name", "kind") and (value is None or isinstance(value, int | float | str)) \
        and key != "memory"  # fmt: skip


def _field(prefix: str, key: str, value: Any) -> dict[str, Any]:
    timing = prefix.endswith("timing.")
    unit, meaning = (
        ("clocks", f"t{key.upper()} of the memory") if timing else UNITS.get(key, ("", key))
    )
    if isinstance(value, bool):
        text = "on" if value else "off"
    elif key == "clock_hz":
        text = f"{value / _MHZ:.10g}"
    else:
        text = "unbounded" if value is None else str(value)
    return {"path": prefix + key, "label": key.replace("_", " ").removesuffix(" hz"), "value": text,
            "unit": unit, "meaning": meaning, "choice": isinstance(value, bool)}  # fmt: skip


def set_machine_field(session: Session, path: str, text: str) -> None:
    """Give one parameter of the machine another value."""

    def change() -> Design:
        data = session.machine.to_dict()
        *groups, key = path.split(".")
        held: Any = data
        for group in groups:
            held = held.get(group) if isinstance(held, Mapping) else None
        if not isinstance(held, dict) or key not in held or not _is_field(key, held[key]):
            raise SimulationError(f"this machine has no {path!r}")
        held[key] = _value(key, held[key], text.strip())
        return replace(session.design, machine=Machine.from_dict(data))

    session.edit(change, "machine")


def _value(key: str, old: Any, text: str) -> Any:
    """The value that somebody wrote, of the kind that there was."""
    if key == "channel_capacity":
        return tokens_of(text)
    if isinstance(old, bool):
        if text not in ("on", "off"):
            raise SimulationError(f"{key} is {text[:40]!r}", hint="on or off")
        return text == "on"
    if isinstance(old, str):
        return text
    unit, _ = UNITS.get(key, ("clocks", ""))
    try:
        number = float(text.replace(",", "").replace("_", ""))
        whole = int(number) if number == int(number) else None
    except (ValueError, OverflowError):
        raise SimulationError(f"{key} is {text[:40]!r}", hint=f"a number of {unit}") from None
    if key == "clock_hz":
        return number * _MHZ
    if whole is None:
        raise SimulationError(f"{key} is {text[:40]!r}", hint=f"an integer of {unit}")
    return whole
