"""``fuseloom compare``: rows, JSON, examples by name, commands that give a row again."""

from __future__ import annotations

import json
import shlex

import pytest

from fuseloom.cli import main
from fuseloom.cli.compare import EXAMPLES
from fuseloom.cli.limits import limits_of
from fuseloom.cli.main import read_options
from fuseloom.comparison.compare import ROUNDS, SECONDS
from fuseloom.dataflow.sim.reports import Limits

QUICK = ("--time-limit", "200ms", "--rounds", "1")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")


def rows(capsys, *words):
    assert main(["compare", *words, *QUICK, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["rows"]


def test_rows_of_two_systems(capsys):
    found = rows(capsys, "--model", "attention", "--system", "dataflow", "--system", "stitch")
    assert [row["way"] for row in found] == [
        "unfused", "partial", "full", "found", "XLA's rules", "stitched",
    ]  # fmt: skip
    full, stitched = found[2], found[5]
    assert (full["kernels"], full["simulated_cycles"], full["bytes_between"]) == (1, 144, 0)
    assert full["measured_seconds"] is None
    assert not stitched["applies"]
    assert "a maximum skips elements that C lacks" in stitched["reason"]


def test_a_command_gives_its_row_again(capsys):
    first = rows(capsys, "gcn_layer", "--array", "8x8", "--system=access", "--again")
    words = shlex.split(first[0]["command"])
    assert words[:2] == ["fuseloom", "compare"]
    assert "--json" not in words
    assert main([*words[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == first


def test_a_table_for_people(capsys):
    assert main(["compare", "mttkrp", "--system", "access", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "T, M on the array" in out
    assert "cycles" in out


def test_a_preset_or_a_schedule_alone(capsys, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("fuse P..O", encoding="utf-8")
    model = ("--model", "attention", "--system", "dataflow")
    assert [row["way"] for row in rows(capsys, *model, "--preset", "full")] == [
        "unfused", "full", "found",
    ]  # fmt: skip
    ways = [row["way"] for row in rows(capsys, *model, "--schedule", str(path))]
    assert ways == ["unfused", "mine", "found"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mttkrpp",), "mttkrpp"),
        (("--model", "attention", "--array", "8"), "'8' is no array"),
        (("--model", "attention", "--rounds", "0"), "must be at least 1"),
        (("--model", "attention", "--orders", "first"), "goes with other commands"),
        (("--model", "attention", "--capacity", "sized"), "depends on the schedule"),
        (("--model", "attention", "--system", "glenside"), "invalid choice"),
    ],
)
def test_bad_input_is_one_message(capsys, words, message):
    with_limit = ["compare", *words]
    try:
        code = main(with_limit)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told


def test_defaults_are_those_of_the_function():
    """The page, which takes these, and the command know each other's rows."""
    options = read_options(["compare", "gcn_layer"])
    assert (options.time_limit, options.rounds) == (SECONDS, ROUNDS)
    limits = limits_of(options)
    assert (limits.tokens, limits.memory) == (Limits().tokens, Limits().memory)


def test_examples_are_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    out = capsys.readouterr().out
    assert all(name in out for name in EXAMPLES)


def test_rows_are_kept_as_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.db"))
    made = rows(capsys, "gcn_layer", "--array", "8x8", "--keep")
    assert all("--keep" not in row["command"] for row in made)
    assert main(["runs", "list", "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["runs"]
    assert len(kept) == sum(row["applies"] for row in made)
    cycles = {row["simulated_cycles"] for row in made if row["simulated_cycles"]}
    assert cycles <= {one["cycles"] for one in kept}


def test_dataflow_alone_has_no_conversion(capsys):
    words = ("compare", "gcn_layer", "--conversions", "--system", "dataflow")
    assert main([*words]) == 2
    assert "runs programs as they are" in capsys.readouterr().err
    assert main([*words, "--system", "calls"]) == 0
    assert "A (csr) becomes dense" in capsys.readouterr().out
