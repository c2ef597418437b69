"""The backend of the page of all systems: rows as compared directly, refusals that lose nothing."""

from __future__ import annotations

import time
from threading import Event
from urllib.parse import parse_qsl, urlparse

import pytest

import fuseloom as fl
from fuseloom.comparison.examples import example
from fuseloom.comparison.rows import FusionSystem
from fuseloom.errors import ProgramError
from fuseloom.models import Model, random_data
from fuseloom.program.printer import print_program
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import source
from fuseloom_workbench.systems import answering
from fuseloom_workbench.systems.asked import LONGEST, SystemsQuestion
from fuseloom_workbench.systems.backend import SystemsBackend
from fuseloom_workbench.systems.carried import CARRIED, carried
from fuseloom_workbench.systems.view import rows_view
from tests.waiting import until

SMALL = "program small\nA: 8x4 csr\nB: 4x5 dense\nC[i,j] = A[i,k] * B[k,j]\nD[i,j] = relu(C[i,j])"
SURE = ("kernels", "bytes_between", "recompute", "flops", "simulated_cycles")
"""Figures that no clock has a part in."""


@pytest.fixture(scope="module")
def backend():
    made = SystemsBackend(SystemsQuestion(text=SMALL))
    made.open_from(["explorer", "compare"])
    made.ask("compare", {}, True)
    made.wait()
    yield made
    made.close()


def asked(backend, name, *arguments):
    backend.ask(name, *arguments)
    backend.wait()
    return backend.part("status")


def rows(backend):
    return {one["system"]: one for one in backend.part("compared")["systems"]}


def test_rows_are_those_of_the_comparison(backend):
    program = fl.parse(SMALL)
    data = random_data(Model(program, ()))
    for system in FusionSystem:
        kept = fl.compare(program, data, systems=[system.value], again=False)
        shown = rows(backend)[system.value]
        assert {key: shown[key] for key in ("rows", "refused")} == rows_view(kept.rows), system
    fresh = fl.compare(program, data, systems=["dataflow", "access"])
    for system in ("dataflow", "access"):
        shown = rows(backend)[system]["rows"]
        for row, wanted in zip(shown, fresh.of(system), strict=True):
            assert {key: row[key] for key in SURE} == {key: getattr(wanted, key) for key in SURE}
    (reason,) = rows(backend)["contraction"]["refused"]
    assert "a network holds products alone" in reason["reason"]


def test_what_is_known_is_shown_at_once(backend):
    other = SystemsBackend(SystemsQuestion(text=SMALL))
    other.wait()
    assert rows(other) == rows(backend)
    assert other.part("compared")["openings"] == []  # no pages are known
    other.close()


def test_commands_and_pages_are_those_of_the_program(backend):
    made = backend.part("compared")
    assert made["command"] == "fuseloom compare small.loom --seed 0"
    assert [(one["page"], one["title"]) for one in made["openings"]] == [
        ("explorer", "Fusion explorer")
    ]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"text": SMALL.replace("C[i,j] =", "C[i,j")}, "line 4, column "),
        ({"text": "A: 90000x90000 dense\nB[i,j] = relu(A[i,j])"}, "too many to make up"),
        ({"text": "A: 4 dense"}, "the program has no statement"),
        ({"text": "x" * (LONGEST + 1)}, "a page takes 20,000"),
        ({"text": "A: 4 dense\n" + "".join(f"B{k}[i] = relu(A[i])\n" for k in range(501))
          + "output " + ", ".join(f"B{k}" for k in range(501))}, "at most 500"),
        ({"seed": "many"}, "a seed is an integer"),
        ({"name": "gcn_layr"}, "did you mean 'gcn_layer'?"),
    ],
)  # fmt: skip
def test_what_is_refused_loses_nothing(backend, changes, says):
    before = backend.part("compared")
    told = asked(backend, "compare", changes, False)
    assert not told["ok"]
    assert told["topic"] == "systems"
    assert says.lower() in told["message"].lower()
    after = backend.part("compared")
    assert after == before
    while backend.part("systems_form")["undo"]:
        asked(backend, "undo")
    assert rows(backend)["dataflow"]["rows"]


def test_a_fault_has_its_place_until_a_program_is_read(backend):
    wrong = SMALL.replace("relu(", "rlu(")
    asked(backend, "compare", {"text": wrong}, False)
    fault = backend.part("systems_form")["fault"]
    assert (fault["text"], fault["line"]) == (wrong, 5)
    asked(backend, "write", 1, wrong)
    assert backend.part("systems_form")["written"]["error"]["line"] == 5
    asked(backend, "write", 2, SMALL)
    assert backend.part("systems_form")["written"] == {"number": 2, "error": None}
    asked(backend, "undo")
    assert backend.part("systems_form")["fault"] is None


def test_another_program_keeps_the_draft_for_undo(backend):
    draft = SMALL + "\n# more"
    asked(backend, "change", {"name": "mttkrp", "seed": 4}, draft)
    form = backend.part("systems_form")
    assert form["link"] == "?example=mttkrp&seed=4"
    assert form["text"].startswith("program mttkrp")
    assert backend.part("compared")["command"] == "fuseloom compare mttkrp --seed 4"
    asked(backend, "undo")
    assert backend.part("systems_form")["text"] == draft
    asked(backend, "change", {"text": SMALL}, None)
    assert rows(backend)["stitch"]["rows"]


def test_a_schedule_comes_along_as_a_row_and_leads_back(backend):
    before = rows(backend)
    other = SystemsBackend(SystemsQuestion(text=SMALL, schedule="order C: k,i,j"))
    other.open_from(["explorer", "compare"])
    other.wait()
    form = other.part("systems_form")
    assert (form["carried"], form["unfit"]) == (CARRIED, "")
    known = rows(other)
    assert "rows" not in known["dataflow"]
    assert {name: one for name, one in known.items() if name != "dataflow"} == {
        name: one for name, one in before.items() if name != "dataflow"
    }
    other.ask("compare", {}, False)
    other.wait()
    ways = [row["way"] for row in rows(other)["dataflow"]["rows"]]
    assert ways == ["unfused", "full", CARRIED, "found"]
    assert other.part("compared")["schedule"] == "order C: k,i,j"
    (there,) = other.part("compared")["openings"]
    session = Session("spmv", "random")
    for request, *arguments in requests_of(dict(parse_qsl(urlparse(there["address"]).query))):
        carry_out(session, request, arguments)
        assert session.ok, session.message
    assert session.built.program == fl.parse(SMALL)
    assert str(session.built.schedule) == "order C: k,i,j"
    asked(other, "change", {"text": SMALL.replace("C[", "E[").replace("(C", "(E")}, None)
    assert "C" in other.part("systems_form")["unfit"]
    other.close()


def test_an_edited_model_keeps_its_data():
    loaded = source("gcn", "karate", 0, None, (("hidden", 8),))
    text = print_program(loaded.model.program).replace("relu(", "exp(")
    question = SystemsQuestion(
        "gcn", text, data="karate", sizes=(("hidden", "8"),), schedule="fuse T1..H"
    )
    backend = SystemsBackend(question)
    backend.open_from(["explorer"])
    backend.wait()
    made = backend.part("compared")
    assert (made["label"], made["data"], made["own"]) == ("karate", True, True)
    assert made["command"].startswith("fuseloom compare ")
    (there,) = [one for one in made["openings"] if one["page"] == "explorer"]
    words = dict(parse_qsl(urlparse(there["address"]).query))
    assert (words["model"], words["data"], words["hidden"]) == ("gcn", "karate", "8")
    assert (words["program"], words["schedule"]) == (text, "fuse T1..H")
    told = asked(backend, "change", {"text": text + "\n("}, None)
    assert not told["ok"]
    asked(backend, "change", {"name": "gcn"}, None)
    assert (
        backend.part("compared")["command"] == "fuseloom compare --model gcn --data karate --seed 0"
    )
    backend.close()


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (SystemsQuestion("gcn", data="../secrets"), "no data set is called"),
        (SystemsQuestion("gcn", data="karate", sizes=(("hiden", "8"),)), "hidden"),
        (SystemsQuestion("gcn", data="karate", sizes=(("hidden", "0"),)), "hidden"),
    ],
)
def test_data_and_sizes_that_are_none_are_refused(question, says):
    backend = SystemsBackend(question)
    backend.wait()
    told = backend.part("status")
    assert not told["ok"]
    assert says in told["message"]
    backend.close()


def test_a_comparison_is_cancelled_and_goes_on(backend):
    asked(backend, "change", {"name": "mlp_block", "seed": time.time_ns() % 2**30}, None)
    assert not any("rows" in one for one in rows(backend).values())
    backend.ask("compare", {}, False)
    until(lambda: "dataflow" in backend.part("compared")["busy"]["text"], "it has begun")
    backend.ask("compare", {}, False)
    assert "under way" in backend.part("status")["message"]
    backend.cancel()
    backend.wait()
    assert backend.part("status")["message"] == "cancelled"
    assert backend.part("systems_form")["busy"]["text"] == ""
    asked(backend, "change", {"text": SMALL, "seed": 0}, None)
    assert rows(backend)["dataflow"]["rows"]


def test_a_limit_is_told_with_a_way_out(monkeypatch):
    backend = SystemsBackend(SystemsQuestion("mlp_block"))
    backend.wait()
    monkeypatch.setattr(SystemsBackend, "limit", 0.2)
    told = asked(backend, "compare", {}, True)["message"]
    assert told.startswith("the time limit of ")
    assert "Press Compare again" in told
    backend.close()


def test_a_system_that_takes_too_long_is_given_up_alone(monkeypatch):
    program, data = example("gcn_layer", 3)
    problem = answering.problem_of(program, data)
    now = answering.OpenProgram(SystemsQuestion(seed=3), problem, "random", carried(problem, None))

    def slow(*_, systems, **__):
        if systems == ["calls"]:
            Event().wait(5)
        raise ProgramError("fast")

    monkeypatch.setattr(answering, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(answering, "compare", slow)
    begun = time.monotonic()
    (row,), told = answering.rows_of(now, FusionSystem.CALLS, again=False, tell=lambda _: None)
    assert time.monotonic() - begun < 4
    assert not row.applies
    assert "given up after" in row.reason
    assert told.startswith("calls: ")
    (row,), told = answering.rows_of(now, FusionSystem.STITCH, again=False, tell=lambda _: None)
    assert row.reason == "fast"
