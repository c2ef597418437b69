"""Two designs beside each other as plain data: every figure is that of its design alone."""

from __future__ import annotations

import pytest

from fuseloom_workbench.compare.view import view
from fuseloom_workbench.state.beside import beside, compare
from fuseloom_workbench.state.session import Session
from tests.workbench.outcomes import outcome

PAIRS = [("gcn", "preset unfused"), ("gcn", "preset full"), ("graphsage", "preset unfused")]


def figures(session: Session) -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in view(session)["figures"]}


def number(text: str) -> int:
    return int(text.split(" (")[0].replace(",", "").replace("−", "-").replace("±", ""))


@pytest.mark.parametrize(("model", "key"), PAIRS)
def test_estimates_are_those_of_each_design_and_parts_add_up(model, key):
    session = Session(model)
    compare(session, key)
    rows = figures(session)
    total = rows["cycles, estimated"]
    assert number(total["right"]) == round(session.estimate.cycles)
    assert number(total["left"]) == round(beside(session).estimate.cycles)
    for side in ("left", "right"):
        parts = [number(row[side]) for row in rows.values() if row.get("part")]
        assert len(parts) == 4
        assert sum(parts) == pytest.approx(number(total[side]), abs=2)
    changes = [number(row["change"]) for row in rows.values() if row.get("part")]
    assert sum(changes) == pytest.approx(number(total["change"]), abs=4)


def test_less_is_better_where_it_is_and_what_is_unknown_is_no_number():
    session = Session("gcn", "karate")
    compare(session, "preset unfused")
    rows = figures(session)
    assert rows["cycles, simulated"] | {"help": ""} == {
        "help": "", "name": "cycles, simulated", "left": "—", "right": "—", "change": "",
        "verdict": "",
    }  # fmt: skip
    assert rows["cycles, estimated"]["verdict"] == "better"
    assert rows["regions"]["verdict"] == "", "fewer regions are not better by themselves"
    session.finish(session.built, outcome(session=session, cycles=123))
    assert figures(session)["cycles, simulated"]["right"] == "123"


def test_schedules_are_beside_each_other_line_by_line():
    session = Session("gcn", "karate")
    session.set_schedule("fuse T1..H; fuse T5..Y; parallel T1..H: i by 4")
    compare(session, "preset partial")
    rows = view(session)["schedule"]
    assert ("fuse T1..H", "fuse T1..H", "same") in rows
    assert [right for _, right, state in rows if state == "changed" and "parallel" in right]
    left = [text for text, _, _ in rows if text]
    right = [text for _, text, _ in rows if text]
    assert "; ".join(left) == beside(session).built.resolved
    assert "; ".join(right) == session.built.resolved


def test_every_kernel_lies_in_the_region_of_its_design():
    session = Session("gcn", "karate")
    compare(session, "preset unfused")
    left, right = view(session)["sides"]
    assert [name for name, _ in left["kernels"]] == [name for name, _ in right["kernels"]]
    assert len(left["regions"]) == len(beside(session).regions)
    assert {number for _, number in right["kernels"]} == set(range(len(session.regions)))


def test_the_same_design_is_said_to_be_the_same():
    session = Session("gcn", "karate")
    compare(session, "preset partial")
    found = view(session)
    assert found["same"]
    assert {state for _, _, state in found["schedule"]} == {"same"}
