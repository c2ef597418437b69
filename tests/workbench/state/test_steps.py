"""Steps: what each is called, and travelling over several at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.steps import LIMIT, DesignStep, Steps, name_of


def names(session: Session) -> list[str]:
    return [step.name for step in session.trail[0]]


@pytest.mark.deep  # takes seconds
def test_steps_are_called_after_what_was_changed(session):
    session.preset("full")
    session.set_cuts([4, 6])
    session.set_cuts([4])
    session.set_cuts([3])
    session.set_order(0, ("i", "p", "k"))
    session.set_capacity("5")
    session.choose("gcn", "random")
    session.set_options({"nodes": "20"})
    assert names(session)[:2] == ["partial", "full"]
    assert names(session)[2] == "cuts"
    assert names(session)[3] == "partial"
    assert names(session)[4] == "cut moved to relu"
    assert names(session)[-3:] == ["on default", "gcn, random", "sizes"]


@pytest.mark.deep  # takes seconds
def test_travel_goes_over_several_steps_at_once(session):
    for preset in ("full", "unfused", "C+S"):
        session.preset(preset)
    assert session.travel(-3)
    assert session.built.preset_name == "partial"
    assert session.trail[1] == 0
    assert session.travel(2)
    assert session.built.preset_name == "unfused"
    assert names(session) == ["partial", "full", "unfused", "C+S"]
    assert session.travels == (True, True)
    session.set_cuts([2])
    assert names(session) == ["partial", "full", "unfused", "cuts"]
    assert session.travels == (True, False)


def test_travel_beyond_the_ends_is_refused(session):
    assert not session.travel(-1)
    assert session.message == "nothing to undo"
    session.preset("full")
    assert not session.travel(-2)
    assert not session.travel(5)
    assert not session.travel(0)
    assert session.built.preset_name == "full"


def test_so_many_steps_are_kept(session):
    steps = Steps()
    for k in range(LIMIT + 5):
        steps.went(DesignStep(session.design, str(k)))
    assert len(steps.past) == LIMIT
    assert steps.past[0].name == "5"


def test_runs_are_pinned_and_forgotten(run_once):
    session = run_once
    assert session.reference is None
    session.pin(7)
    assert session.reference is None
    session.pin(0)
    assert session.reference is session.latest
    session.pin(0)
    assert session.reference is None
    session.pin(0)
    session.forget(3)
    assert session.reference is not None
    session.forget(0)
    assert session.reference is None
    assert not session.records
    assert session.latest is None


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ((), ("A 0",), "A from file"),
        (("A 0",), ("A 1",), "A from file"),
        (("A 0",), ("A 0", "X 2"), "X from file"),
        (("A 0", "X 2"), ("X 2",), "A not from file"),
    ],
)
def test_a_file_names_its_step(before, after, name):
    def design(files):
        uploads = tuple(Upload(text[0], text[2] * 64, "mine.mtx") for text in files)
        return replace(built, design=replace(built.design, uploads=uploads))

    built = Session("gcn", "karate").built
    assert name_of(design(after), design(before)) == name
