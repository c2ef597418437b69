"""The command line's machines: presets, files, and what a machine's memory did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from engine.dataflow.sim.dram import MemoryStats
from engine.dataflow.sim.machine import PRESETS, Machine
from engine.dataflow.sim.machine_text import MAX_SIZE, parse_machine, print_machine
from engine.errors import SimulationError

HELP = f"preset ({', '.join(PRESETS)}) or TOML file, as the command 'machine' prints it"


def machine_of(name: str) -> Machine:
    """The preset of that name, or the machine in the file of that name.

    Raises
    ------
    SimulationError
        If there is neither, or the file describes no machine.
    """
    if name in PRESETS:
        return Machine.preset(name)
    path = Path(name)
    if not path.is_file():
        raise SimulationError(
            f"no machine is called {name!r}, and there is no such file",
            hint=f"known: {', '.join(PRESETS)}",
        )
    try:
        if path.stat().st_size > MAX_SIZE:
            raise SimulationError(f"{path}: no machine is that long", hint=f"at most {MAX_SIZE:,}")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SimulationError(f"cannot read {path}: {problem}") from None
    try:
        return parse_machine(text)
    except SimulationError as problem:
        raise SimulationError(f"{path}: {problem.message}", hint=problem.hint) from None


def show_machine(options: Any) -> int:
    """Print a machine as a file, which --machine then takes."""
    machine = machine_of(options.machine)
    if options.json:
        print(json.dumps({**machine.to_dict(), "fingerprint": machine.fingerprint}))
    else:
        print(print_machine(machine), end="")
    return 0


def memory_lines(
    memories: Iterable[tuple[str, MemoryStats | None]], *, whole: bool
) -> Iterator[str]:
    """What the memory did, by region: a line each, or everything.

    Parameters
    ----------
    memories : iterable of (str, MemoryStats or None)
        Region and its statistics, if its machine has a memory.
    """
    there = [(name, stats) for name, stats in memories if stats is not None]
    if whole:
        for name, stats in there:
            yield f"\n{name}: {stats}"
        return
    if there:
        yield (
            f"{'memory':24} {'reads':>12} {'writes':>12} {'moved, bytes':>14} {'GB/s':>8} "
            f"{'of peak':>8} {'row hits':>9} {'latency':>8}"
        )
    for name, stats in there:
        yield (
            f"{name:24} {stats.reads:12,} {stats.writes:12,} {stats.bytes:14,} "
            f"{stats.bandwidth / 1e9:8.2f} {stats.share:8.1%} {stats.hit_rate:9.1%} "
            f"{stats.read_latency:8.1f}"
        )
