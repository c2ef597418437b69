"""Designs and sessions as plain data: what is read back is equal, and nonsense is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fuseloom.dataflow.why.promises import Promise
from fuseloom.errors import FuseloomError
from fuseloom.results.area import AreaUse
from fuseloom.results.declarations import read
from fuseloom_workbench.state import saving
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.saving import SavedDesign, SavedRun, read_design
from fuseloom_workbench.state.session import Session

from ..outcomes import outcome

CHANGES = (
    lambda s: s.set_schedule("fuse T1..H; fuse T5..Y; parallel i by 4; locate off"),
    lambda s: s.set_schedule("fuse T1..Y where possible; order T1: i,k,p"),
    lambda s: s.set_order(0, ["i", "k", "p", "n"]),
    lambda s: s.set_machine("hbm2") and s.set_capacity("64"),
    lambda s: s.set_machine('base = "ddr4"\nname = "my \\"own\\" one"\nalu_latency = 3'),
    lambda s: s.set_program(str(s.built.program).replace("b2: 4 dense", "b2: 4 compressed")),
    lambda s: s.choose("attention"),
    lambda s: s.choose("gcn", seed=7),
    lambda s: s.set_cuts([1, 2, 3, 4, 5, 6, 7]),
)


def through_text(data):
    return json.loads(json.dumps(data))


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_a_design_reads_back(session, change):
    assert change(session), session.message
    data = through_text(SavedDesign.of(session.design).to_dict())
    assert read_design(data) == session.design


def test_a_session_goes_on_elsewhere(session):
    session.set_order(0, ["i", "k", "p", "n"])
    session.move_boundary(4, 3)
    session.undo()
    session.select_cell("T1", "p")
    session.draw_towards("TB")
    session.fold({"k:T2": True})
    session.draw_whole(True)
    session.compare_graph("global")
    other = Session("spmv")
    saving.restore(other, through_text(saving.save(session)))
    assert other.configuration == session.configuration
    assert other.travels == (True, True)
    assert (other.cell, other.node, other.direction) == (session.cell, session.node, "TB")
    assert other.drawing == session.drawing
    assert other.redo()
    assert other.cuts == (3,)


def test_runs_read_back(session):
    kept = KeptRun.of(session.built, outcome(200, session=session))
    assert saving.unpacked(saving.packed(kept)) == kept
    kept = replace(kept, run=kept.run.with_areas([AreaUse(1_234.5)] * len(kept.run.regions)))
    data = SavedRun.of(kept).to_dict()
    assert read(SavedRun, through_text(data), "run").kept() == kept
    text = saving.packed(kept)
    assert saving.unpacked(text) == kept
    assert 4 * len(text) < len(json.dumps(data))


@pytest.mark.deep  # takes seconds
def test_what_is_saved_is_bounded(session):
    text = str(session.built.program)
    for k in range(60):
        session.set_program(f"{text}\n# {'x' * 90_000}{k}")
    data = saving.save(session)
    assert len(json.dumps(data)) < 2 * saving.TEXT
    assert data["past"][-1]["text"].endswith("58")


def test_promises_read_back(session):
    session.promise(Promise(49_474.0, 14_000.0, 14_106.0, 14_200.0))
    other = Session("spmv")
    saving.restore(other, json.loads(json.dumps(saving.save(session))))
    assert other.promised == session.promised is not None
    other.preset("full")
    assert other.promised is None


GOOD = {
    "version": 1,
    "design": SavedDesign.of(Session("spmv").design).to_dict(),
    "past": [],
    "future": [],
    "look": {},
}


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {**GOOD, "version": 2},
        {**GOOD, "design": None},
        {**GOOD, "design": {**GOOD["design"], "model": "../etc"}},
        {**GOOD, "design": {**GOOD["design"], "data": "/etc/passwd"}},
        {**GOOD, "design": {**GOOD["design"], "cuts": "many"}},
        {**GOOD, "design": {**GOOD["design"], "seed": -1}},
        {**GOOD, "design": {**GOOD["design"], "orders": [1]}},
        {**GOOD, "design": {**GOOD["design"], "schedule": "melt"}},
        {**GOOD, "design": {**GOOD["design"], "machine": "x = ["}},
        {**GOOD, "design": {**GOOD["design"], "text": "A: 3x3 nothing"}},
        {**GOOD, "past": [{"model": "gcn"}]},
        {**GOOD, "promises": {"a": {"least": 3}}},
    ],
    ids=range(15),
)
def test_nonsense_changes_nothing(session, bad):
    before = session.design
    with pytest.raises(FuseloomError):
        saving.restore(session, bad)
    assert session.design == before


@pytest.mark.parametrize(
    "look",
    [{"region": 99, "cell": ["a", "b"], "node": 10**9, "direction": "up", "clusters": 3}, [], "x"],
)
def test_a_look_that_makes_no_sense_is_left_out(session, look):
    saving.restore(session, {**GOOD, "look": look})
    assert session.design.model == "spmv"
    assert session.direction == "LR"
