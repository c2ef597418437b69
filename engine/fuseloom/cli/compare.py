"""``fuseloom compare``: a program fused by every system, side by side."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from fuseloom.cli.command import Command, array_size, positive, print_json, seconds
from fuseloom.cli.inputs import Problem, problem, program_options, schedule_of
from fuseloom.cli.limits import add_limits, limits_of
from fuseloom.errors import UsageError
from fuseloom.results.document import DocumentKind

EXAMPLES = ("attention_block", "gcn_layer", "mttkrp", "conv_block", "mlp_block")
"""Names of programs that come with the command, known without loading them."""
SYSTEMS = ("dataflow", "contraction", "access", "calls", "stitch")


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    add_limits(parser)
    parser.epilog = f"Programs that come with it, by name as FILE: {', '.join(EXAMPLES)}."
    given = parser.add_argument
    given(
        "--system", action="append", choices=SYSTEMS,
        help="compare this system alone; may be repeated (default: all)",
    )  # fmt: skip
    given(
        "--array", type=array_size, default=(64, 64), metavar="RxC",
        help="rows and columns of the systolic array of access patterns (default: 64x64)",
    )  # fmt: skip
    given(
        "--time-limit", type=seconds, default=3.0, metavar="TIME",
        help="of each search and of each tuning (default: 3s)",
    )  # fmt: skip
    given(
        "--rounds", type=positive, default=5, metavar="N",
        help="runs by the clock, of which the median counts (default: %(default)s)",
    )  # fmt: skip
    given(
        "--keep", action="store_true", help="keep every row as a run (see the command 'runs')"
    )  # fmt: skip
    given(
        "--conversions", action="store_true",
        help="run nothing; say what the program loses on the way to each other system",
    )  # fmt: skip
    given(
        "--again", action="store_true",
        help="measure again, too, what is known of the same program, data, machines and limits",
    )  # fmt: skip


def _run(options: Any) -> int:
    from fuseloom.comparison.compare import compare, with_commands
    from fuseloom.comparison.examples import example_path

    if options.orders != "best":
        raise UsageError(
            "--orders first goes with other commands", hint="a schedule may name its orders"
        )
    if options.capacity == "sized":
        raise UsageError(
            "--capacity sized depends on the schedule, and here are several",
            hint="--capacity N is the same for all",
        )
    if options.file is not None and str(options.file) in EXAMPLES and not options.file.exists():
        options.file = example_path(str(options.file))
    given = problem(options)
    if options.conversions:
        return _conversions(options, given)
    presets = _presets(options, given)
    made = compare(
        given.model.program, given.data, presets=presets, systems=options.system,
        machine=given.machine, array=options.array, seconds=options.time_limit,
        rounds=options.rounds, label="" if given.source is None else given.source.label,
        again=options.again, limits=limits_of(options), progress=_tell,
    )  # fmt: skip
    made = with_commands(made, _command(options.words))
    if options.keep:
        from fuseloom.comparison.kept_rows import keep_rows
        from fuseloom.exploration.store import RunStore

        with RunStore() as store:
            keep_rows(
                store, given.model.program, given.data, made, presets=presets,
                machine=given.machine, array=options.array,
            )  # fmt: skip
    if options.json:
        print_json(DocumentKind.COMPARISON, made.to_dict())
    else:
        print(given.heading + str(made))
    return 0 if made.ok else 1


def _conversions(options: Any, given: Problem) -> int:
    from fuseloom.comparison.conversions import conversions_of

    if options.keep:
        raise UsageError("--conversions runs nothing that --keep could keep", hint="leave one out")
    made = conversions_of(given.model.program, given.data)
    if options.system:
        made = made.of(*options.system)
    if not made.rows:
        raise UsageError(
            "the dataflow machine runs programs as they are: there is no conversion",
            hint="--system names another system",
        )
    if options.json:
        print_json(DocumentKind.CONVERSIONS, made.to_dict())
    else:
        print(given.heading + str(made))
    return 0


def _tell(system: str) -> None:
    if sys.stderr.isatty():
        print(f"fuseloom: {system}", file=sys.stderr)


def _presets(options: Any, given: Problem) -> dict[str, str] | None:
    """The schedules of the dataflow machine: the one that is named, or the model's presets."""
    if options.schedule is not None:
        return {options.schedule.stem: str(schedule_of(options, given.model))}
    if options.preset is not None:
        return {options.preset: str(schedule_of(options, given.model))}
    if not given.model.presets:
        return None
    return {name: text for name, text in given.model.presets.items() if name != "unfused"}


def _command(words: Sequence[str]) -> str:
    """The command as it was given, without the choice of systems."""
    kept, skipped = [], False
    for word in words:
        if skipped or word == "--system":
            skipped = word == "--system"
        elif not word.startswith("--system=") and word not in ("--json", "--again", "--keep"):
            kept.append(word)
    return shlex.join(["fuseloom", *kept])


COMPARE = Command(_declare, _run)
