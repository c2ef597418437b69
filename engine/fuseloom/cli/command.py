"""The interface between a command and the command line, and the printing of one JSON document."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.errors import DataError, UsageError

if TYPE_CHECKING:
    from fuseloom.results.document import DocumentKind

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|min|m|h|d|w)?")
_SECONDS = {
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}


@dataclass(frozen=True)
class Command:
    """One command: its options, and what runs.

    Attributes
    ----------
    declare : callable
        Adds the options to a parser.
    run : callable
        Takes the parsed options; gives the exit code: 0 (done) or 1 (a result is wrong).
    """

    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Any], int]


def complete_with(action: argparse.Action, names: Iterable[str]) -> None:
    """Name values of an argument that a shell offers; others stay possible."""
    vars(action)["names"] = tuple(names)


def names_of(action: argparse.Action) -> tuple[str, ...]:
    """Return the values of an argument that a shell offers."""
    names: tuple[str, ...] = vars(action).get("names", ())
    return names


def natural(text: str) -> int:
    """An integer of at least 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def positive(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def age(text: str) -> float:
    """Seconds, from a number with a unit, such as ``30d``; 0 is the present.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none.
    """
    return _duration(text, "", "12h, 30d or 4w")


def seconds(text: str) -> float:
    """Seconds, from a number with or without a unit, such as ``5min``.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none, or no time at all.
    """
    found = _duration(text, "s", "10s or 5min")
    if found <= 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return found


def _duration(text: str, unit: str, example: str) -> float:
    """Seconds; ``unit`` is what a number without one has, if it may lack one."""
    match = _DURATION.fullmatch(text.strip().lower())
    given = match and (match[2] or unit)
    if not (match and given):
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write for example {example}")
    return float(match[1]) * _SECONDS[given]


def array_size(text: str) -> tuple[int, int]:
    """Rows and columns of a systolic array, such as ``64x64``.

    Raises
    ------
    UsageError
        If it is none.
    """
    match = re.fullmatch(r"(\d{1,6})[x×](\d{1,6})", text)
    if match is None:
        raise UsageError(
            f"{text[:30]!r} is no array", hint="write rows and columns, e.g. --array 64x64"
        )
    return int(match[1]), int(match[2])


def json_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def engine_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--engine``."""
    parser.add_argument(
        "--engine",
        choices=["auto", "compiled", "interpreter"],
        default="auto",
        help="which form of the primitives runs (default: %(default)s)",
    )


def area_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--area``."""
    parser.add_argument(
        "--area",
        action="store_true",
        help="show what the hardware of the largest region takes of an FPGA (pip install "
        "'fuseloom[rtl]')",
    )


def check_folder(path: Path) -> None:
    """See, before anything runs, that the folder into which a file is to be written is there.

    Raises
    ------
    DataError
        If it is not; what the user mistyped is not made.  If there is a pipe or a device of that
        name: it would be replaced.
    """
    from fuseloom.program import regular_files

    if regular_files.is_special(path):
        raise DataError(f"cannot write {path}: it is no file", hint="name a regular file")
    if not regular_files.is_folder(path.parent):
        raise DataError(f"{path.parent} is no folder", hint="make it first")


def print_json(kind: DocumentKind, content: Mapping[str, Any]) -> None:
    """Print a document of that kind."""
    from fuseloom.results.document import document, plain, to_text

    print(to_text(document(kind, plain(content))))


def print_nowhere() -> None:
    """Print nowhere from now on: what is not yet written would fail again at the end."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for the rest)
