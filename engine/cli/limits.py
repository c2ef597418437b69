"""The command line's limits of a run: how many tokens, how much memory."""

from __future__ import annotations

import argparse
import re
from typing import Any

from engine.cli.command import positive
from engine.dataflow.sim.reports import MEMORY_LIMIT, Limits

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def size(text: str) -> int:
    """Bytes, from a number with or without a unit (powers of 1024).

    Raises
    ------
    argparse.ArgumentTypeError
        If it is no such size, or nothing at all.
    """
    match = _SIZE.fullmatch(text.strip())
    count = round(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write for example 512MiB or 4GiB")
    return count


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--token-limit", type=positive, metavar="N", help="give up after so many tokens"
    )
    parser.add_argument(
        "--memory-limit", type=size, metavar="SIZE", default=MEMORY_LIMIT,
        help="give up before channels, nodes and outputs take more than that, such as 512MiB; the "
        f"check of the results keeps to it too (default: {MEMORY_LIMIT >> 30}GiB)",
    )  # fmt: skip


def limits_of(options: Any, tokens: int | None = None) -> Limits:
    """The limits asked for; ``tokens`` where none is given."""
    given = options.token_limit
    return Limits(tokens if given is None else given, options.memory_limit)
