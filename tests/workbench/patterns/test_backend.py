"""The backend of the page of access patterns: answers, refusals that lose nothing, cancelling."""

from __future__ import annotations

import pytest

from fuseloom.access.kernels import matmul
from fuseloom.access.text import read_term, to_text
from fuseloom_workbench.patterns import answering
from fuseloom_workbench.patterns.asked import LONGEST, MappingQuestion
from fuseloom_workbench.patterns.backend import PatternBackend

BROKEN = '(rule swap "x" (concat ?a ?b ?d) => (concat ?b ?a ?d))'


@pytest.fixture(scope="module")
def backend():
    made = PatternBackend(MappingQuestion().changed({"kernel": "matmul", "rows": 16}))
    made.wait()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _as_it_was(request):
    yield
    if "backend" in request.fixturenames:
        backend = request.getfixturevalue("backend")
        while backend.part("mapping")["undo"]:
            backend.ask("undo")
        backend.wait()


def asked(backend, name, *arguments):
    backend.ask(name, *arguments)
    backend.wait()
    return backend.part("status")


def test_a_kernel_is_mapped_and_checked(backend):
    array = backend.part("array")
    assert array["error"] < 1e-9
    assert [call["rows"] for call in array["calls"]] == [16, 16]
    terms = backend.part("terms")
    assert read_term(terms["text"]).term
    assert terms["steps"][-1]["rule"] == "systolic-array"
    assert backend.part("saturation")["stopped"] == "saturated"
    rules = {rule["name"]: rule for rule in backend.part("rewrites")["rules"]}
    assert rules["systolic-array"]["hits"] >= 2
    assert rules["systolic-array"]["used"] == 2


def test_sizes_and_rules_are_taken_and_taken_back(backend):
    before = backend.part("array")["cycles"]
    assert asked(backend, "change", {"rows": 32})["ok"]
    assert backend.part("array")["total"] == 1
    assert asked(backend, "change", {"without": ["systolic-array"]})["ok"]
    assert backend.part("array")["unmapped"][0]["reasons"] == ["no rule makes calls of an array"]
    assert not {r["name"]: r["on"] for r in backend.part("rewrites")["rules"]}["systolic-array"]
    asked(backend, "undo")
    asked(backend, "undo")
    assert backend.part("array")["cycles"] == before


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rows": 0}, "rows is an integer"),
        ({"extents": "m=4,k=4"}, "matmul has no n"),
        ({"kernel": "matmull"}, "is no kernel"),
        ({"term": "(access A 1)"}, "line 1, column 9: A is no tensor"),
        ({"own": "(rule x"}, "never closed"),
        ({"layer": 5}, "it has 1 layer"),
        ({"extents": "m=100000,k=100000,n=2"}, "more than the"),
    ],
)
def test_what_is_refused_leaves_the_last_mapping(backend, changes, says):
    before = backend.parts["array"]
    told = asked(backend, "change", changes)
    assert not told["ok"]
    assert says in told["message"]
    if "rows" in changes:
        assert backend.parts["array"] == before


def test_a_term_is_read_while_it_is_written(backend):
    backend.ask("write", "(tensor A 3 4)\n(access A 3)")
    error = backend.part("term")["written"]["error"]
    assert (error["line"], error["column"]) == (2, 1)
    backend.ask("write", "(tensor A 3 4)\n(access A 1)")
    written = backend.part("term")["written"]
    assert written["error"] is None
    assert written["lines"][0]["shape"] == {
        "access": [3], "compute": [4], "text": "((3), (4))"
    }  # fmt: skip
    backend.ask("write", "x" * (LONGEST + 1))
    assert "not read here" in backend.part("term")["written"]["error"]["message"]
    told = asked(backend, "change", {"term": to_text(matmul(8, 8, 8))})
    assert told["ok"]
    assert backend.part("term")["of"] == "term"
    assert backend.part("term")["written"] is None


def test_parts_classes_and_steps_are_looked_at(backend):
    asked(backend, "inspect", "after", [0], 0)
    assert backend.part("pattern")["which"] == "after"
    backend.ask("inspect", "before", [0], 40)
    backend.wait()
    pattern = backend.part("pattern")
    assert (pattern["construct"], pattern["start"]) == ("cartProd", 40)
    root = backend.part("saturation")["root"]
    other = backend.part("saturation")["class"]["nodes"][0]["operands"][0]
    asked(backend, "class", other)
    users = backend.part("saturation")["class"]["users"]
    assert root in {user["number"] for user in users}
    asked(backend, "step", 0)
    assert backend.part("terms")["step"]["number"] == 0
    for request, says in (
        (("inspect", "after", [9, 9], 0), "no such part"),
        (("inspect", "never", [], 0), "no such term"),
        (("class", 10**9), "no such class"),
        (("step", 10**6), "no such step"),
        (("check", "never"), "no rule never"),
    ):
        told = asked(backend, *request)
        assert not told["ok"]
        assert says in told["message"]


def test_a_rule_of_ones_own_is_checked(backend):
    told = asked(backend, "change", {"own": BROKEN})
    assert told["ok"]
    asked(backend, "check", "swap")
    checked = backend.part("rewrites")["checked"]
    assert not checked["ok"]
    assert "concat" in checked["left"]
    asked(backend, "check", "box-of-box")
    assert backend.part("rewrites")["checked"]["ok"]


def test_arrays_are_compared_and_one_is_the_best(backend):
    told = asked(backend, "compare", 5000, False)
    made = backend.part("designs")["designs"]
    assert len(made["rows"]) == len(answering.SIZES) * len(answering.BUFFERS)
    best = [row for row in made["rows"] if row["best"]]
    assert len(best) == 1
    within = [row for row in made["rows"] if row["area"] <= 5000]
    assert best[0]["cycles"] == min(row["cycles"] for row in within)
    assert f"{best[0]['rows']} × {best[0]['columns']}" in told["message"]
    asked(backend, "change", {"rows": 8})
    assert backend.part("designs")["designs"] is None


def test_cancelling_loses_nothing(backend):
    backend.ask("change", {"extents": "m=512,k=512,n=512", "rows": 8, "columns": 8})
    backend.cancel()
    backend.wait()
    assert backend.asked.rows == 8
    told = asked(backend, "change", {"extents": "m=16,k=16,n=16"})
    assert told["ok"]
    assert backend.part("array")["total"] >= 1


def test_limits_end_a_saturation_and_say_so(backend):
    told = asked(backend, "change", {"iterations": 2, "extents": "m=64,k=64,n=64"})
    assert "the limit of iterations ended it" in told["message"]
    assert len(backend.part("saturation")["steps"]) == 2
