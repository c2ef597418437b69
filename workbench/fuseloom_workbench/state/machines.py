"""The display of machines: name, memory, and the expected time of a run."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.dram import Ideal, Queues, peak_bandwidth
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.machine.text import UNBOUNDED
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

SMALL = 2e6
"""Expected tokens up to which every run is explained at once."""
LONG = 50e6
"""Expected tokens from which the log of an explained run may hold its end only."""
PATIENCE = 10.0
"""Seconds of expected wall time from which Run asks first."""
RUN_LIMIT = 900.0
"""Seconds after which a run in the workbench is ended, unless told otherwise."""
MAX_DIGITS = 18
RATES = {
    (False, False): 300e6,
    (False, True): 10e6,
    (True, False): 14e6,
    (True, True): 3e6,
}
"""Expected tokens simulated in a second, by whether there is a memory and a log.  Measured on two
cores with models on Cora, the slow side of what was seen."""


def machine_label(machine: Machine) -> str:
    """A machine's name, and how it differs from the preset of that name."""
    if machine.name not in PRESETS:
        return machine.name
    preset = Machine.preset(machine.name)
    if machine.fingerprint == preset.fingerprint:
        return machine.name
    sized = replace(preset, channel_capacity=machine.channel_capacity)
    if machine.fingerprint != sized.fingerprint:
        return f"{machine.name}, edited"
    return f"{machine.name}, {capacity(machine)} per channel"


def capacity(machine: Machine) -> str:
    """Size of a channel in words."""
    tokens = machine.channel_capacity
    return "unbounded" if tokens is None else f"{tokens:,} token{'s' * (tokens != 1)}"


def memory_text(machine: Machine) -> str:
    """A machine's memory in a few words."""
    memory = machine.memory
    if memory is None:
        return "no memory: every word comes at once"
    if isinstance(memory, Ideal):
        return "ideal memory: no limit to its bandwidth"
    peak = f"{peak_bandwidth(memory, machine.clock_hz) / 1e9:,.1f} GB/s peak"
    if isinstance(memory, Queues):
        return f"memory of queues, {peak}; it moves words, not tiles"
    return f"memory {memory.name}, {peak}"


def machine_text(machine: Machine) -> str:
    """A machine in a line."""
    quirks = len(machine.quirks.active)
    said = [
        memory_text(machine),
        f"channels {capacity(machine)}",
        f"{machine.clock_hz / 1e6:g} MHz",
        f"{counted(quirks, 'quirk')} of the reference simulator" if quirks else "no quirks",
    ]
    return " · ".join(said)


def expected_seconds(tokens: float, machine: Machine, explain: bool) -> float:
    """Wall time that a simulation of so many expected tokens takes, very roughly."""
    return tokens / RATES[machine.memory is not None, explain]


def tokens_of(text: str) -> int | None:
    """The channel capacity that a user wrote; nothing written is unbounded.

    Raises
    ------
    SimulationError
        If it is not an integer.
    """
    wanted = text.strip().replace(",", "").replace("_", "")
    if wanted in ("", UNBOUNDED):
        return None
    if not wanted.isdecimal() or len(wanted) > MAX_DIGITS:
        raise SimulationError(
            f"a channel capacity of {text.strip()[:40]!r}",
            hint=f"an integer of tokens, or {UNBOUNDED}",
        )
    return int(wanted)
