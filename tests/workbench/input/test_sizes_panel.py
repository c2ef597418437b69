"""Sizes of a model in the workbench."""

from __future__ import annotations

import pytest

from fuseloom_workbench.input.sizes_panel import SizesPanel
from fuseloom_workbench.state import saving
from fuseloom_workbench.state.session import Session


def entry(panel: SizesPanel, name: str) -> dict[str, str]:
    return next(e for e in panel.view["entries"] if e["name"] == name)


def test_sizes_are_shown_chosen_and_left(session):
    panel = SizesPanel(session)
    assert "hidden 16" in panel.view["line"]
    assert entry(panel, "hidden")["bounds"] == "1 to 65,536 features"
    assert entry(panel, "nodes")["fixed"] == "decided by the data"
    cuts, flops = session.cuts, session.estimate.flops
    panel.handle({"kind": "use", "values": {"hidden": "8", "density": "0.5"}})
    assert session.ok
    assert session.cuts == cuts
    assert session.design.options == (("hidden", 8),)  # the density is the model's own
    assert session.estimate.flops < flops
    assert panel.view["chosen"] == ["hidden"]
    panel.handle({"kind": "own"})
    assert session.design.options == ()
    assert session.estimate.flops == flops
    session.undo()
    assert entry(panel, "hidden")["value"] == "8"


def test_what_cannot_be_is_answered_where_it_was_asked(session):
    panel = SizesPanel(session)
    for values, reason in [
        ({"hidden": "none"}, "hidden of gcn is 'none', not an integer"),
        ({"hidden": "0"}, "hidden of gcn is 0, below 1"),
        ({"nodes": "50"}, "nodes of gcn is decided by the data karate"),
        ({"colour": "3"}, "gcn takes no 'colour'"),
    ]:
        panel.handle({"kind": "use", "values": values})
        assert not panel.status["ok"]
        assert reason in panel.status["message"]
        assert session.design.options == ()


@pytest.mark.parametrize(
    "request_",
    [{"kind": "use"}, {"kind": "use", "values": {"hidden": 8}}, {"kind": "use", "values": [1]}],
)
def test_nonsense_is_ignored(session, request_):
    SizesPanel(session).receive(request_)
    assert session.answers == 1


def test_another_program_starts_with_the_same_preset():
    session = Session("gpt3", "random")
    session.preset("unfused")
    assert session.set_options({"layers": 3})
    assert session.built.preset_name == "unfused"
    before = len(session.built.live)
    assert session.set_options({"layers": "2"})
    assert len(session.built.live) < before
    assert not session.set_options({"layers": "96"})
    assert "statements" in session.message


def test_options_that_other_data_decide_are_left_behind():
    session = Session("gcn", "random")
    assert session.set_options({"nodes": "20", "hidden": "4"})
    assert session.choose("gcn", "karate")
    assert session.design.options == (("hidden", 4),)


def test_runs_of_other_sizes_are_other_problems(session):
    before = session.built.problem
    session.set_options({"hidden": 8})
    assert session.built.problem != before


def test_an_edited_program_has_its_own_sizes(session):
    session.set_program(str(session.built.program).replace("relu", "exp"))
    assert session.ok
    assert not session.set_options({"hidden": 8})
    assert "the program was edited" in session.message


def test_sizes_are_saved(session):
    session.set_options({"hidden": 8})
    other = Session("gcn", "karate")
    saving.restore(other, saving.save(session))
    assert other.design == session.design
