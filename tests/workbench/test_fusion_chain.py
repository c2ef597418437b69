"""The chain of statements and the regions they lie in."""

from __future__ import annotations

import pytest

from workbench.fusion_chain import FusionChain
from workbench.quantities import short
from workbench.session import Session


def test_the_chain_shows_regions_with_estimates(session):
    view = FusionChain(session).view
    assert [u["region"] for u in view["units"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert all("cycles" in r["estimate"] for r in view["regions"])
    assert view["regions"][0]["fill"] != view["regions"][1]["fill"]
    assert sum(r["share"] for r in view["regions"]) == pytest.approx(1)


def test_the_chain_shows_what_a_run_took(explained):
    regions = FusionChain(explained).view["regions"]
    assert [region["simulated"] for region in regions] == [
        short(region.cycles, "cycles") for region in explained.record.run.regions
    ]
    assert not any(
        region["simulated"] for region in FusionChain(Session("gcn", "karate")).view["regions"]
    )
