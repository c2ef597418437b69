"""A region: its order, its text."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import OrderError
from tests.dataflow.fusion.fused import CHAIN


def test_a_region_order_is_checked_and_kept() -> None:
    (region,) = fuse(CHAIN, Schedule.parse("fuse B..E; order B..E: i,j"))
    assert region.chosen == region.default_order() == ("i", "j")
    with pytest.raises(OrderError, match="i must stay outside j, because A is stored"):
        fuse(CHAIN, Schedule.parse("fuse B..E; order B..E: j,i"))


def test_a_region_prints_its_views_and_constraints() -> None:
    (region,) = fuse(CHAIN, Schedule.parse("fuse B..E"))
    assert region.inputs == ("A",)
    assert str(region) == (
        "region B..E -> E\n"
        "  B[i,j] = relu(A[i,j])\n"
        "  C[i,j] = exp(B[i,j])\n"
        "  D[i,j] = B[i,j] * C[i,j]\n"
        "  E[i] = D[i,j]  over j\n"
        "  i→j (A is stored (i, j))"
    )
