"""Sizes and limits as people write them on a command line."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from fuseloom.cli.limits import add_limits, limits_of, size
from fuseloom.dataflow.sim.reports import MEMORY_LIMIT
from tests.cli.commands import error, file


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


MADE_UP = (
    ("inputs", "A: 8000x8000 csr\nx: 8000 dense\ny[i] = A[i,j] * x[j]\n",
     "64,008,000 elements, too many to make up at random (limit 16,777,216)"),
    ("tokens", "a: 3000 dense\nb: 3000 dense\nc: 3000 dense\ns = product(a[i], b[j], c[k])\n",
     "more than 100,000,000 tokens (hint: raise it by --token-limit, or use smaller data)"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in MADE_UP], ids=lambda _: "")
def test_a_program_file_on_random_data_has_limits(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are told before much is made, with the way out."""
    path = file(tmp_path, "large.loom", text)
    told = error(capsys, "simulate", path, "--orders", "first", "--json")
    assert message in told


def test_single_tensors_made_up_count_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path, "large.loom", MADE_UP[0][1])
    told = error(capsys, "estimate", path, "--tensors", "A=random", "--tensors", "x=random")
    assert "too many to make up" in told


def test_so_has_its_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file(tmp_path, "large.loom", "a: 30000 dense\nb: 30000 dense\nC[i,j] = a[i] * b[j]\n")
    limits = ("--token-limit", str(10**12), "--orders", "first", "--json")
    told = error(capsys, "simulate", path, *limits)
    assert "needs more than 512 MiB" in told
    assert "raise it by --memory-limit" in told
