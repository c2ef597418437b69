"""``fuseloom autoschedule`` and ``why``: the best schedule, with a proof; and why not another."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from fuseloom.cli.codesign import (
    design_budget,
    design_options,
    print_codesign,
    run_codesign,
    wants_designs,
)
from fuseloom.cli.command import Command, print_json, seconds
from fuseloom.cli.inputs import Problem, problem, program_options, schedule_of
from fuseloom.cli.limits import add_limits, limits_of, size
from fuseloom.dataflow.space.requirements import KINDS
from fuseloom.errors import ScheduleError
from fuseloom.exploration.autoschedule import GAP, TIME_LIMIT, Autoscheduled, Choice, autoschedule
from fuseloom.exploration.search import Progress
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.cli.documents import AutoscheduleDocument, WhyDocument


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    parser.add_argument(
        "--budget", type=_budget, default={}, metavar="NAME=VALUE,...",
        help="what a region may have: lanes=N (default: 1), onchip=SIZE held, such as 64KiB, and "
        "copies=N of tensors in another mode order (default: 0); stores=N tensors between "
        "regions that may be stored dense, where they are complete (default: 0); and what a "
        "machine may take: area=LUTS, energy=JOULES of a run, bandwidth=B/s, such as 64GB/s",
    )  # fmt: skip
    parser.add_argument(
        "--require", action="append", default=[], metavar="RULE",
        help=f"a rule that every region keeps; may be repeated. {'; '.join(KINDS.values())}",
    )  # fmt: skip
    parser.add_argument(
        "--also", action="append", default=[], metavar="SETTINGS",
        help="search everything once more under settings that hold throughout, such as 'block 4', "
        "'global' or 'store dense'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--nonzero", action="store_true",
        help="search everything once more with results that leave out their zeros, such as those "
        "of a relu, where the estimate says that it saves cycles",
    )  # fmt: skip
    parser.add_argument(
        "--gap", type=_share, default=GAP, metavar="SHARE",
        help="stop as soon as no schedule can be better by more than this share of the cycles; 0 "
        "searches until none is left (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit", type=seconds, default=TIME_LIMIT, metavar="TIME",
        help="after which the best so far is taken, such as 10s or 5min (default: 10s)",
    )  # fmt: skip
    add_limits(parser)


_SIMPLE = ("lanes", "onchip", "copies", "stores")
_DESIGN = ("area", "energy", "bandwidth")


def _budget(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if name not in (*_SIMPLE, *_DESIGN) or not equals or name in found:
            known = f"{', '.join((*_SIMPLE, *_DESIGN))}, each with = and a value"
            raise argparse.ArgumentTypeError(f"{part!r} is none of {known}, or is there twice")
        if name in _DESIGN:
            found[name] = design_budget(name, value)
        elif name == "onchip":
            found[name] = size(value)
        elif re.fullmatch(r"\d{1,6}", value) and (int(value) or name != "lanes"):
            found[name] = int(value)
        else:
            least = 1 if name == "lanes" else 0
            raise argparse.ArgumentTypeError(f"{part!r}: {name} are a number of at least {least}")
    return found


def _share(text: str) -> float:
    share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError("must be a share from 0 to below 1, such as 0.05 or 5%")
    return share


T = TypeVar("T")


def _telling(options: Any, search: Callable[[Progress | None], T]) -> T:
    """Search, telling how it goes where somebody looks on."""
    if options.orders != "best":
        raise ScheduleError(
            f"--orders {options.orders} goes with other commands",
            hint="all orders are searched; a schedule that names an order is judged by 'simulate'",
        )
    shown = sys.stderr.isatty() and not options.json

    def tell(cycles: float, text: str) -> None:
        unit = getattr(options, "objective", "cycles")
        best = "" if math.isinf(cycles) else f"best so far {cycles:,.6g} {unit}; "
        print(f"\r\033[K{best}{text}"[:120], end="", file=sys.stderr, flush=True)

    try:
        return search(tell if shown else None)
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _search(options: Any, given: Problem) -> Autoscheduled:
    """Search the schedules of one machine for the fewest cycles."""
    return _telling(
        options,
        lambda progress: autoschedule(
            given.model.program,
            given.data,
            machine=given.machine,
            base=schedule_of(options, given.model) if options.schedule else None,
            presets=given.model.presets,
            lanes=options.budget.get("lanes", 1),
            on_chip=options.budget.get("onchip"),
            copies=options.budget.get("copies", 0),
            stores=options.budget.get("stores", 0),
            also=options.also,
            requirements=options.require,
            nonzero=options.nonzero,
            sized=options.capacity == "sized",
            pareto=getattr(options, "pareto", False),
            gap=options.gap,
            time_limit=options.time_limit,
            limits=limits_of(options),
            progress=progress,
        ),
    )


def _declare_more(parser: argparse.ArgumentParser) -> None:
    _declare(parser)
    design_options(parser)
    parser.add_argument(
        "--pareto", action="store_true",
        help="go on until time is up, and list schedules that no other one beats in cycles, "
        "bytes, memory on chip and lanes together; of machines, in time and energy, and in area "
        "where that has a budget",
    )  # fmt: skip


def _run(options: Any) -> int:
    given = problem(options)
    if options.preset is not None:
        raise ScheduleError(
            "--preset goes with other commands", hint="the presets are looked at anyway"
        )
    if wants_designs(options):
        designs = _telling(options, partial(run_codesign, options, given))
        print_codesign(options, given, designs)
        return 0
    found = _search(options, given)
    if options.json:
        content: AutoscheduleDocument = {
            "name": given.model.program.name,
            "data": given.source,
            **found.to_dict(),
        }
        print_json(DocumentKind.AUTOSCHEDULE, content)
        return 0
    print(given.heading, end="")
    for directive in found.schedule.split("; "):
        print(directive)
    proof = found.certificate
    print(f"\n{counted(found.cycles, 'cycle')}, simulated")
    print(proof.verdict)
    print(f"the space has {found.space}")
    print(f"not searched: {', '.join(proof.unsearched)}")
    counts = ", ".join(f"{number:,} {what}" for what, number in sorted(proof.counts.items()))
    print(f"candidates for executing parts of the program: {counts}\n")
    for reason in found.reasons:
        print(f"* {reason}")
    if found.choices is not None:
        print("\nnone of these is beaten in all respects:")
        for line in text_table(_COLUMNS, [_row(choice) for choice in found.choices]):
            print(line)
    return 0


_COLUMNS = (
    TextColumn("cycles", 14),
    TextColumn("bytes", 14),
    TextColumn("on chip, bytes", 14),
    TextColumn("lanes", 6),
    TextColumn("", 0, Align.LEFT),
)


def _row(choice: Choice) -> tuple[str, ...]:
    cost = choice.cost
    numbers = (cost.cycles, cost.bytes, cost.on_chip, cost.lanes)
    text = choice.schedule if choice.simulated else f"{choice.schedule} (estimated)"
    return (*(grouped(number) for number in numbers), text)


def _why(options: Any) -> int:
    given = problem(options)
    if options.preset is None and options.schedule is None:
        raise ScheduleError(
            "why not which schedule?", hint="name it by --preset NAME or --schedule FILE"
        )
    asked = str(schedule_of(options, given.model))
    options.schedule = None
    if odd := [name for name in _DESIGN if name in options.budget]:
        raise ScheduleError(
            f"--budget {odd[0]} goes with autoschedule",
            hint="why explains a search for the fewest cycles; leave that budget out",
        )
    found = _search(options, given)
    answer = found.why(asked)
    if options.json:
        content: WhyDocument = {
            "schedule": asked,
            "answer": answer,
            "best": found.schedule,
            "cycles": found.cycles,
        }
        print_json(DocumentKind.WHY, content)
        return 0
    print(f"{given.heading}{answer}")
    print(f"the best found, {counted(found.cycles, 'cycle')}: {found.schedule}")
    return 0


AUTOSCHEDULE = Command(_declare_more, _run)
WHY = Command(_declare, _why)
