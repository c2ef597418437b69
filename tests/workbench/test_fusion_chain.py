"""The chain of statements and the regions they lie in."""

from __future__ import annotations

import pytest

from workbench.fusion_chain import FusionChain


def test_the_chain_shows_regions_with_estimates(session):
    view = FusionChain(session).view
    assert [u["region"] for u in view["units"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert all("cycles" in r["estimate"] for r in view["regions"])
    assert view["regions"][0]["fill"] != view["regions"][1]["fill"]
    assert sum(r["share"] for r in view["regions"]) == pytest.approx(1)
