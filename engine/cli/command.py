"""What a command is to the command line, and how it prints one JSON document."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import DataError
from engine.program import regular_files
from engine.results.document import Kind, document, plain, to_text


@dataclass(frozen=True)
class Command:
    """One command: its name, what it does in a sentence, its options, and what runs.

    Attributes
    ----------
    run : callable
        Takes the parsed options; gives the exit code: 0 (done) or 1 (a result is wrong).
    """

    name: str
    text: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Any], int]


def natural(text: str) -> int:
    """A whole number of at least 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def positive(text: str) -> int:
    """A whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


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


def check_folder(path: Path) -> None:
    """See, before anything runs, that the folder into which a file is to be written is there.

    Raises
    ------
    DataError
        If it is not; what the user mistyped is not made.  If there is a pipe or a device of that
        name: it would be replaced.
    """
    if regular_files.is_special(path):
        raise DataError(f"cannot write {path}: it is no file", hint="name a regular file")
    if not regular_files.is_folder(path.parent):
        raise DataError(f"{path.parent} is no folder", hint="make it first")


def print_json(kind: Kind, content: Mapping[str, Any]) -> None:
    """Print a document of that kind."""
    print(to_text(document(kind, plain(content))))
