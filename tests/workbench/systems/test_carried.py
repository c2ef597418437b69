"""The schedule that comes along from the explorer."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.comparison.compare import problem_of
from fuseloom.comparison.examples import example
from fuseloom.models import load_model
from fuseloom_workbench.systems.asked import SystemsQuestion
from fuseloom_workbench.systems.carried import CARRIED, carried, explorer_words


@pytest.fixture(scope="module")
def problem():
    return problem_of(*example("gcn_layer"))


def test_a_schedule_of_its_own_is_one_more_preset(problem):
    made = carried(problem, "order T: f, i, h")
    assert made.name == CARRIED
    assert not made.refused
    assert {**problem.presets, CARRIED: "order T: f,i,h"} == {**made.problem.presets}
    assert CARRIED not in problem.presets


@pytest.mark.parametrize(("schedule", "name"), [("fuse T..Y", "full"), ("", "unfused")])
def test_one_that_is_compared_anyway_is_not_there_twice(problem, schedule, name):
    made = carried(problem, schedule)
    assert (made.name, made.problem) == (name, problem)


@pytest.mark.parametrize(
    ("schedule", "says"), [("fuse T..Z", "Z"), ("fusee T..Y", "fusee"), ("order T: f,z,h", "z")]
)
def test_one_that_does_not_fit_is_left_out(problem, schedule, says):
    made = carried(problem, schedule)
    assert (made.name, made.problem) == ("", problem)
    assert says in made.refused
    assert carried(problem, None).refused == ""


@pytest.mark.parametrize("name", ["gcn", "gpt3"])
def test_presets_of_models_keep_their_names(name):
    model = load_model(name)
    program = model.program
    problem = problem_of(program, fl.models.random_data(model), presets=model.presets)
    for preset, text in model.presets.items():
        assert carried(problem, text).name == preset


def test_the_explorer_gets_what_it_had():
    asked = SystemsQuestion("gcn", "text", 0, "karate", (("hidden", "8"),), "")
    assert explorer_words(asked) == {"hidden": "8", "program": "text", "schedule": ""}
    assert explorer_words(SystemsQuestion(text="text")) == {}  # openings() has the text
