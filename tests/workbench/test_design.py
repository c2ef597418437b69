"""Which data a design can have, and where they come from."""

from __future__ import annotations

from engine.dataflow.fusion.schedule import Schedule
from engine.models.datasets import GRAPHS, VARIABLE
from workbench.design import Design, fitting_data, schedule_of, source


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
