"""The command line's limits of a run: how many tokens, how much memory."""

from __future__ import annotations

import argparse
import re
from typing import Any

from fuseloom.cli.command import positive
from fuseloom.dataflow.sim.reports import MEMORY_LIMIT, Limits

MADE_UP_ELEMENTS = 2**24
"""Elements of the inputs of a program file that are made up at random."""
MADE_UP_TOKENS = 100_000_000
"""Tokens of a run on them, unless ``--token-limit`` says otherwise."""
MADE_UP_MEMORY = 512 << 20
"""Bytes of such a run, unless ``--memory-limit`` says otherwise."""
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
        "--token-limit", type=positive, metavar="N",
        help="give up after so many tokens (default: none; "
        f"{MADE_UP_TOKENS:,} for a program file on random data)",
    )  # fmt: skip
    parser.add_argument(
        "--memory-limit", type=size, metavar="SIZE",
        help="give up before channels, nodes and outputs take more than that, such as 512MiB; the "
        f"check of the results keeps to it too (default: {MEMORY_LIMIT >> 30}GiB; "
        f"{MADE_UP_MEMORY >> 20}MiB for a program file on random data)",
    )  # fmt: skip


def limits_of(options: Any, tokens: int | None = None, memory: int = MEMORY_LIMIT) -> Limits:
    """The limits asked for; ``tokens`` and ``memory`` where none is given."""
    return Limits(
        tokens if options.token_limit is None else options.token_limit,
        memory if options.memory_limit is None else options.memory_limit,
        "raise it by --token-limit",
        "raise it by --memory-limit",
    )
