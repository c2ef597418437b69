"""Sizes and limits as people write them on a command line."""

from __future__ import annotations

import argparse

import pytest

from engine.cli.limits import add_limits, limits_of, size
from engine.dataflow.sim.reports import MEMORY_LIMIT


@pytest.mark.parametrize(
    ("text", "count"),
    [("7", 7), ("1K", 1024), ("512MiB", 512 << 20), ("1.5 gb", 3 << 29), (" 2T ", 2 << 40)],
)
def test_sizes(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "0", "0.0001", "-1", "MiB", "1X", "1e9", "1,5K", "9" * 13])
def test_no_sizes(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no size; write for example 512MiB"):
        size(text)


def test_limits_of_a_run() -> None:
    parser = argparse.ArgumentParser()
    add_limits(parser)
    plain = limits_of(parser.parse_args([]), tokens=5)
    assert (plain.tokens, plain.memory) == (5, MEMORY_LIMIT)
    given = limits_of(parser.parse_args(["--token-limit", "9", "--memory-limit", "1K"]), tokens=5)
    assert (given.tokens, given.memory) == (9, 1024)
