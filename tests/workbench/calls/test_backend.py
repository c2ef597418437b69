"""The backend of the page of library calls: answers, refusals that lose nothing, edits."""

from __future__ import annotations

import re

import pytest

from fuseloom_workbench.calls.asked import LONGEST, CallsQuestion
from fuseloom_workbench.calls.backend import CallsBackend

SMALL = {"pipeline": "blur", "extents": "h=40,w=24", "tile": 8}


@pytest.fixture(scope="module")
def backend():
    made = CallsBackend(CallsQuestion().changed(SMALL))
    made.wait()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _as_it_was(request):
    yield
    if "backend" in request.fixturenames:
        backend = request.getfixturevalue("backend")
        while backend.part("composition")["undo"]:
            backend.ask("undo")
        backend.wait()


def asked(backend, name, *arguments):
    backend.ask(name, *arguments)
    backend.wait()
    return backend.part("status")


def test_a_composition_is_resolved_and_counted(backend):
    assert [call["name"] for call in backend.part("calls_graph")["calls"]] == [
        "blur_rows", "blur_columns"
    ]  # fmt: skip
    counts = backend.part("fusion_costs")["counts"]
    assert counts["recomputation"][0]["factor"] == pytest.approx(50 / 42)
    assert len(backend.part("tiles")["steps"]) == counts["calls"] == 10
    assert backend.part("calls_code")["python"][0]["text"].startswith("def fused(")


def test_commands_are_added_refused_and_listed(backend):
    menu = {one["text"]: one["reason"] for one in backend.part("commands")["menu"]}
    assert menu["parallelize 0"] == ""
    assert "depends on j" in menu["reuse t1 0"]
    asked(backend, "command", "reorder 0 1")
    asked(backend, "command", "reuse t1 1")
    assert backend.part("fusion_costs")["counts"]["recomputation"][0]["factor"] == 1.0
    told = asked(backend, "command", "parallelize 7")
    assert not told["ok"]
    assert "no loop at level 7" in told["message"]
    asked(backend, "undo")
    told = asked(backend, "command", "fly")
    assert "is no command" in told["message"]
    assert backend.part("commands")["asked"] == ["reorder 0 1", "reuse t1 1"]


def test_fused_and_whole_calls_are_measured(backend):
    asked(backend, "measure")
    times = backend.part("fusion_costs")["times"]
    assert times["verdict"] in ("fuse", "do not fuse")
    assert min(times["fresh"], times["kept"], times["rows"][0]["fused"]) > 0
    assert times["rows"][0]["error"] < 1e-5
    asked(backend, "change", {"tile": 16})
    assert backend.part("fusion_costs")["times"] is None
    asked(backend, "tune")
    assert len(backend.part("fusion_costs")["times"]["rows"]) > 1


def test_sizes_of_tiles_are_swept(backend):
    asked(backend, "sweep")
    sweep = backend.part("fusion_costs")["sweep"]
    tiles = [row["tile"] for row in sweep["rows"]]
    assert tiles == sorted(tiles)
    assert len(tiles) > 2
    sets = [row["working_set"] for row in sweep["rows"]]
    assert sets == sorted(sets)
    assert min(sweep["fresh"], sweep["kept"], *(row["fused"] for row in sweep["rows"])) > 0
    assert all(re.fullmatch("L[1-9]|memory", row["level"]) for row in sweep["rows"])
    asked(backend, "change", {"threads": 2})
    assert backend.part("fusion_costs")["sweep"] is None


def test_annotations_are_read_used_and_checked(backend):
    text = backend.part("annotations")["calls"][0]["text"]
    backend.ask("write", 0, text.replace("rows: n", "rows n"))
    assert backend.part("annotations")["written"]["error"]["line"] >= 5
    backend.ask("write", 0, text)
    assert backend.part("annotations")["written"]["error"] is None
    backend.ask("write", 0, "x" * (LONGEST + 9))
    assert backend.part("annotations")["written"]["error"] is not None
    asked(backend, "check", 0)
    assert backend.part("annotations")["checked"]["ok"]
    narrow = text.replace("m + 2", "m + 1")
    assert narrow != text
    asked(backend, "annotate", 0, narrow)
    assert backend.part("annotations")["calls"][0]["edited"]
    asked(backend, "check", 0)
    assert not backend.part("annotations")["checked"]["ok"]
    told = asked(backend, "measure")
    assert not told["ok"]
    assert "a call failed on its parts" in told["message"]
    asked(backend, "annotate", 0, None)
    assert backend.part("annotations")["calls"][0]["text"] == text


def test_an_annotation_that_does_not_fit_is_refused_with_its_place(backend):
    told = asked(backend, "annotate", 1, "n: Symbolic for")
    assert not told["ok"]
    fault = backend.part("annotations")["fault"]
    assert (fault["name"], fault["line"]) == ("blur_columns", 1)
    text = "n: Symbolic for i in [0, out.rows, n] { produces { out { row: i } } when consumes { } }"
    told = asked(backend, "annotate", 1, text)
    assert "does not say" in told["message"]


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (("change", {"extents": "h=0,w=2"}), "h is 0"),
        (("change", {"extents": "q=2"}), "has no extent q"),
        (("check", 9), "there is no such call"),
    ],
)
def test_what_is_refused_is_told(backend, request_, says):
    told = asked(backend, *request_)
    assert not told["ok"]
    assert says in told["message"]
