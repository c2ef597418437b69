"""The command line: ``fuseloom compile | estimate | simulate | explore | serve`` and others."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from fuseloom import __version__
from fuseloom.cli.cancelled import cancelled
from fuseloom.cli.registry import COMMANDS
from fuseloom.errors import FuseloomError, InternalError, UsageError
from fuseloom.terminal import tables_within
from fuseloom.wording import closest

FAULT = 70
"""Exit code of a command that failed through a fault of Fuseloom itself."""
EPILOG = "fuseloom COMMAND --help describes a command and its options."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; without any, print the help.

    The exit code is 0 (done), 1 (a result is wrong), 2 (bad input), 70 (a fault of Fuseloom, with a
    report of it) or 130 (cancelled).
    """
    words = sys.argv[1:] if arguments is None else arguments
    as_json = any(len(word) > 2 and "--json".startswith(word) for word in words)
    if isinstance(sys.stdout, io.TextIOWrapper):  # an arrow must not end a command
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if not words:
            command_parser(words).print_help()
            return 0
        options = read_options(words)
        code = _run(options, str(_command_name(words)), as_json)
        sys.stdout.flush()
    except FuseloomError as problem:
        return _refused(problem, as_json)
    except MemoryError:
        return _refused(FuseloomError("there is not enough memory for that"), as_json)
    except BrokenPipeError:  # whoever reads has enough
        _print_nowhere()
        return 1
    except OSError as problem:  # what is read says itself what is wrong with it
        _print_nowhere()
        what = f"the system refuses to write or to start something: {problem.strerror}"
        return _refused(FuseloomError(what, hint="look at disk and limits"), as_json)
    except KeyboardInterrupt:
        return cancelled(as_json)
    return code


def _run(options: argparse.Namespace, name: str, as_json: bool) -> int:
    """Run a command; report faults of Fuseloom itself, and say where the reports are."""
    from fuseloom import faults

    with faults.collected() as reports, tables_within(_terminal_width()):
        try:
            code: int = options.run(options)
        except (FuseloomError, MemoryError, OSError):
            raise
        except Exception as fault:
            report = faults.report(f"the command {name} failed", fault)
            code = _refused(InternalError(str(report), hint="please report it"), as_json, FAULT)
            reports.remove(report)
        for report in reports:
            print(f"fuseloom: {report}", file=sys.stderr)
    return code


def _terminal_width() -> int | None:
    """Return the width of the terminal; None where the output goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _print_nowhere() -> None:
    from fuseloom.cli.command import print_nowhere

    print_nowhere()


def _refused(problem: FuseloomError, as_json: bool, code: int = 2) -> int:
    if as_json:
        from fuseloom.cli.command import print_json
        from fuseloom.results.document import DocumentKind

        print_json(DocumentKind.ERROR, problem.to_dict())
    print(f"fuseloom: error: {problem}", file=sys.stderr)
    return code


def read_options(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line; ``words`` among them are the line itself.

    Raises
    ------
    UsageError
        If it names no command, or what that command does not take.
    """
    name = _command_name(words)
    names = [entry.name for entry in COMMANDS]
    if name is not None and name not in names:
        message = f"no command is called {name[:40]!r}{_closest([name], names)}"
        raise UsageError(message, hint="fuseloom --help")
    parser = command_parser(words)
    options, rest = parser.parse_known_args(words)
    if rest:
        used = list(_parsers(parser, words))
        known = [option for one in used for option in one._option_string_actions]
        message = f"unrecognized arguments: {' '.join(rest)}{_closest(rest, known)}"
        raise UsageError(message, hint=f"{used[-1].prog} --help")
    options.words = tuple(words)
    return options


def _command_name(words: Sequence[str]) -> str | None:
    """Return the first word that is no option: no option before the command takes a value."""
    return next((word for word in words if not word.startswith("-")), None)


def _closest(words: Sequence[str], names: Sequence[str]) -> str:
    """Return the question for the name that is closest to one of the words, or nothing."""
    name = closest([word.partition("=")[0] for word in words], names)
    return "" if name is None else f"; did you mean {name}?"


def _parsers(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers that a command line goes through: of the command, of its action."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word in words:
                if word in action.choices:
                    yield from _parsers(action.choices[word], words)
                    return


class _Parser(argparse.ArgumentParser):
    """A parser that raises what it cannot read: one line, however long the words are."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as problem:
            names = [str(choice) for choice in action.choices or ()]
            problem.message += _closest([str(value)], names)
            raise


def command_parser(words: Sequence[str] = (), *, every: bool = False) -> argparse.ArgumentParser:
    """Return the parser of a command line, with the arguments of the command that it names.

    Parameters
    ----------
    every : bool
        Declare the arguments of all commands, which imports all of them.
    """
    parser = _Parser(
        prog="fuseloom",
        description="Fuse, order and simulate sparse models on streaming dataflow hardware.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"fuseloom {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    used = _command_name(words)
    for entry in COMMANDS:
        subparser = commands.add_parser(entry.name, help=entry.text, description=entry.text)
        if every or entry.name == used:
            command = entry.load()
            command.declare(subparser)
            subparser.set_defaults(run=command.run)
    return parser
