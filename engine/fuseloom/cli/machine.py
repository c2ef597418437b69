"""``fuseloom machine`` and the option ``--machine``: presets and files."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fuseloom.cli.command import Command, complete_with, json_option, positive, print_json
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.machine.text import MAX_SIZE, parse_machine, print_machine
from fuseloom.errors import SimulationError, UsageError
from fuseloom.program import regular_files
from fuseloom.program.formats import suggestion
from fuseloom.results.document import DocumentKind

if TYPE_CHECKING:
    from fuseloom.dataflow.compilation import Compilation

T = TypeVar("T")

PROVIDERS = ("hwcomponents",)
"""Packages with models of components that have energies."""

_HELP = f"preset ({', '.join(PRESETS)}) or TOML file, as the command 'machine' prints it"


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
    if not regular_files.is_file(path):
        raise SimulationError(
            f"no machine is called {name!r}, and there is no such file",
            hint=suggestion(name, list(PRESETS)),
        )
    return read_file(path, "machine", parse_machine)


def read_file(path: Path, what: str, parse: Callable[[str], T]) -> T:
    """Read a file about machines; errors name it.

    Raises
    ------
    SimulationError
        If it cannot be read, is too large, or its text is refused.
    """
    text = regular_files.text(path, MAX_SIZE, what=what, error=SimulationError)
    try:
        return parse(text)
    except SimulationError as problem:
        raise SimulationError(f"{path}: {problem.message}", hint=problem.hint) from None


def machine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`machine_for` and :func:`sized` read."""
    machine = parser.add_argument("--machine", default="default", metavar="NAME|FILE", help=_HELP)
    complete_with(machine, PRESETS)
    capacity = parser.add_argument(
        "--capacity", type=_capacity, metavar="TOKENS",
        help="capacity of every channel, or 'sized' for capacities that no data can deadlock",
    )  # fmt: skip
    complete_with(capacity, ["sized"])


def _capacity(text: str) -> int | str:
    return text if text == "sized" else positive(text)


def machine_for(options: Any) -> Machine:
    """The machine that the options describe.

    Raises
    ------
    SimulationError
        As for :func:`machine_of`.
    """
    machine = machine_of(options.machine)
    if isinstance(options.capacity, int):
        return replace(machine, channel_capacity=options.capacity)
    return machine


def sized(options: Any, compiled: Compilation) -> Compilation:
    """The program with the capacities that no data can deadlock, if they are asked for."""
    return compiled.sized() if options.capacity == "sized" else compiled


def _declare(parser: argparse.ArgumentParser) -> None:
    machine = parser.add_argument(
        "machine", nargs="?", default="default", metavar="NAME|FILE", help=_HELP
    )
    complete_with(machine, PRESETS)
    parser.add_argument(
        "--energy-from", choices=PROVIDERS,
        help="take energies from models of components where they have them "
        "(pip install 'fuseloom[energy]', Python 3.12 or later)",
    )  # fmt: skip
    parser.add_argument(
        "--technology", type=positive, metavar="NM",
        help="process of those models, in nm (default: 45)",
    )  # fmt: skip
    json_option(parser)


def _run(options: Any) -> int:
    """Print a machine as a file, which --machine then takes."""
    machine = machine_of(options.machine)
    modelled = None
    if options.energy_from:
        from fuseloom.dataflow.machine.energy_provider import TECHNOLOGY, with_modelled_energy

        technology = TECHNOLOGY if options.technology is None else options.technology
        modelled = with_modelled_energy(machine, technology)
        machine = modelled.machine
    elif options.technology is not None:
        raise UsageError(
            "--technology is of models of energy", hint=f"add --energy-from {PROVIDERS[0]}"
        )
    if options.json:
        energies = modelled and modelled.energy.to_dict()
        content = {"fingerprint": machine.fingerprint, "modelled_energy": energies}
        print_json(DocumentKind.MACHINE, {**machine.to_dict(), **content})
    else:
        print(modelled.text() if modelled else print_machine(machine), end="")
    return 0


MACHINE = Command(_declare, _run)
