"""``fuseloom what-if``: changes as a table, fronts, and what cannot be asked."""

from __future__ import annotations

import json

import pytest

from fuseloom.cli.main import read_options
from fuseloom.cli.what_if import EXAMPLES
from tests.cli.commands import error, output

GCN = ("what-if", "--model", "gcn", "--preset", "partial")


@pytest.mark.deep  # takes seconds
def test_changes_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--capacities", "2,64", "--lanes", "i=2,4", "--lanes", "k=2", "--set", "alu_latency=9")
    lines = output(capsys, *GCN, *asked).splitlines()
    assert lines[0].split() == ["change", "cycles", "of", "now", "on", "chip,", "bytes"]
    changes = [line.split("  ")[0] for line in lines[1:]]
    assert changes == [
        "as it is", "channels of 2", "channels of 64", "alu_latency 9", "i by 2 lanes",
        "i by 4 lanes", "k by 2 lanes",
    ]  # fmt: skip
    told = json.loads(output(capsys, *GCN, *asked, "--json"))
    assert [v["change"] for v in (told["base"], *told["variants"])] == changes
    assert told["base"]["cycles"] > told["variants"][3]["cycles"]
    estimated = json.loads(output(capsys, "estimate", *GCN[1:], "--json"))
    assert told["base"]["cycles"] == estimated["cycles"]


@pytest.mark.deep
def test_the_front_of_channels(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, *GCN, "--pareto").splitlines()
    assert lines[1].startswith("as it is")
    assert len(lines) > 4
    these = json.loads(output(capsys, *GCN, "--pareto", "--json"))["pareto"]
    every = json.loads(output(capsys, *GCN, "--pareto", "--any-data", "--json"))["pareto"]
    assert these[0]["on_chip"] <= every[0]["on_chip"]
    few = json.loads(output(capsys, *GCN, "--pareto", "--capacities", "2", "--json"))["pareto"]
    assert [v["change"] for v in few] == ["channels of 2"]


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("--lanes", "z=2"), "no region has an index 'z'"),
        (("--set", "colour=2"), "no size 'colour'"),
        (("--capacities", "1"), "too small"),
        (("--pareto", "--lanes", "i=2"), "--pareto is of channels only"),
        (("--any-data",), "--any-data goes with --pareto"),
    ],
)
def test_what_cannot_be_asked(
    asked: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in error(capsys, *GCN, *asked)


@pytest.mark.parametrize("asked", [("--lanes", "i"), ("--set", "a=x"), ("--capacities", "0")])
def test_what_cannot_be_read(asked: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert asked[0] in error(capsys, *GCN, *asked)


@pytest.mark.parametrize("arguments", [("what-if",), GCN])
def test_without_a_change_it_says_what_it_can_do(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    line = error(capsys, *arguments)
    for option in ("--capacities", "--lanes", "--set", "--pareto", "fuseloom what-if --model"):
        assert option in line


def test_the_examples_of_the_help_can_be_read() -> None:
    commands = [line.split() for line in EXAMPLES.splitlines()[1:]]
    assert len(commands) == 4
    for _, *words in commands:
        assert read_options(words).run is not None


def test_so_many_values_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    given = ",".join(["4"] * 101)
    told = error(capsys, "what-if", "--model", "spmv", "--capacities", given)
    assert "101 values, at most 100" in told
