"""The command line: ``fuseloom compile | estimate | simulate | explore | serve`` and helpers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from engine import __version__
from engine.cli.command import Command, print_json
from engine.cli.compile import COMPILE
from engine.cli.conform import CONFORM
from engine.cli.estimate import ESTIMATE
from engine.cli.explore import EXPLORE
from engine.cli.machine import MACHINE
from engine.cli.serve import SERVE
from engine.cli.simulate import SIMULATE
from engine.cli.warmup import WARMUP
from engine.errors import FuseloomError
from engine.results.document import Kind

COMMANDS: tuple[Command, ...] = (
    COMPILE,
    ESTIMATE,
    SIMULATE,
    EXPLORE,
    CONFORM,
    SERVE,
    MACHINE,
    WARMUP,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 (done), 1 (a result is wrong) or 2 (bad input)."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except FuseloomError as problem:
        if getattr(options, "json", False):
            print_json(Kind.ERROR, problem.to_dict())
        print(f"fuseloom: error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fuseloom: cancelled", file=sys.stderr)
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
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
