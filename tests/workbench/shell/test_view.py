"""The data of the top line and the rail."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest

from fuseloom.dataflow.machine import PRESETS
from fuseloom_workbench.shell import view
from fuseloom_workbench.state import commands
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.design import Design
from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import model_names
from tests.workbench.outcomes import outcome


def test_steps_have_factors_against_the_step_before(session):
    session.preset("full")
    session.preset("partial")
    told = view.trail(session)
    assert [s["name"] for s in told["trail"]] == ["partial", "full", "partial"]
    first, slower, faster = told["trail"]
    assert first["factor"] == ""
    assert slower["factor"].endswith("×")
    assert not slower["better"]
    assert faster["better"]
    assert (told["at"], told["undo"], told["redo"]) == (2, True, False)
    session.undo()
    assert view.trail(session)["at"] == 1


def test_steps_of_other_problems_have_no_factor(session):
    session.choose("gcn", "random")
    assert view.trail(session)["trail"][1]["factor"] == ""


def test_an_address_opens_the_same_design():
    session = Session("gcn", "random")
    session.set_options({"nodes": "24"})
    session.set_cuts([2, 5])
    session.set_order(0, ("i", "p", "k"))
    query = view.address(session)
    assert opened_from(query).configuration == session.configuration


@pytest.mark.parametrize("schedule", ["fuse T1..H; fuse T5..Y", ""])
def test_an_address_adds_nothing_to_what_a_run_was_done_with(schedule):
    session = Session("gcn", "karate")
    assert session.set_schedule(schedule)
    directives = session.built.resolved.replace(";", "\n").splitlines()
    bare = "; ".join(d for d in directives if d.split()[0] in {"fuse", "order"})
    carried = session.configuration
    assert session.set_schedule(bare, as_written=True), session.message
    assert session.configuration != carried
    opened = opened_from(view.address(session))
    assert opened.configuration == session.configuration
    assert opened.design.as_written


def opened_from(query):
    """The session that an address opens."""
    opened = Session()
    for name, *arguments in requests_of(dict(parse_qsl(query[1:]))):
        commands.carry_out(opened, name, arguments)
        assert opened.ok, opened.message
    return opened


@pytest.mark.parametrize("machine", [*PRESETS, "edited", "own"])
def test_an_address_carries_the_machine(machine):
    session = Session("gcn", "karate")
    if machine == "own":
        assert session.set_machine('name = "mine"\nload_latency = 7\n'), session.message
    else:
        assert session.set_machine("hbm2" if machine == "edited" else machine), session.message
    if machine == "edited":
        assert session.set_capacity("16"), session.message
    opened = opened_from(view.address(session))
    assert opened.machine == session.machine
    assert opened.configuration == session.configuration
    assert view.stays(session) == ""


TRAVELS = {
    *("model", "data", "cuts", "orders", "wishes", "text", "settings", "machine"),
    *("where_possible", "options", "as_written"),
}
"""Fields of a design of which an address holds what they mean."""
TOLD = {"uploads"}
"""Those that it does not hold, and that is said."""
NOWHERE = {"seed"}
"""Those that a page cannot change."""


def test_an_address_carries_a_design_or_its_page_says_what_stays(session):
    assert {f.name for f in fields(Design)} == TRAVELS | TOLD | NOWHERE
    assert "stays" in view.trail(session)
    files = [Upload("A", "0" * 64, "mine.mtx"), Upload("X", "1" * 64, "x.mtx")]
    for count, told in enumerate(["", "without the file of A", "without the files of A, X"]):
        design = replace(session.design, uploads=tuple(files[:count]))
        said = view.stays(SimpleNamespace(design=design, built=session.built))
        assert told in said
        assert bool(said) == bool(told)


def test_an_address_holds_an_edited_program_but_no_endless_one(session):
    text = str(session.built.program)
    session.set_program(text.replace("T3[i,n] = T2[i,n] + b1[n]", "T3[i,n] = relu(T2[i,n])"))
    assert "program=" in view.address(session)
    long = f"# {'x' * view.LONGEST_ADDRESS}\n{session.design.text}"
    assert session.set_program(long), session.message
    assert view.address(session) == ""
    assert "too long for an address: Save" in view.stays(session)


def test_the_rail_knows_what_presets_took(run_once):
    session = run_once
    shown = {p["name"]: p for p in view.rail(session)["presets"]}
    assert shown["partial"]["cycles"] == f"{session.record.run.cycles:,}"
    assert shown["partial"]["chosen"]
    assert shown["unfused"]["cycles"] == "—"
    session.preset("unfused")
    shown = {p["name"]: p for p in view.rail(session)["presets"]}
    assert shown["unfused"]["cycles"].startswith("est. ")


@pytest.mark.parametrize("model", model_names())
def test_a_shipped_model_is_no_program_of_ones_own(model):
    session = Session(model)
    rail = view.rail(session)
    assert rail["presets"] or f"The model {model} has no presets" in rail["lacking"]
    assert not (rail["presets"] and rail["lacking"])
    assert view.trail(session)["trail"][0]["name"] != "yours"
    assert session.set_program(f"{session.built.program}\n# mine"), session.message
    assert "own has no presets" in view.rail(session)["lacking"] or session.presets


def test_a_run_of_a_shipped_model_without_presets_has_its_name(run_once):
    session = Session("spmv")
    kept = session.keep(replace(KeptRun.of(session.built, run_once.record.run)))
    assert kept.name == "spmv"
    assert session.set_program(f"{session.built.program}\n# mine"), session.message
    assert session.keep(KeptRun.of(session.built, run_once.record.run)).name == "yours 1"


def test_the_rail_lists_runs_the_latest_first(run_once):
    session = run_once
    session.pin(0)
    (run,) = view.rail(session)["runs"]
    assert run["pinned"]
    assert run["shown"]
    assert run["ok"]
    session.choose("spmv")
    (run,) = view.rail(session)["runs"]
    assert "gcn, karate" in run["name"]
    assert not run["shown"]


def test_an_edited_program_is_not_shown_as_the_model(session):
    session.set_program("T: 5x5 dense\nC: 5x5 dense\nY[i,j] = T[i,k] * C[k,j]\noutput Y")
    told = view.rail(session)
    assert told["model"] == view.OWN
    assert view.OWN in told["models"]
    assert told["about"] == "Your own program. random. 1 kernel."


def test_what_an_edited_program_has_of_the_model_and_its_data_is_told(session):
    own = str(session.built.program)
    session.set_program(own.replace("relu(T3[i,n])", "exp(T3[i,n])"))
    assert view.rail(session)["about"] == "Edited from gcn. karate. 8 kernels."
    session.set_program(own.replace("b1:", "c1:").replace("b1[n]", "c1[n]"))
    assert view.rail(session)["about"] == "Edited from gcn. karate; c1 random. 8 kernels."


def test_a_machine_of_ones_own_is_shown_as_such(session):
    session.set_capacity("3")
    told = view.rail(session)
    assert told["machine"] in told["machines"]
    assert "3 tokens per channel" in told["machine"]


def test_the_model_of_an_edited_program_brings_its_own_back(session):
    own = str(session.built.program)
    session.set_program(own.replace("relu(T3[i,n])", "exp(T3[i,n])"))
    commands.carry_out(session, "choose_data", ["random"])
    assert view.rail(session)["model"] == view.OWN  # other data keep the program
    commands.carry_out(session, "choose", ["gcn"])
    assert session.ok, session.message
    assert view.rail(session)["model"] == "gcn"
    assert session.design.text is None


def test_of_many_steps_those_nearby_are_told(session):
    for k in range(60):
        session.set_cuts([3 + k % 2])
    steps, here = session.trail
    assert here == len(steps) - 1 >= 60
    told = view.trail(session)
    assert (told["at"], told["later"]) == (view.NEAR, 0)
    assert told["earlier"] + len(told["trail"]) == len(steps)
    assert told["trail"][0]["name"] == steps[told["earlier"]].name
    session.travel(-40)
    told = view.trail(session)
    assert len(told["trail"]) == 1 + 2 * view.NEAR
    assert told["earlier"] + told["at"] == here - 40
    assert told["earlier"] + len(told["trail"]) + told["later"] == len(steps)
    del told["finds"]  # as many as the design has parts
    assert len(json.dumps(told)) < 8_000


def test_a_run_elsewhere_says_what_is_other_there(session):
    session.finish(session.built, outcome(session=session))
    assert view.rail(session)["runs"][0]["name"] == "partial"
    session.set_machine("hbm2")
    assert view.rail(session)["runs"][0]["name"] == "partial · default"
    session.choose("graphsage")
    assert view.rail(session)["runs"][0]["name"] == "partial · gcn, karate"
