"""The chain of statements and the regions they lie in."""

from __future__ import annotations

import json

import pytest

from fuseloom_workbench.base.quantities import short
from fuseloom_workbench.chain.fusion_chain import FusionChain
from fuseloom_workbench.state.session import Session


def test_the_chain_shows_regions_with_estimates(session):
    view = FusionChain(session).view
    assert [u["region"] for u in view["units"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert all("cycles" in r["estimate"] for r in view["regions"])
    assert sum(r["share"] for r in view["regions"]) == pytest.approx(1)


@pytest.mark.deep  # takes seconds
def test_the_chain_shows_what_a_run_took(explained):
    regions = FusionChain(explained).view["regions"]
    assert [region["simulated"] for region in regions] == [
        short(region.cycles, "cycles") for region in explained.record.run.regions
    ]
    assert not any(
        region["simulated"] for region in FusionChain(Session("gcn", "karate")).view["regions"]
    )


@pytest.mark.deep  # takes seconds
def test_boxes_show_their_cycles_of_the_critical_path(explained):
    view = FusionChain(explained).view
    run = explained.record.run
    assert all(u["path"] is not None for u in view["units"])
    told = sum(u["path"]["share"] for u in view["units"]) * run.cycles
    assert 0.9 * run.cycles < told <= run.cycles + 1e-6
    slowest = max(view["units"], key=lambda u: u["path"]["share"])
    assert slowest["name"] == "·W1"
    assert slowest["path"]["cycles"] == f"{slowest['path']['share'] * run.cycles:,.0f}"
    unknown = FusionChain(Session("gcn", "karate")).view
    assert not any(u["path"] for u in unknown["units"])


@pytest.mark.deep  # takes seconds
def test_who_feeds_whom_is_drawn_in_columns(session):
    view = FusionChain(session).view
    assert view["links"] == [[k, k + 1] for k in range(7)]
    assert [u["place"] for u in view["units"]] == [[k, 0] for k in range(8)]
    decoder = FusionChain(Session("gpt3")).view
    places = [tuple(u["place"]) for u in decoder["units"]]
    assert len(set(places)) == len(places)
    heads = next(u for u in decoder["units"] if u["name"] == "QKV")
    assert len(heads["parts"]) == 3  # beside each other
    assert all(places[a][0] < places[b][0] for a, b in decoder["links"])


def test_regions_are_compared_with_run_a(run_once):
    session = run_once
    session.pin(0)
    chain = FusionChain(session)
    assert not any(r["against"] for r in chain.view["regions"])  # it is run A itself
    session.set_cuts([3])
    view = chain.view
    assert [u["name"] for u in view["units"] if u["pinned"]] == ["A·H"]
    assert view["keys"][0]["text"] == "where run A cuts"
    assert not any(r["against"] for r in view["regions"])  # nothing is measured yet


@pytest.mark.deep  # takes seconds
def test_boxes_know_what_is_computed_over_and_over(session):
    chain = FusionChain(session)
    session.preset("full")
    chain.backend.parts["why"] = json.dumps(
        {"recomputed": [{"tensor": "T2", "factor": "4.6×", "made": "43,524", "needed": "9,486"}]}
    )
    chain.refresh()
    assert chain.factors == {"T2": ["4.6×", "43,524 instead of 9,486 values"]}
    assert chain.view["units"][1]["tensors"] == ["T2"]
