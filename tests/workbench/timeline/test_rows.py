"""Rows of the timeline."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.rows import ELSEWHERE, TimelineRow, begins, rows_of, shown_runs

from .conftest import run


def test_every_node_of_both_runs_is_in_one_row(compared: Session) -> None:
    here, there = shown_runs(compared)
    made = rows_of(compared)
    for kept, places in (
        (here, [row.here for row in made.rows if row.here]),
        (there, [row.there for row in made.rows if row.there]),
    ):
        nodes = [
            (number, row["node"])
            for number, region in enumerate(kept.run.regions)
            for row in region.nodes
        ]
        assert sorted(places) == nodes
    assert all(row.here or row.there for row in made.rows)


def test_rows_of_a_kernel_are_together_in_the_order_of_the_program(compared: Session) -> None:
    made = rows_of(compared)
    numbers = [row.group for row in made.rows]
    assert numbers == sorted(numbers)
    assert made.groups[0] == ELSEWHERE
    units = [unit.name for unit in compared.built.units]
    assert list(made.groups[1:]) == [name for name in units if name in made.groups]
    within = [row.here for row in made.rows if row.here and made.groups[row.group] == "A·X"]
    assert within == sorted(within)


def test_the_same_nodes_of_both_runs_share_a_row(compared: Session) -> None:
    made = rows_of(compared)

    def row(label: str) -> TimelineRow:
        (found,) = (r for r in made.rows if r.label == label)
        return found

    here, there = shown_runs(compared)
    for label in ("Acc1_p", "* T1", "* T5", "relu H"):
        both = row(label)
        for kept, place in ((here, both.here), (there, both.there)):
            assert kept.run.regions[place[0]].rows[place[1]]["label"] == label
    assert made.groups[row("relu H").group] == "relu"


def test_ports_of_the_memory_follow_whom_they_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    kept = run(session, events=False)
    made = rows_of(session)
    ports = 0
    for before, row in zip(made.rows, made.rows[1:], strict=False):
        told = kept.run.regions[row.here[0]].rows[row.here[1]]
        if told["owner"] != told["node"]:
            ports += 1
            region = kept.run.regions[before.here[0]]
            assert region.rows[before.here[1]]["owner"] == told["owner"]
            assert before.here[0] == row.here[0]
    assert ports


def test_a_run_of_another_problem_is_no_run_a(compared: Session) -> None:
    other = Session("spmv")
    assert shown_runs(other) == (None, None)
    run(other, events=False)
    other.records = {**other.records, **compared.records}
    other.pinned = compared.pinned
    assert shown_runs(other) == (other.record, None)
    other.pinned = other.record.configuration
    assert shown_runs(other) == (other.record, None)


def test_regions_begin_one_after_another(compared: Session) -> None:
    _, there = shown_runs(compared)
    first, second = there.run.regions
    assert begins(there.run) == [0, first.cycles]
    assert there.run.cycles == first.cycles + second.cycles
