"""The backend of the network page: answers, refusals that lose nothing, cancelling, kept runs."""

from __future__ import annotations

import json

import pytest

from fuseloom.contraction.shipped import SHIPPED
from fuseloom.exploration.store import RunStore
from fuseloom_workbench.networks import answering
from fuseloom_workbench.networks.answering import answer
from fuseloom_workbench.networks.asked import NetworkQuestion
from fuseloom_workbench.networks.backend import NetworkBackend
from fuseloom_workbench.service.budgets import KEEP_RUNS


@pytest.fixture(scope="module")
def backend():
    made = NetworkBackend()
    made.wait()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _as_it_was(request):
    yield
    if "backend" in request.fixturenames:
        backend = request.getfixturevalue("backend")
        while backend.part("question")["undo"]:
            backend.ask("undo")
        backend.wait()


def verdicts(backend):
    return [one["verdict"] for one in backend.part("question")["verdicts"]]


def test_the_running_example(backend):
    assert verdicts(backend) == ["unsat", "sat", "sat", "sat", "sat"]
    assert backend.part("question")["least"] == 1
    assert backend.part("question")["verdicts"][0]["why"]
    assert backend.part("solutions")["ways"] == {"fused": 24, "unfused": 24, "n-ary": 6}
    nest = backend.part("nest")
    shared = [loop for loop in nest["loops"] if len(loop["inside"]) > 1]
    assert shared
    for loop in nest["loops"]:
        inside = nest["lines"][loop["first"] + 1 : loop["last"] + 1]
        assert all(line["depth"] > loop["depth"] for line in inside)
        made = {line["text"].split("(")[0] for line in inside if line["kind"] == "assign"}
        assert made == set(loop["inside"])


def test_the_fastest_of_each_way_stands_beside_the_other_machine(backend):
    assert backend.part("dataflow")["cpu"] == []
    backend.ask("measure", -1)
    backend.wait()
    best = {row["way"]: row["measured"] for row in backend.part("dataflow")["cpu"]}
    assert best.keys() == {"fused", "unfused", "n-ary"}
    for row in backend.part("solutions")["rows"]:
        if row["measured"] is not None:
            assert best[row["way"]] <= row["measured"]


def test_a_bound_without_a_solution_says_what_forbids_it(backend):
    backend.ask("change", {"bound": 0})
    backend.wait()
    solutions = backend.part("solutions")
    assert solutions["total"] == 0
    assert "outermost loops" in solutions["reason"]
    assert backend.part("nest") == {}
    backend.ask("undo")
    backend.wait()
    assert backend.part("solutions")["total"] == 54


def test_a_tree_is_changed_by_hand_and_by_others(backend):
    backend.ask("contract", [1], [0, 1])
    backend.wait()
    assert backend.part("network")["text"] == "((A B) (C D))"
    assert backend.asked.tree == "((A B) (C D))"
    backend.ask("swap", [])
    backend.wait()
    assert backend.part("network")["text"] == "((C D) (A B))"
    backend.ask("change", {"tree": "opt_einsum"})
    backend.wait()
    assert backend.part("network")["text"].count("(") == 3
    backend.ask("contract", [], [0])
    assert not backend.part("status")["ok"]


@pytest.mark.parametrize("einsum", ["iij,jk,kp", "ij,,jk->ik", "...ij,jk,kq->...iq"])
def test_strings_as_numpy_reads_them(backend, einsum):
    extents = "i=2,j=3,k=2,p=3,q=2,...=2"
    backend.ask("change", {"einsum": einsum, "extents": extents, "tree": "((A B) C)"})
    backend.wait()
    assert backend.part("status")["ok"], backend.part("status")
    assert backend.part("solutions")["rows"]
    assert backend.part("network")["text"] == "((A B) C)"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"einsum": "ij,..k->i"}, "no list of indices"),
        ({"einsum": "ij,jk->ii"}, "twice"),
        ({"extents": "i=7"}, "j"),
        ({"extents": "i=7,i=8"}, "i"),
        ({"tree": "((A B) C)"}, "does not cover D"),
        ({"pins": ["outermost z"]}, "z"),
        ({"pins": ["loops X1: i"]}, "X1"),
        ({"extents": "i=7000,j=6000,k=5000,p=6000,q=5000,r=4000"}, "elements"),
    ],
)
def test_what_is_refused_leaves_all_as_it_is(backend, changes, says):
    before = backend.part("solutions"), backend.part("network")
    backend.ask("change", changes)
    backend.wait()
    status = backend.part("status")
    assert not status["ok"]
    assert says in status["message"]
    assert (backend.part("solutions")["rows"], backend.part("network")) == (
        before[0]["rows"],
        before[1],
    )


def test_of_questions_in_line_the_last_counts(backend):
    for density in (0.11, 0.12, 0.13, 0.14):
        backend.ask("change", {"density": density})
    backend.wait()
    assert backend.asked.density == 0.14
    operand = backend.part("network")["operands"][0]
    assert operand["elements"] == round(0.14 * 7 * 6 * 5)


def test_after_a_cancel_it_goes_on(backend):
    backend.ask("change", {"density": 0.2})
    backend.cancel()
    backend.wait()
    backend.ask("look", 2)
    backend.wait()
    assert backend.part("nest")["number"] == 2
    backend.ask("look", 999_999)
    backend.wait()
    assert "no such nest" in backend.part("status")["message"]


def in_here(*requests):
    """Return the answers of the process to requests, one after another, computed in this one."""
    sent = []
    for request in requests:
        # as it travels
        answer(request, lambda message: sent.append(json.loads(json.dumps(message))))
    return sent


def parts(sent):
    return {name: data for kind, name, *rest in sent if kind == "part" for data in rest}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_network_runs_right_and_on_the_other_machine(name, tmp_path, monkeypatch):
    store = tmp_path / "runs.sqlite"
    monkeypatch.setenv(KEEP_RUNS, str(store))
    monkeypatch.setattr(answering, "MEASURED", 2)
    monkeypatch.setattr(answering, "SECONDS", 0.2)
    asked = NetworkQuestion.shipped(name).changed({"density": 0.05})
    sent = in_here(("solve", asked), ("measure", -1), ("code", 0), ("dataflow",))
    assert [m[0] for m in sent if m[0] in ("done", "refused")] == ["done"] * 4
    found = parts(sent)
    ran = [row for row in found["solutions"]["rows"] if row["measured"] is not None]
    assert {row["way"] for row in ran} == {"fused", "unfused", "n-ary"}
    assert all(row["error"] < 1e-9 and not row["wrong"] for row in ran)
    assert found["solutions"]["best"] == min(row["measured"] for row in ran)
    assert "double" in found["nest"]["code"] or "float64" in found["nest"]["code"]
    rows = found["dataflow"]["rows"]
    assert [row["name"] for row in rows] == ["unfused", "fused"]
    assert rows[0]["ok"]
    assert all(row["reason"] or row["loops"].startswith("for ") for row in rows[1:])
    assert all(row["reason"] or row["ok"] for row in rows)
    with RunStore(store) as runs:
        kept = runs.runs()
    assert len(kept) == len(ran)
    assert all(run.label.machine.startswith("CPU") for run in kept)
    assert all(run.label.name.startswith(name) for run in kept)


def test_requests_that_are_none_are_answered():
    answering._known.clear()
    assert in_here(("nonsense",), ("look", 0))[-1][0] == "refused"
    assert in_here(("measure", -1))[-1][0] == "refused"
    assert in_here(("pareto",))[-1][0] == "refused"
    assert in_here(("dataflow",))[-1][0] == "refused"
