"""Formats, sizes and machine of a design as panels: edits with undo, refusals answered in place."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine.text import print_machine
from fuseloom_workbench.input.panels import FormatsPanel, MachinePanel, SizesPanel
from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.state import saving
from fuseloom_workbench.state.session import Session


def test_a_menu_per_level_changes_the_program():
    session = Session("gcn", "karate")
    panel = FormatsPanel(session)
    row = next(t for t in panel.view["tensors"] if t["name"] == "A")
    assert (row["role"], row["shape"], len(row["levels"])) == ("input", "34×34", 2)
    before = session.design
    dense = session.built.data["A"].to_dense()
    ask = {"kind": "format", "tensor": "A", "levels": ["dense", "compressed"], "order": [1, 0]}
    panel.handle(ask)
    assert session.ok, session.message
    made = session.built.program.tensor("A").format
    assert ([f.value for f in made.levels], made.mode_order) == (["dense", "compressed"], (1, 0))
    assert (session.built.data["A"].to_dense() == dense).all()
    assert "A: 34x34 csc" in session.design.text
    session.undo()
    assert session.design == before
    for levels, order, said in (
        (["dense"], [0, 1], "2 modes"),
        (["dense", "dense"], [0, 0], "each mode once"),
        (["dense", "hashed"], [0, 1], "hashed"),
        (["singleton", "singleton"], [0, 1], ""),
    ):
        panel.handle({**ask, "levels": levels, "order": order})
        assert not session.ok
        assert said in panel.status["message"]
        assert session.design == before
    count = session.answers
    panel.handle({**ask, "levels": "dense"})
    assert session.answers == count, "what is no request is not answered"


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
def test_nonsense_about_sizes_is_ignored(session, request_):
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


def test_the_machine_panel_shows_and_answers(session):
    panel, run = MachinePanel(session), RunPanel(session)
    panel.handle({"kind": "preset", "name": "hbm2"})
    assert panel.view["chosen"] == "hbm2"
    assert "256.0 GB/s peak" in panel.view["about"]
    panel.handle({"kind": "capacity", "tokens": "16"})
    assert panel.view["chosen"] == ""
    assert panel.view["label"] == "hbm2, 16 tokens per channel"
    assert panel.view["text"] == print_machine(session.machine)
    panel.handle({"kind": "apply", "text": "alu_latency = 'fast'"})
    assert not panel.status["ok"]
    assert "alu_latency is 'fast'" in panel.status["message"]
    assert not run.status  # the answer stands where the question was


@pytest.mark.parametrize(
    "request_",
    [{"kind": "preset"}, {"kind": "capacity", "tokens": 3}, {"kind": "apply", "text": None}],
)
def test_the_machine_panel_ignores_nonsense(session, request_):
    panel = MachinePanel(session)
    panel.receive(request_)
    assert session.answers == 1
