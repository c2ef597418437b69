"""The answer, changes, the flame view and the difference, as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fuseloom.dataflow.sim.explain.data import PAGE, observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.results.check import Check
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.why.view import SHOWN, view

from ..outcomes import outcome
from .answered import found, fused, looked, run_of


def sums(piece):
    """Return whether every piece is the sum of its parts."""
    if not piece["parts"]:
        return True
    return sum(p["cycles"] for p in piece["parts"]) == piece["cycles"] and all(
        map(sums, piece["parts"])
    )


@pytest.mark.deep  # takes seconds
def test_the_answer_leads():
    told = view(fused(), found())
    assert told["answer"]["cause"] == "recomputed"
    assert "156 rows of H instead of 34" in told["answer"]["rest"]
    assert "cycles more than partial (A)" in told["answer"]["rest"]
    assert json.loads(json.dumps(told)) == told


def test_two_buttons_of_different_kinds():
    first, second = view(fused(), found())["buttons"]
    assert first["text"] == "Cut before A·H"
    assert first["promise"].startswith("est. 1")
    assert first["applies"]
    assert second["hardware"]
    assert "whatever happens" in first["sentence"]


def test_the_table_of_what_is_computed_again():
    rows = {row["tensor"]: row for row in view(fused(), found())["recomputed"]}
    assert (rows["T1"]["made"], rows["T1"]["needed"]) == ("41,208", "5,304")
    assert (rows["T1"]["factor"], rows["H"]["factor"]) == ("7.8×", "4.6×")
    assert rows["H"]["rows"] == "156 instead of 34"
    assert rows["T2"]["kernel"] == "·W1"


def test_the_flame_view_adds_up_and_is_bounded():
    flame = view(fused(), found())["flame"]
    assert flame["cycles"] == 49_474
    assert sums(flame)
    region = flame["parts"][0]
    assert region["parts"][0]["name"] == "T2, ·W1"
    node = region["parts"][0]["parts"][0]["parts"][0]
    assert (node["name"], node["colour"], node["region"]) == ("Acc1_p", "acc", 0)
    assert node["parts"][0]["colour"] == "busy"

    def pieces(piece):
        yield piece
        for part in piece["parts"]:
            yield from pieces(part)

    for piece in pieces(flame):
        small = piece["cycles"] < SHOWN * flame["cycles"]
        assert not small or piece["level"] in ("rest", "region")


def test_the_difference_adds_up_in_each_table():
    told = view(fused(), found())["difference"]
    a, b, more = told["cycles"]
    assert (a, b) == (f"{fused().reference.run.cycles:,}", "49,474")
    for table in told["tables"]:
        total = sum(int(r["more"].replace(",", "").replace("−", "-")) for r in table["rows"])
        assert f"{total:+,}" == more
    assert told["tables"][0]["rows"][0]["name"] == "T2, ·W1"


def test_before_anything_was_found_the_flame_is_there():
    told = view(fused(), None)
    assert not told["ready"]
    assert told["answer"] is None
    assert told["flame"]["cycles"] == 49_474
    assert told["difference"] is None


def test_a_promise_is_told_and_then_whether_it_held():
    session = fused()
    session.suggested = {s.text: s for s in found().suggestions}
    session.forget(0)  # the run of what is suggested
    assert session.apply_suggestion("Cut before A·H")
    assert "Cut before A·H: est. 1" in session.message
    assert [r.name for r in session.regions] == ["T1..H", "T5..Y"]
    assert view(session, None)["promise"]["verdict"] == ""
    record = run_of(session)
    session.finish(session.built, record)
    told = view(session, looked(session))["promise"]
    assert (told["verdict"], told["held"]) == ("held", True)
    slow = replace(record.regions[0], cycles=record.regions[0].cycles * 2, path=None)
    session.finish(session.built, replace(record, regions=(slow, *record.regions[1:])))
    assert view(session, None)["promise"]["verdict"].startswith("missed by")
    assert session.undo()
    assert view(session, None)["promise"] is None


def test_what_is_not_suggested_is_refused():
    session = fused()
    session.suggested = {s.text: s for s in found().suggestions}
    before = session.design
    assert not session.apply_suggestion("Melt it")
    assert "not suggested any more" in session.message
    assert not session.apply_suggestion("Acc1_p twice as fast")
    assert session.design == before


def test_a_run_that_was_not_explained(session):
    session.finish(session.built, outcome(session=session))
    told = view(session, looked(session))
    assert not told["explained"]
    assert [p["parts"][0]["name"] for p in told["flame"]["parts"] if p["parts"]] == [
        "not explained"
    ]


@pytest.mark.parametrize(("machine", "way"), [("comal", "machine"), ("default", "report")])
def test_a_wrong_result_is_not_explained(machine, way):
    session = Session("spmv", "random")
    session.set_machine(machine)
    run = simulate(
        session.compilation, session.built.data, session.machine, observe=observation(True)
    )
    record = program_record(run, run.check(), PAGE)
    wrong = Check(0.25, False, None, share=2.0, wrong="y[1] is stored, and should not be")
    session.finish(session.built, replace(record, check=wrong))
    told = view(session, looked(session))
    assert told["wrong"] == way
    assert told["answer"]["cause"] == "wrong"
    assert "y[1] is stored, and should not be" in told["answer"]["rest"]
    assert (told["buttons"], told["suggestions"], told["promise"]) == ([], [], None)


def test_on_a_right_result_nothing_is_wrong():
    assert view(fused(), found())["wrong"] == ""
