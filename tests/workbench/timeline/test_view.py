"""The timeline as it comes with the record."""

from __future__ import annotations

import json

from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.rows import shown_runs
from fuseloom_workbench.timeline.view import EMPTY, KEPT, WORKS, view

from .conftest import run


def test_without_a_run_it_says_what_to_do(session: Session) -> None:
    assert view(session) == {"empty": EMPTY}
    kept = run(session, events=False)
    bare = [{**r.to_dict(), "timeline": None} for r in kept.run.regions]
    record = kept.run.from_dict({**kept.run.to_dict(), "regions": bare})
    session.records = {}
    session.finish(session.built, record)
    assert view(session) == {"empty": KEPT}


def test_bins_and_totals_are_the_records(compared: Session) -> None:
    made = view(compared)
    assert json.loads(json.dumps(made)) == made
    here, there = shown_runs(compared)
    for letter, kept in (("b", here), ("a", there)):
        nodes = [row[letter] for row in made["rows"] if row[letter]]
        assert len(nodes) == sum(len(r.nodes) for r in kept.run.regions)
        for node in nodes:
            region = kept.run.regions[node["region"]]
            told = region.rows[node["node"]]
            assert node["totals"] == [told[name] for name in WORKS]
            for total, bins in zip(node["totals"], node["bins"], strict=True):
                assert sum(bins) == total
        about = made["runs"][letter]
        assert about["cycles"] == kept.run.cycles
        assert about["events"]
        assert sum(stop - start for *_, start, stop in about["path"]) <= kept.run.cycles
    assert made["note"] == ""


def test_a_run_without_events_says_so(session: Session) -> None:
    run(session, events=False)
    made = view(session)
    assert not made["events"]
    assert made["note"].startswith("This run kept no events: what is shown is counted per ")
    assert made["note"].endswith(" cycles.")
    assert set(made["runs"]) == {"b"}
    assert all(row["a"] is None for row in made["rows"])


def test_a_path_lies_in_the_rows_of_the_timeline(compared: Session) -> None:
    made = view(compared)
    known = {(row["a"]["region"], row["a"]["node"]) for row in made["rows"] if row["a"]}
    path = made["runs"]["a"]["path"]
    assert {(region, node) for region, node, _, _ in path} <= known
    begins = made["runs"]["a"]["regions"][1]["begins"]
    assert all((start >= begins) == (region == 1) for region, _, start, _ in path)


def test_the_selected_node_has_its_row(compared: Session) -> None:
    assert view(compared)["selected"] == -1
    compared.select_node(7)
    made = view(compared)
    assert made["rows"][made["selected"]]["b"]["node"] == 7
    compared.select_node(-1)
