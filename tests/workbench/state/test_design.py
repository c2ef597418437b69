"""Which data a design can have, and where they come from."""

from __future__ import annotations

from dataclasses import replace

import fuseloom as fl
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import ranked
from fuseloom.models import load_model
from fuseloom.models.datasets import GRAPHS, VARIABLE
from fuseloom_workbench.orders.view import candidates
from fuseloom_workbench.state.design import Design, build, schedule_of
from fuseloom_workbench.state.edits import with_order
from fuseloom_workbench.state.sources import fitting_data, source

PRESET = load_model("attention").presets["full"]


def test_large_graphs_are_left_out():
    offered = set(fitting_data("gcn")) & set(GRAPHS)
    assert offered == {"cora", "cora_ml", "dblp"}
    assert not set(fitting_data("spmv")) & set(GRAPHS)


def test_graphs_come_from_the_folder_of_data(session, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert not session.choose("gcn", "cora_ml")
    assert "there is no folder" in session.message
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert session.choose("gcn", "cora_ml"), session.message
    assert session.built.loaded.standin  # the folder has none


def test_a_design_keeps_that_regions_may_be_cut_further() -> None:
    for end in ("", " where possible"):
        schedule = Schedule.parse(f"fuse T1..Y{end}")
        design = Design.scheduled("gcn", "karate", 0, schedule)
        program = source("gcn", "karate", 0, None).model.program
        assert schedule_of(program, design) == schedule
        assert str(schedule_of(program, design)).endswith(f"T1..Y{end}")


def test_orders_left_open_are_the_best_and_chosen_ones_stay() -> None:
    design = Design.scheduled("attention", "random", 0, Schedule.parse(PRESET))
    best = build(design)
    first = best.fused.regions[0]
    assert best.estimate.cycles < fl.estimate(best.fused, best.data).cycles / 2
    assert best.region_order(0) != first.own_order
    named = build(with_order(design, first.name, first.own_order))
    assert named.region_order(0) == first.own_order
    assert named.configuration != best.configuration
    shown = list(ranked(list(candidates(best, 0, 40))))
    assert shown[0].covers(best.region_order(0))


def test_another_machine_is_judged_by_another_estimate() -> None:
    design = Design.scheduled("gcn", "karate", 0, Schedule.parse("fuse T1..H"))
    plain = build(design)
    slow = build(replace(design, machine=Machine.preset("hbm2")), plain)
    assert slow.fused is plain.fused
    assert slow.estimate.cycles > plain.estimate.cycles
