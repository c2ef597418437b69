"""``fuseloom simulate`` of programs: figures, checks, machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from fuseloom.cli import main
from tests.cli.commands import INTERPRETER, error, file, output, tensors, wrong_by


def test_simulate(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.diag([1, -1, 2, 0]), x=np.ones(4))
    arguments = ("simulate", program, "--tensors", given, *INTERPRETER)
    shown = json.loads(output(capsys, *arguments, "--json"))
    assert shown["name"] == "chain"
    assert shown["check"]["ok"] is True
    assert shown["check"]["max_rel_error"] <= 1e-5
    assert shown["flops"] == 3 + 3 + 3
    assert shown["cycles"] == sum(region["cycles"] for region in shown["regions"])
    assert shown["seconds"] > 0
    lines = output(capsys, *arguments).splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["region", "y", "z", "total", "energy:"]
    assert lines[-1].startswith("matches the dense reference (largest relative error ")
    assert f"{shown['cycles']:,}" in lines[-3]
    energy = shown["energy"]
    assert energy["joules"] == sum(energy["actions"].values())
    assert energy["joules"] == pytest.approx(sum(r["energy"]["joules"] for r in shown["regions"]))
    assert energy["edp"] == energy["joules"] * energy["seconds"]
    assert lines[-2].startswith(f"energy: {1e9 * energy['joules']:.4g} nJ, ")


def test_simulate_prints_the_trace(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "simulate", program, *INTERPRETER, "--trace")
    assert "LS A.i" in text
    assert "y: " in text


def test_a_seed_fixes_random_data(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    def run(seed: str) -> Any:
        arguments = ("simulate", program, "--seed", seed, "--json", *INTERPRETER)
        shown = json.loads(output(capsys, *arguments))
        del shown["seconds"]
        return shown

    assert run("1") == run("1")
    assert run("1") != run("2")


def test_machines_differ(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.ones((4, 4)), x=np.ones(4))

    def run(*options: str) -> Any:
        arguments = ("simulate", program, "--tensors", given, "--json", *INTERPRETER, *options)
        return json.loads(output(capsys, *arguments))

    assert run("--machine", "comal")["machine"]["name"] == "comal"
    assert run()["machine"]["name"] == "default"
    assert run("--capacity", "2")["cycles"] > run("--capacity", "64")["cycles"]


def test_simulate_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("simulate", "--model", "spmm", "--json", *INTERPRETER)
    shown = json.loads(output(capsys, *arguments))
    assert [region["name"] for region in shown["regions"]] == ["T"]
    assert shown["check"]["ok"] is True


def test_what_was_simulated_is_shown_though_no_check_can_be_made(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fuseloom.dataflow.sim.checking.evaluate_rounded", Mock(side_effect=MemoryError)
    )
    assert main(["simulate", program, *INTERPRETER]) == 0
    shown = capsys.readouterr().out
    assert " cycles" in shown
    assert "not compared; not checked: " in shown
    assert "y (its meaning does not fit into memory)" in shown


def test_a_wrong_result_is_code_1(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_by(0.5, monkeypatch)
    assert main(["simulate", program, *INTERPRETER]) == 1
    shown = capsys.readouterr().out
    assert "MISMATCH: an element is " in shown
    assert "times as far off as rounding allows (largest relative error 5.0e-01)" in shown
    assert main(["simulate", program, *INTERPRETER, "--no-check"]) == 0
    assert "not checked; simulated in" in capsys.readouterr().out


def test_computed_capacities(capsys) -> None:
    command = ["simulate", "--model", "attention", "--preset", "full", "--capacity", "sized"]
    assert main(command) == 0
    assert "matches the dense reference" in capsys.readouterr().out
    assert main(["simulate", "--sam", "x.gv", "--tensors", "x.npz", "--capacity", "sized"]) == 2
    assert "'sized' goes with a program" in capsys.readouterr().err


def test_an_output_in_another_format_than_it_is_written_in_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (("dense", True), ("csf", False)):
        text = f"A: 3x4 csr\nY: 3x4 {name}\nY[i,j] = 2 * A[i,j]\n"
        path = file(tmp_path, "p.loom", text)
        shown = output(capsys, "simulate", path, *INTERPRETER)
        assert ("Y is written compressed, and converted to dense after the run" in shown) is said


@pytest.mark.deep  # takes seconds
def test_the_hint_of_a_deadlock_names_sized_channels(capsys: pytest.CaptureFixture[str]) -> None:
    deadlock = ("simulate", "--model", "gcn", "--capacity", "2", "--engine", "interpreter")
    line = error(capsys, *deadlock)
    assert "deadlock" in line
    assert "--capacity sized" in line
    assert "more capacity" in line
    sized = (*deadlock[:4], "sized", *deadlock[5:])
    assert "matches" in output(capsys, *sized)
