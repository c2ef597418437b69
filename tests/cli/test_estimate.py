"""``fuseloom estimate``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.cli import main
from fuseloom.dataflow.space.design_costs import region_areas
from tests.cli.commands import output, tensors


def test_estimate(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.eye(4), x=np.ones(4))
    lines = output(capsys, "estimate", program, "--tensors", given).splitlines()
    assert [line.split()[0] for line in lines] == [
        "region",
        "y",
        "z",
        "total",
        "energy:",
        "rests",
        "between",
    ]
    shown = json.loads(output(capsys, "estimate", program, "--tensors", given, "--json"))
    assert shown["statistics"] is None
    assert shown["flops"] == 4 + 4 + 4  # products, sums, relus
    assert [region["name"] for region in shown["regions"]] == ["y", "z"]
    energy = shown["energy"]
    assert energy["joules"] == pytest.approx(sum(r["energy"]["joules"] for r in shown["regions"]))
    simulated = ("simulate", program, "--tensors", given, "--json")
    run = json.loads(output(capsys, *simulated))["energy"]
    assert energy["actions"] == pytest.approx(run["actions"])


def test_the_area_is_that_of_the_graphs(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tensors(tmp_path, A=np.eye(4), x=np.ones(4))
    asked = ("estimate", program, "--tensors", given, "--machine", "size-S")
    bare = json.loads(output(capsys, *asked, "--json"))
    assert [region["area"] for region in (bare, *bare["regions"])] == [None] * 3
    shown = json.loads(output(capsys, *asked, "--area", "--json"))
    compiled = fl.compile(fl.parse(Path(program).read_text()))
    areas = region_areas(compiled, fl.Machine.preset("size-S"))
    assert [region["area"] for region in shown["regions"]] == [one.to_dict() for one in areas]
    assert shown["area"]["luts"] == max(area.luts or 0.0 for area in areas) > 0
    text = output(capsys, *asked, "--area")
    assert f"area: {shown['area']['luts']:,.0f} LUTs" in text
    unknown = output(capsys, "estimate", program, "--tensors", given, "--area",
                     "--machine", "comal")  # fmt: skip
    assert "area: not known: " in unknown
    assert "copies deviations" in unknown


def test_what_it_rests_on_the_bound_and_where_numbers_come_from(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tensors(tmp_path, A=np.eye(4), x=np.ones(4))
    text = output(capsys, "estimate", program, "--tensors", given, "--bound", "--explain")
    assert "rests on the graph executed on coordinates" in text
    assert "no run takes fewer than" in text
    assert "cycles (19 times out of 20)" in text
    assert "region y, from the graph executed on coordinates" in text
    assert "tensor A: 4 elements = stored in the data" in text
    assert "energy of region y, from the graph executed on coordinates" in text
    assert "operations = exact: as a run counts it" in text
    rough = ("estimate", program, "--tensors", given, "--mode", "metadata", "--bound")
    assert "no bound is known" in output(capsys, *rough)
    shown = json.loads(output(capsys, *rough, "--json", "--explain"))
    assert shown["least"] is None
    assert shown["low"] < shown["cycles"] < shown["high"]
    assert [region["mode"] for region in shown["regions"]] == ["metadata", "metadata"]
    assert shown["explanation"][0]["unit"] == "cycles"
    energies = [why["value"] for why in shown["explanation"] if why["unit"] == "J"]
    assert energies == [region["energy"]["joules"] for region in shown["regions"]]


@pytest.mark.deep  # takes seconds
def test_an_estimate_is_of_the_machine_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    model = ("--model", "gcn", "--preset", "partial", "--json")
    cycles = [
        json.loads(output(capsys, "estimate", *model, *machine))["cycles"]
        for machine in ((), ("--machine", "hbm2"), ("--capacity", "sized"))
    ]
    assert cycles[0] < min(cycles[1:])
    runs = json.loads(output(capsys, "simulate", *model, "--machine", "hbm2"))["cycles"]
    assert cycles[1] == pytest.approx(runs, rel=0.2)


@pytest.mark.deep
def test_what_was_not_ranked_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--model", "gpt3", "--preset", "full"]) == 0
    assert "were ranked" in capsys.readouterr().err
    assert main(["estimate", "--model", "gpt3", "--preset", "full", "--orders", "first"]) == 0
    assert capsys.readouterr().err == ""
