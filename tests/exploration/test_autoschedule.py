"""The best schedule of a program: never worse than its presets, and reasons that are numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.errors import FuseloomError, InternalError
from fuseloom.exploration.autoschedule import autoschedule
from fuseloom.models import load
from fuseloom.results.check import Check


@pytest.mark.parametrize(
    ("name", "data"),
    [("gcn", "karate"), pytest.param("gpt3", "random", marks=pytest.mark.deep)],
)
def test_never_worse_than_a_preset(name: str, data: str) -> None:
    model, tensors = load(name, data)
    found = autoschedule(model.program, tensors, presets=model.presets, gap=0.5, time_limit=3)
    assert found.run.check().ok
    for text in model.presets.values():
        made = fl.best_orders(fl.compile(model.program, text), tensors)
        assert found.cycles <= fl.simulate(made.compilation, tensors).cycles
    assert found.cycles == fl.simulate(fl.compile(model.program, found.schedule), tensors).cycles
    assert any("one by one take" in reason for reason in found.reasons)


def test_a_schedule_with_wrong_results_is_reported_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FUSELOOM_REPORTS", str(tmp_path))
    program = fl.parse("A: 4x4 csr\nB: 4x4 csr\nT[i,j] = A[i,j] * B[i,j]\nU[i,j] = relu(T[i,j])")
    data = {"A": np.eye(4), "B": np.eye(4)}
    check = Run.check

    def wrong_if_fused(run: Run, memory: int | None = None) -> Check:
        fused = len(run.compilation.regions) < 2
        return replace(check(run, memory), share=2.0) if fused else check(run, memory)

    monkeypatch.setattr(Run, "check", wrong_if_fused)
    found = autoschedule(program, data, time_limit=5)
    assert "fuse" not in found.schedule
    assert len(found.run.compilation.regions) == 2
    assert any("gives wrong results" in reason for reason in found.reasons)
    (report,) = tmp_path.glob("*.json")
    assert "fuse T..U" in report.read_text(encoding="utf-8")

    monkeypatch.setattr(Run, "check", lambda run, memory=None: replace(check(run), share=2.0))
    with pytest.raises(InternalError, match="gives wrong results"):
        autoschedule(program, data, time_limit=5)


def test_why_not_another() -> None:
    model, tensors = load("gcn", "karate")
    found = autoschedule(model.program, tensors, presets=model.presets, gap=0.5, time_limit=2)
    assert "cycles" in found.why(model.presets["unfused"])
    assert found.why(model.presets["unfused"]).startswith("removed by its")
    assert "'fuse Y..T1' runs backwards" in found.why("fuse Y..T1")
    assert found.why("order T1..T1: k,p").startswith("not legal")
    assert found.why(found.schedule).startswith("as good as the best")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 0}, "a budget of 0 lanes"),
        ({"lanes": 65_536}, "a budget of 65,536 lanes .hint: from 1 to 256"),
        ({"on_chip": -1.0}, "bytes on chip"),
        ({"copies": -1}, "a budget of -1 copies"),
        ({"gap": 1.0}, "a gap of 1.0"),
        ({"time_limit": 0.0}, "a time limit of 0.0 s"),
        ({"on_chip": 0.0, "time_limit": 0.5}, "no schedule was found .on-chip: T1"),
        ({"also": ["parallel i by 4"]}, "'parallel i by 4' is searched"),
        ({"also": [""]}, "nothing that could hold"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    model, tensors = load("gcn", "karate")
    with pytest.raises(FuseloomError, match=message):
        autoschedule(model.program, tensors, **options)


def test_why_nothing_fits_on_chip_does_not_name_what_was_looked_at_before() -> None:
    model, tensors = load("gcn", "karate")
    with pytest.raises(FuseloomError, match="on-chip") as caught:
        autoschedule(model.program, tensors, on_chip=0.0, time_limit=0.5)
    assert "same graph" not in caught.value.message


def test_programs_of_thousands_of_statements_are_refused() -> None:
    lines = [f"T{k + 1}[i] = relu(T{k}[i])" for k in range(2_001)]
    program = fl.parse("\n".join(["T0: 2 dense", *lines]))
    with pytest.raises(FuseloomError, match="2,001 statements are too many to search"):
        autoschedule(program, {"T0": np.ones(2)})


@pytest.mark.parametrize("length", [120, pytest.param(400, marks=pytest.mark.fuzz)])
def test_a_long_chain_is_searched_in_time(length: int) -> None:
    lines = [f"T{k + 1}[i] = relu(T{k}[i])" for k in range(length)]
    program = fl.parse("\n".join(["T0: 2 dense", *lines]))
    found = autoschedule(program, {"T0": np.ones(2)}, time_limit=length / 80)
    assert found.run.check().ok
    assert found.certificate.bound <= found.cycles
    assert found.space.schedules >= 1


def test_without_time_to_count_there_is_one_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dataflow, "size", lambda *_: (0, False))
    model, tensors = load("spmv", "random")
    found = autoschedule(model.program, tensors)
    assert str(found.space) == "at least 1 schedule"


@pytest.mark.parametrize("base", ["global", "global T1..T2", "block 2", "store dense", "strict on"])
def test_what_is_found_under_settings_runs_as_found(base: str) -> None:
    model, tensors = load("gcn", "karate")
    found = autoschedule(model.program, tensors, base=base, gap=0.9, time_limit=3)
    again = fl.simulate(fl.compile(model.program, found.schedule), tensors)
    assert again.cycles == found.cycles
    searched = fl.simulate(fl.compile(model.program, found.best.schedule), tensors)
    assert searched.cycles == found.best.cost.cycles
    assert base in found.schedule.split("; ")
    assert again.check().ok


def test_settings_are_tried_and_the_proof_covers_them() -> None:
    model, tensors = load("spmm", "random")
    plain = autoschedule(model.program, tensors, gap=0)
    both = autoschedule(model.program, tensors, gap=0, also=["block 2", "repeat references"])
    assert both.cycles < plain.cycles
    assert "block 2" in both.schedule
    assert both.certificate.gap == 0
    assert both.space.schedules == 3 * plain.space.schedules
    assert both.space.exact
    assert autoschedule(model.program, tensors, gap=0, also=["strict on"]).cycles == plain.cycles


def test_channels_that_no_data_can_deadlock_hold_for_all() -> None:
    model, tensors = load("attention", "random")
    found = autoschedule(model.program, tensors, sized=True, gap=0.5, presets=model.presets)
    made = fl.compile(model.program, found.schedule).sized()
    assert fl.simulate(made, tensors).cycles == found.cycles


def test_none_of_the_choices_is_beaten() -> None:
    model, tensors = load("attention", "random")
    found = autoschedule(model.program, tensors, lanes=2, pareto=True, time_limit=3)
    assert found.choices
    costs = [choice.cost for choice in found.choices]
    for cost in costs:
        assert sum(other.no_worse(cost) for other in costs) == 1
    for choice in [c for c in found.choices if c.simulated][:3]:
        run = fl.simulate(fl.compile(model.program, choice.schedule), tensors)
        assert (run.cycles, run.work.bytes) == (choice.cost.cycles, choice.cost.bytes)
    assert min(cost.lanes for cost in costs) == 1


def test_presets_within_a_budget_are_compared() -> None:
    model, tensors = load("gcn", "karate")
    found = autoschedule(
        model.program, tensors, presets=model.presets, lanes=2, gap=0.9, time_limit=1
    )
    for text in model.presets.values():
        made = fl.best_orders(fl.compile(model.program, text), tensors)
        assert found.cycles <= fl.simulate(made.compilation, tensors).cycles


def test_why_not_a_schedule_in_blocks() -> None:
    model, tensors = load("gcn", "karate")
    found = autoschedule(model.program, tensors, base="block 2", gap=0.9, time_limit=2)
    assert not found.why("block 2; fuse T1..H").startswith("not legal")
    assert not found.why("fuse T1..H").startswith("not legal")


def test_it_can_be_cancelled() -> None:
    model, tensors = load("gcn", "karate")
    with pytest.raises(FuseloomError, match="cancelled"):
        autoschedule(model.program, tensors, progress=lambda cycles, text: False)


def test_nothing_is_proved_where_regions_are_not_independent() -> None:
    model, tensors = load("spmm", "random")
    found = autoschedule(model.program, tensors, machine=fl.Machine.preset("comal"))
    assert found.certificate.bound == 0
    assert not found.certificate.complete
    assert any("nothing is proved on this machine" in reason for reason in found.reasons)


@pytest.mark.parametrize(("width", "told"), [(3, False), (9, True)])
def test_what_was_not_searched_is_told(width: int, told: bool) -> None:
    """Nine statements that do not need each other have 512 order ideals: too many."""
    lines = [f"T{k}[i] = relu(A[i])" for k in range(width)]
    names = ", ".join(f"T{k}" for k in range(width))
    program = fl.parse("\n".join(["A: 2 dense", *lines, f"output {names}"]))
    found = autoschedule(program, {"A": np.ones(2)}, gap=0.9, time_limit=1)
    unsearched = found.certificate.to_dict()["unsearched"]
    assert "other machines" in unsearched
    assert any("not neighbours" in text for text in unsearched) == told
    assert any("not neighbours" in text for text in found.reasons) == told
