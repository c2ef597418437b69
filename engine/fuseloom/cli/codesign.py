"""``autoschedule --machine-space``: the machine and the schedule that are best together."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import print_json
from fuseloom.cli.inputs import Problem, schedule_of
from fuseloom.cli.limits import limits_of
from fuseloom.cli.machine import read_file
from fuseloom.dataflow.machine.space import MachineSpace, parse_machine_space, settings_text
from fuseloom.errors import ScheduleError
from fuseloom.exploration.codesign import codesign
from fuseloom.exploration.designs import Codesign, MachineDesign
from fuseloom.exploration.objective import OBJECTIVES
from fuseloom.exploration.search import Progress
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.cli.documents import CodesignDocument

_PREFIXES = {"": 0, "n": -9, "u": -6, "µ": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12}
"""Powers of ten."""
_UNITS = {"area": "LUTs", "energy": "J", "bandwidth": "B/s"}
"""The budgets of a design, and the unit of each."""
_AMOUNT = re.compile(r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*([numkMGTµ]?)(.*)")


def design_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search over machines and schedules."""
    parser.add_argument(
        "--machine-space", metavar="FILE",
        help="search machines, too: a TOML file of a machine with a table [parameters] that lists "
        "values, such as lanes = [1, 2] or \"memory.channels\" = [2, 8]",
    )  # fmt: skip
    parser.add_argument(
        "--objective", choices=tuple(OBJECTIVES), default="cycles",
        help="what is to be small; edp is energy times time, area the lookup tables of the largest "
        "region (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--every-machine", action="store_true",
        help="with --machine-space, find the best schedule of each machine, for exact effects of "
        "parameters",
    )  # fmt: skip


def design_budget(name: str, text: str) -> float:
    """A budget of area, energy or bandwidth, with or without a unit.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is no number, or has another unit.

    Examples
    --------
    >>> design_budget("energy", "2.5uJ"), design_budget("bandwidth", "64GB/s")
    (2.5e-06, 64000000000.0)
    """
    match = _AMOUNT.fullmatch(text.strip())
    unit = _UNITS[name]
    if match is None or match[3] not in ("", unit, unit.removesuffix("s")):
        raise argparse.ArgumentTypeError(f"{text!r} is no {name}; a number of {unit}, such as 20k")
    return float(Decimal(match[1]).scaleb(_PREFIXES[match[2]]))


def wants_designs(options: Any) -> bool:
    """Return whether the options ask for more than the schedule with the fewest cycles."""
    return (
        options.machine_space is not None
        or options.objective != "cycles"
        or options.every_machine
        or not _UNITS.keys().isdisjoint(options.budget)
    )


def run_codesign(options: Any, given: Problem, progress: Progress | None) -> Codesign:
    """Search, and return what was found.

    Raises
    ------
    ScheduleError
        If an option is given that goes with other searches.
    """
    if options.every_machine and options.machine_space is None:
        raise ScheduleError(
            "--every-machine goes with several machines", hint="--machine-space FILE lists them"
        )
    odd = [f"--budget {name}" for name in ("lanes", "onchip") if name in options.budget]
    odd = odd if options.machine_space is not None else []
    odd += ["--budget stores"] if "stores" in options.budget else []
    odd += ["--nonzero"] if options.nonzero else []
    odd += ["--also"] if options.also else []
    if odd:
        raise ScheduleError(
            f"{odd[0]} goes with a search of one machine for the fewest cycles",
            hint="lanes and on_chip are parameters in the file of --machine-space",
        )
    budget = options.budget
    return codesign(
        given.model.program,
        given.data,
        _space(options, given),
        objective=options.objective,
        area=budget.get("area"),
        energy=budget.get("energy"),
        bandwidth=budget.get("bandwidth"),
        copies=budget.get("copies", 0),
        base=schedule_of(options, given.model) if options.schedule else None,
        requirements=options.require,
        presets=given.model.presets,
        sized=options.capacity == "sized",
        pareto=options.pareto,
        every=options.every_machine,
        gap=options.gap,
        time_limit=options.time_limit,
        limits=limits_of(options),
        progress=progress,
    )


def _space(options: Any, given: Problem) -> MachineSpace:
    """The machines of the file, or the one that is given."""
    if options.machine_space is None:
        lanes, on_chip = options.budget.get("lanes", 1), options.budget.get("onchip")
        return MachineSpace.of(given.machine, lanes, on_chip)
    if options.machine != "default" or isinstance(options.capacity, int):
        raise ScheduleError(
            "--machine and --capacity go with one machine",
            hint="the file of --machine-space has a base, and channel_capacity among its keys",
        )
    return read_file(Path(options.machine_space), "space of machines", parse_machine_space)


def print_codesign(options: Any, given: Problem, found: Codesign) -> None:
    """Print what was found, for machines or for people."""
    if options.json:
        content: CodesignDocument = {
            "name": given.model.program.name,
            "data": given.source,
            **found.to_dict(),
        }
        print_json(DocumentKind.CODESIGN, content)
        return
    design = found.design
    print(given.heading, end="")
    if design.settings:
        print(f"machine: {settings_text(design.settings)}")
    for directive in design.schedule.split("; "):
        print(directive)
    print(f"\n{found.objective}: {_number(found.value)} {found.unit}, simulated")
    print(found.verdict)
    area = f", {grouped(design.area)} LUTs" if design.area else ""
    print(f"{counted(design.cycles, 'cycle')}, {_number(design.seconds)} s, "
          f"{_number(design.energy)} J{area}")  # fmt: skip
    print(f"{counted(found.schedules, 'candidate')} looked at, {counted(found.runs, 'part')} run")
    if len(found.machines) > 1:
        print(f"\nmachines, by {found.objective} in {found.unit}:")
        rows = [
            (settings_text(m.settings), _number(m.value), _number(m.bound), m.verdict)
            for m in sorted(found.machines, key=lambda m: (m.value is None, m.value or 0.0))
        ]
        print("\n".join(text_table(_MACHINES, rows)))
        print("\nthe best with each value of a parameter:")
        effects = [
            (e.parameter, str(e.setting), _number(e.value), _number(e.bound)) for e in found.effects
        ]
        print("\n".join(text_table(_EFFECTS, effects)))
    if found.front is not None:
        told = "" if found.front_complete else " (of those that were run; time was up)"
        costs = "time, energy and area" if design.area else "time and energy"
        print(f"\nnone of these is beaten in {costs}{told}:")
        print("\n".join(text_table(_FRONT, [_row(one) for one in found.front])))


_MACHINES = (
    TextColumn("machine", align=Align.LEFT),
    TextColumn("found"),
    TextColumn("at least"),
    TextColumn("", align=Align.LEFT),
)
_EFFECTS = (
    TextColumn("parameter", align=Align.LEFT),
    TextColumn("value"),
    TextColumn("found"),
    TextColumn("at least"),
)
_FRONT = (
    TextColumn("time, s"),
    TextColumn("energy, J"),
    TextColumn("area, LUTs"),
    TextColumn("machine", align=Align.LEFT),
    TextColumn("schedule", align=Align.LEFT),
)


def _row(one: MachineDesign) -> tuple[str, ...]:
    area = grouped(one.area) if one.area else "–"
    numbers = (_number(one.seconds), _number(one.energy), area)
    return (*numbers, settings_text(one.settings), one.schedule)


def _number(value: float | None) -> str:
    """Integers with groups of digits, others with six figures."""
    if value is None:
        return "–"
    return grouped(value) if value == int(value) and value >= 1 else f"{value:.6g}"
