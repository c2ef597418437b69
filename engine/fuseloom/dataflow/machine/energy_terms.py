"""The sum that an energy is: per kind of action a count, the energy of each, and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from fuseloom.dataflow.dram import Dram
from fuseloom.dataflow.machine.actions import Action, RegionActions
from fuseloom.dataflow.machine.energy import SRAM_BYTES, Energy, is_ddr4
from fuseloom.dataflow.machine.machine import Machine
from fuseloom.results.energy import ActionKind, EnergyTerm, EnergyUnit
from fuseloom.wording import grouped

_HOROWITZ = "M. Horowitz, ISSCC 2014, Fig. 1.1.9"
_HBM2 = "M. O'Connor et al., MICRO 2017, table 3"
_DDR4 = "currents of Micron's MT40A1G8 as gem5 has them for DDR4_2400_8x8"
SOURCES: Mapping[str, str] = {
    "add": f"float32 addition in 45 nm, {_HOROWITZ}",
    "multiply": f"float32 multiplication in 45 nm, {_HOROWITZ}",
    "compare": "assumed: as a subtraction",
    "divide": "7.1 multiplications, measured on a Cortex-M4F (PMC8934428, table 3)",
    "special": "assumed: 5 multiplications and 5 additions of a polynomial",
    "integer": f"32-bit addition in 45 nm, {_HOROWITZ}",
    "sram_word": f"32 of 64 bits of 8 KiB in 45 nm, {_HOROWITZ}",
    "buffer_bytes": "assumed",
    "unbounded_depth": "assumed",
    "memory_bit": f"HBM2: 1.51 + 1.17 + 0.80 pJ, {_HBM2}",
    "row_bit": f"HBM2: 909 pJ for a row of 1 KiB, {_HBM2}",
}
"""The source of each parameter's default; of memories, that of HBM2."""
_OF_DDR4: Mapping[str, str] = {
    "memory_bit": f"DDR4: 368 pJ for 64 bits, {_DDR4}",
    "row_bit": f"DDR4: 430 pJ for a row of 1 KiB, {_DDR4}",
}
_UNITS: Mapping[ActionKind, EnergyUnit] = {
    **dict.fromkeys(ActionKind, "operations"),
    ActionKind.CHANNEL: "words",
    ActionKind.BUFFER: "words",
    ActionKind.MEMORY: "bits",
    ActionKind.ACTIVATE: "rows",
}


def energy_terms(actions: RegionActions, machine: Machine) -> tuple[EnergyTerm, ...]:
    """The terms of a region's energy: one for each kind of action and energy of each.

    Their joules add up to those of :meth:`RegionActions.use`.  Channels of different sizes are
    different terms, because a word of a larger SRAM takes more.

    Examples
    --------
    >>> from fuseloom.dataflow.machine.actions import Action
    >>> done = Action(ActionKind.ADD, 3.0, 0.9, ("add",))
    >>> (term,) = energy_terms(RegionActions(((done,),), (done,)), Machine.default())
    >>> term.count, term.unit, term.picojoules
    (6.0, 'operations', 0.9)
    >>> term.source
    'default: float32 addition in 45 nm, M. Horowitz, ISSCC 2014, Fig. 1.1.9'
    """
    counts: dict[Action, float] = {}
    for done in (*actions.nodes, actions.copies):
        for action in done:
            alike = Action(
                action.kind, 0.0, action.picojoules, action.parameters, action.sram_bytes
            )
            counts[alike] = counts.get(alike, 0.0) + action.count
    order = list(ActionKind)
    return tuple(
        EnergyTerm(
            alike.kind.value,
            counts[alike],
            _UNITS[alike.kind],
            alike.picojoules,
            energy_source(alike, machine),
        )
        for alike in sorted(counts, key=lambda one: (order.index(one.kind), one.picojoules))
    )


def energy_source(action: Action, machine: Machine) -> str:
    """Return the source of an action's energy, parameter by parameter."""
    parts = "; ".join(_parameter_source(name, machine) for name in action.parameters)
    if action.kind is ActionKind.ACTIVATE and isinstance(machine.memory, Dram):
        return f"a row of {grouped(machine.memory.row_bytes)} bytes; {parts}"
    if not action.sram_bytes:
        return parts
    word = machine.energy.sram_word
    rule = f"{word:g} pJ × √({grouped(action.sram_bytes)} / {grouped(SRAM_BYTES)} bytes)"
    if action.kind is ActionKind.CHANNEL:
        return f"written and read, 2 × {rule}; {parts}"
    return f"{rule}; {parts}"


def _parameter_source(name: str, machine: Machine) -> str:
    """Return the source of one parameter: the machine itself, or a default."""
    value = getattr(machine.energy, name)
    if value != _DEFAULTS[name]:
        return f"the machine's own: [energy] {name} = {value:g}"
    source = _OF_DDR4.get(name) if is_ddr4(machine.memory) else None
    sized = f" {name} = {value:g}" if name in ("buffer_bytes", "unbounded_depth") else ""
    return f"default{sized}: {source or SOURCES[name]}"


_DEFAULTS = {field.name: field.default for field in fields(Energy)}
