"""The command line: ``fuseloom compile | estimate | simulate | explore | serve`` and others."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from typing import NoReturn

from fuseloom import __version__
from fuseloom.cli.autoschedule import AUTOSCHEDULE, WHY
from fuseloom.cli.command import Command, print_json, print_nowhere
from fuseloom.cli.compile import COMPILE
from fuseloom.cli.conform import CONFORM
from fuseloom.cli.contract import CONTRACT
from fuseloom.cli.estimate import ESTIMATE
from fuseloom.cli.explore import EXPLORE
from fuseloom.cli.figures import FIGURES
from fuseloom.cli.machine import MACHINE
from fuseloom.cli.models import MODELS
from fuseloom.cli.runs import RUNS
from fuseloom.cli.serve import SERVE
from fuseloom.cli.simulate import SIMULATE
from fuseloom.cli.warmup import WARMUP
from fuseloom.cli.what_if import WHAT_IF
from fuseloom.errors import CancelledError, FuseloomError, UsageError
from fuseloom.results.document import DocumentKind

COMMANDS: tuple[Command, ...] = (
    COMPILE,
    ESTIMATE,
    SIMULATE,
    EXPLORE,
    AUTOSCHEDULE,
    WHY,
    WHAT_IF,
    FIGURES,
    RUNS,
    CONTRACT,
    CONFORM,
    SERVE,
    MODELS,
    MACHINE,
    WARMUP,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    The exit code is 0 (done), 1 (a result is wrong), 2 (bad input) or 130 (cancelled).
    """
    given = sys.argv[1:] if arguments is None else arguments
    as_json = any(len(word) > 2 and "--json".startswith(word) for word in given)
    if isinstance(sys.stdout, io.TextIOWrapper):  # an arrow must not end a command
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = argument_parser().parse_args(given)
        code: int = options.run(options)
        sys.stdout.flush()
    except FuseloomError as problem:
        return _refused(problem, as_json)
    except MemoryError:
        return _refused(FuseloomError("there is not enough memory for that"), as_json)
    except BrokenPipeError:  # whoever reads has enough
        print_nowhere()
        return 1
    except OSError as problem:  # what is read says itself what is wrong with it
        print_nowhere()
        what = f"the system refuses to write or to start something: {problem.strerror}"
        return _refused(FuseloomError(what, hint="look at disk and limits"), as_json)
    except KeyboardInterrupt:
        if as_json:
            print_json(DocumentKind.ERROR, CancelledError("cancelled").to_dict())
        print("fuseloom: cancelled", file=sys.stderr)
        return 130
    return code


def _refused(problem: FuseloomError, as_json: bool) -> int:
    if as_json:
        print_json(DocumentKind.ERROR, problem.to_dict())
    print(f"fuseloom: error: {problem}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """A parser that raises what it cannot read: one line, however long the words are."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"{self.prog} --help")


def argument_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="fuseloom",
        description="Fuse, order and simulate sparse models on streaming dataflow hardware.",
    )
    parser.add_argument("--version", action="version", version=f"fuseloom {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        made = commands.add_parser(command.name, help=command.text, description=command.text)
        command.declare(made)
        made.set_defaults(run=command.run)
    return parser
