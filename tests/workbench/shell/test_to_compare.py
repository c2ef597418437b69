"""From the explorer to the page of all systems: the same program, data and schedule there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlparse

from fuseloom.comparison.compare import problem_of
from fuseloom.program.printer import print_program
from fuseloom_workbench.shell import view
from fuseloom_workbench.shell.to_compare import to_compare
from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.systems.asked import LONGEST_IN_ADDRESS, from_address
from fuseloom_workbench.systems.carried import CARRIED, carried


def asked_there(session: Session):
    made = to_compare(session)
    assert made["lacks"] == ""
    parts = urlparse(made["address"])
    assert parts.path == "compare"
    return from_address(dict(parse_qsl(parts.query, keep_blank_values=True)))


def test_a_model_goes_with_its_data_sizes_and_preset():
    session = Session("gcn", "cora")
    session.set_options({"hidden": "8"})
    for preset in session.presets:
        session.preset(preset)
        asked = asked_there(session)
        assert asked.is_model
        assert (asked.name, asked.data, asked.sizes) == ("gcn", "cora", (("hidden", "8"),))
        assert asked.schedule == session.built.model.presets[preset]
    session.set_cuts([2, 5])
    assert asked_there(session).schedule == str(session.built.schedule)
    assert view.trail(session)["compare"] == to_compare(session)


def test_an_edited_program_goes_as_text():
    session = Session("gcn", "karate")
    text = print_program(session.built.program).replace("relu(", "exp(")
    assert session.set_program(text), session.message
    assert session.set_schedule("fuse T1..T3; order T1..T3: i,k,p,n"), session.message
    asked = asked_there(session)
    assert (asked.name, asked.data, asked.text) == ("gcn", "karate", text)
    problem = problem_of(session.built.program, session.built.data)
    made = carried(problem, asked.schedule)
    assert made.name == CARRIED
    assert made.problem.presets[CARRIED] == str(session.built.schedule)


def test_what_an_address_does_not_hold_is_told():
    session = Session("gcn", "karate")
    files = (Upload("A", "0" * 64, "a.mtx"), Upload("X", "1" * 64, "x.mtx"))
    design = replace(session.design, uploads=files)
    told = to_compare(SimpleNamespace(design=design, built=session.built))
    assert told["address"]
    assert told["lacks"] == "without the values from files of A, X"
    session.set_machine("hbm2")
    assert to_compare(session)["lacks"] == "on the default machine"
    text = f"# {'x' * LONGEST_IN_ADDRESS}\n{print_program(session.built.program)}"
    assert session.set_program(text), session.message
    told = to_compare(session)
    assert told["address"] == ""
    assert "too long for an address" in told["lacks"]
    assert "run fuseloom compare gcn.loom" in told["lacks"]
    design = replace(session.design, model="mine@0123456789ab")
    told = to_compare(SimpleNamespace(design=design, built=session.built))
    assert told["address"] == ""
    assert "fuseloom compare" in told["lacks"]
