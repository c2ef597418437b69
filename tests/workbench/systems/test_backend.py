"""The backend of the page of all systems: rows as compared directly, refusals that lose nothing."""

from __future__ import annotations

import time
from threading import Event

import pytest

import fuseloom as fl
from fuseloom.comparison.examples import example
from fuseloom.comparison.rows import FusionSystem
from fuseloom.errors import ProgramError
from fuseloom.models import Model, random_data
from fuseloom_workbench.systems import answering
from fuseloom_workbench.systems.asked import LONGEST, SystemsQuestion
from fuseloom_workbench.systems.backend import SystemsBackend
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
    now = answering.OpenProgram(SystemsQuestion(seed=3), problem, "random")

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
