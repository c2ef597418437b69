"""Requirements on schedules: read, refused, and kept by what a search finds."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.space.requirements import KINDS, Requirements, parse_requirement
from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom.exploration.autoschedule import autoschedule
from fuseloom.results.method import Budget, Part, every

GCN, DATA = fl.load("gcn", "karate")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no kind of requirement"),
        ("melt T1 T2", "is no kind of requirement"),
        ("fuse T1", "too few names"),
        ("fuse T1 T1", "one twice"),
        ("split T1 A", "nothing assigns A"),
        ("fuse T1 T22", "nothing assigns T22"),
        ("keep Y", "Y is a result of the program"),
        ("order z", "no statement has the index z"),
        ("keep", "too few names"),
    ],
)
def test_what_is_no_requirement_is_refused(text: str, told: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        parse_requirement(text, GCN.program)
    assert told in str(caught.value)
    assert caught.value.hint


def test_what_a_region_breaks_is_told() -> None:
    rules = Requirements(["fuse T1, T2", "split T2 T3", "keep H", "order i"], GCN.program)

    def reason(*assigned: str) -> str:
        refused = rules.refusal(frozenset(assigned), "R")
        return "" if refused is None else refused.reason

    assert reason("T1") == "R: 'fuse T1 T2': it has T1 but not T2"
    assert reason("T1", "T2", "T3") == "R: 'split T2 T3': it has both T2 and T3"
    assert reason("H") == "R: 'keep H': H would be written to memory, for T5"
    assert reason("T1", "T2") == reason("H", "T5") == reason("T3") == ""
    assert rules.each[-1].order_breach(("k", "i")) == "order k,i does not begin with i"
    assert not rules.each[-1].order_breach(("i", "k"))
    assert not rules.each[-1].order_breach(("k", "m"))


@pytest.mark.deep
@pytest.mark.parametrize(
    "texts", [["split T2 T3"], ["fuse T1 H"], ["keep H", "split T7 x"], ["order i"]]
)
def test_what_is_found_keeps_them_and_none_that_does_is_better(texts: list[str]) -> None:
    found = autoschedule(
        GCN.program, DATA, requirements=texts, presets=GCN.presets, gap=0, time_limit=60
    )
    rules = Requirements(texts, GCN.program)
    assert rules.keeps(compile_program(GCN.program, found.schedule))
    free = autoschedule(GCN.program, DATA, presets=GCN.presets, gap=0, time_limit=60)
    assert found.cycles >= free.cycles
    if rules.keeps(compile_program(GCN.program, free.schedule)):
        assert found.cycles == free.cycles


def test_where_none_is_left_the_rule_is_told() -> None:
    spmm, data = fl.load("spmm", "random")
    with pytest.raises(FuseloomError, match="requirement: 'order k'"):
        autoschedule(spmm.program, data, requirements=["order k"])


def test_the_space_has_only_what_keeps_them() -> None:
    spmm, data = fl.load("spmm", "random")
    free = Dataflow(spmm.program, data)
    bound = Dataflow(spmm.program, data, requirements=["order i k"])
    units = (0,)
    orders = {
        name: {
            part.choice.order
            for part in every(method.candidates(units, Budget()))
            if isinstance(part, Part)
        }
        for name, method in (("free", free), ("bound", bound))
    }
    assert orders["bound"] == {o for o in orders["free"] if o[:2] == ("i", "k")}
    assert orders["bound"] < orders["free"]


def test_every_kind_has_an_example() -> None:
    for kind, text in KINDS.items():
        assert f"{kind} " in text
