"""``fuseloom explore --vary …``: every configuration of a space, estimated, simulated and kept."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from fuseloom.cli.command import natural, positive, print_json, seconds
from fuseloom.cli.inputs import MAX_FILE, model_of, problem
from fuseloom.cli.limits import add_limits, limits_of
from fuseloom.cli.machine import machine_of
from fuseloom.cli.models import given_options
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.errors import ScheduleError, UsageError
from fuseloom.exploration.store import State
from fuseloom.exploration.store.location import VARIABLE
from fuseloom.exploration.sweep import Base, Explored, ProgramWithData, Space, Status, explore
from fuseloom.exploration.sweep.sweep import LIMIT
from fuseloom.program import regular_files
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted

ROOM = 1 << 30
"""Bytes that a worker process may take beside what the simulator counts."""
_AXIS = re.compile(r"([A-Za-z_][A-Za-z0-9_.']*)=(.+)", re.DOTALL)
_NAMES = ("vary", "simulate", "no_estimate", "store", "jobs", "scheduler", "time_limit", "again",
          "memory_limit", "token_limit", "no_check")  # fmt: skip
"""Options that ask for a sweep."""


def sweep_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`sweep` reads."""
    made = parser.add_argument_group(
        "sweeps", "Every combination of the values of some axes, each kept as a run."
    )
    made.add_argument(
        "--vary", type=_axis, action="append", metavar="AXIS=VALUE,...",
        help="values to try of: model, data, seed, with.NAME, preset, schedule (files), cuts "
        "(all), order (best, first, all), block, lanes.INDEX, machine, capacity, or a size of the "
        "machine such as load_latency; may be repeated",
    )  # fmt: skip
    made.add_argument(
        "--simulate", nargs="?", const=True, type=positive, metavar="N",
        help="simulate all configurations, or the N that are expected to take the fewest cycles",
    )  # fmt: skip
    made.add_argument(
        "--no-estimate", action="store_true", help="with --simulate: expect nothing beforehand"
    )
    made.add_argument("--no-check", action="store_true",
                      help="do not compare the results with the dense reference")  # fmt: skip
    made.add_argument("--store", type=Path, metavar="FILE",
                      help=f"file of the runs (default: ${VARIABLE}, or one in the user's data "
                      "directory)")  # fmt: skip
    made.add_argument("--jobs", type=natural, metavar="N",
                      help="simulations at a time, each in a process of its own (default: one per "
                      "core; 0: in this process)")  # fmt: skip
    made.add_argument("--scheduler", metavar="ADDRESS",
                      help="simulate on the workers of a Dask scheduler, such as "
                      "tcp://10.0.0.1:8786")  # fmt: skip
    made.add_argument("--time-limit", type=seconds, metavar="TIME",
                      help="give a simulation up after that, such as 10min")  # fmt: skip
    made.add_argument(
        "--again", action="append", default=[],
        choices=[s.value for s in (State.REFUSED, State.FAILED, State.LIMIT, State.QUARANTINED)],
        help="do runs once more that ended so; may be repeated",
    )  # fmt: skip
    add_limits(parser)


def is_sweep(options: Any) -> bool:
    """Return whether the options request a sweep."""
    return any(getattr(options, name) not in (None, False, []) for name in _NAMES)


def _axis(text: str) -> tuple[str, list[str]]:
    found = _AXIS.fullmatch(text)
    values = [value.strip() for value in found[2].split(",")] if found else [""]
    if found is None or not all(values):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not AXIS=VALUE,...")
    return found[1], values


def sweep(options: Any) -> int:
    """Do a sweep and print what came of it; 1 if a result is wrong."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    if options.scheduler is not None and options.jobs is not None:
        raise UsageError("give --jobs or --scheduler, not both")
    if options.no_estimate and options.simulate is not True:
        raise UsageError("--no-estimate goes with --simulate", hint="simulate all of them")
    memory = options.memory_limit
    space = _space(options)
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=options.json or not console.is_terminal,
    ) as bar:  # fmt: skip
        line = bar.add_task("planning", total=space.size if space.counted else None)

        def tell(status: Status) -> None:
            best = "" if status.best is None else f"best {counted(status.best, 'cycle')}; "
            bar.update(
                line, completed=status.done, total=status.total, description=best + status.text
            )

        found = explore(
            space,
            simulate=options.simulate or False,
            estimated=not options.no_estimate,
            store=options.store,
            jobs=options.jobs,
            scheduler=options.scheduler,
            limit=options.limit or LIMIT,
            time_limit=options.time_limit,
            memory_limit=None if memory is None else memory + ROOM,
            limits=limits_of(options),
            check=not options.no_check,
            again=[State(name) for name in options.again],
            progress=tell,
        )
    if options.json:
        print_json(DocumentKind.SWEEP, found.to_dict())
    else:
        _print(options, found)
    return 0 if found.ok else 1


def _print(options: Any, found: Explored) -> None:
    for line in found.lines():
        print(line)
    told = ", ".join(f"{count:,} {state}" for state, count in sorted(found.new.items()))
    kept = f"new runs: {told}" if told else "all runs were there already"
    print(f"{counted(len(found), 'configuration')}; {kept}; kept in {found.store}")
    if not found.complete:
        limit = options.limit or LIMIT
        print(
            f"there are more: these are the first {limit:,}; --limit N looks at others too"
            if len(found) == limit
            else "others are at some of them; the same command shows how they came out"
        )


def _space(options: Any) -> Space:
    axes: dict[str, list[str]] = {}
    for name, values in options.vary or ():
        if name in axes:
            raise UsageError(f"--vary gives {name[:40]} twice", hint="name all values at once")
        axes[name] = values
    if "model" in axes and options.model is None and options.file is None:
        options.model = axes["model"][0]
    machines: dict[str, Machine] = {
        name: machine_of(name) for name in axes.get("machine", ()) if name not in PRESETS
    }
    schedules = {name: _schedule_file(name) for name in axes.get("schedule", ())}
    return Space(_base(options), axes, schedules, machines)


def _schedule_file(name: str) -> str:
    return regular_files.text(Path(name), MAX_FILE, what="schedule", error=ScheduleError)


def _base(options: Any) -> Base:
    """The configuration of the options that every command has."""
    if options.preset is not None and options.schedule is not None:
        raise ScheduleError("give --preset or --schedule, not both")
    schedule = None if options.schedule is None else _schedule_file(str(options.schedule))
    capacity = None if options.capacity is None else str(options.capacity)
    machine = machine_of(options.machine)
    model = model_of(options)
    common: dict[str, Any] = {
        "preset": options.preset, "schedule": schedule, "order": options.orders,
        "machine": machine, "capacity": capacity,
    }  # fmt: skip
    if options.model is not None:
        return Base(options.model, options.data, options.data_dir, given_options(options),
                    options.seed, **common)  # fmt: skip
    given = problem(options)
    if schedule is None and options.preset is None:
        common["schedule"] = getattr(model, "schedule", None)
    name = given.model.program.name
    return Base(
        ProgramWithData(given.model.program, given.data, name, "", given.model.presets), **common
    )
