"""Why a schedule is as it is, in numbers that are those of the search."""

from __future__ import annotations

from fuseloom.dataflow.method import Dataflow
from fuseloom.exploration.reasons import reasons, why_not
from fuseloom.exploration.search import Search
from fuseloom.models import load
from fuseloom.results.method import Budget


def neighbours(method: Dataflow, units: tuple[int, ...]) -> bool:
    return units == tuple(range(units[0], units[-1] + 1)) and method.ideals.linear


def test_a_cut_that_was_not_looked_at_is_told_as_such() -> None:
    model, data = load("gcn", "karate")
    method = Dataflow(model.program, data, presets={"unfused": model.presets["unfused"]})
    best = Search(method, Budget(), gap=0.99).run()
    told = reasons(method, best)
    units = [part.units for part in best.parts]
    pairs = {tuple(sorted(units[a] + units[b])) for a, b in method.ideals.joinable(units)}
    unseen = {both for both in pairs - {s.units for s in best.spans} if neighbours(method, both)}
    assert sum("was not looked at" in reason for reason in told) == len(unseen)
    assert sum("has no candidate" in reason for reason in told) == 0


def test_a_schedule_with_settings_is_judged_on_the_program_as_given() -> None:
    model, data = load("attention", "random")
    method = Dataflow(model.program, data)
    answer = why_not(method, 1.0, "repeat references")
    assert answer.startswith("removed by its")
    assert why_not(method, 1e9, "repeat references").startswith("better than what was found")
