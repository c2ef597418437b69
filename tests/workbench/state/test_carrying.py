"""Directives of regions where boundaries move: kept wherever legal, told where not."""

from __future__ import annotations

import pytest

from fuseloom.errors import FuseloomError
from fuseloom_workbench.state import edits
from fuseloom_workbench.state.session import Session

LANES = "fuse T1..H; fuse T5..Y; parallel T1..H: i by 4"


def scheduled(text: str) -> Session:
    session = Session("gcn", "karate")
    assert session.set_schedule(text), session.message
    return session


def own(session: Session) -> list[str]:
    """The directives of regions, of those there are."""
    return [part for part in str(session.built.schedule).split("; ") if "fuse" not in part]


def test_both_parts_of_a_cut_region_keep_its_lanes():
    session = scheduled(LANES)
    assert session.add_boundary(2)
    assert own(session) == ["parallel T1..T2: i by 4", "parallel T3..H: i by 4"]
    assert "Given up" not in session.message
    lanes = [dict(region.region.options.lanes) for region in session.regions]
    assert lanes == [{"i": 4}, {"i": 4}, {}]


def test_what_is_fused_keeps_them_under_its_own_names():
    session = scheduled(LANES)
    assert session.remove_boundary(4)
    (region,) = session.regions
    assert dict(region.region.options.lanes) == {"k": 4}, (
        "rows of the first layer are k of the second"
    )


def test_a_boundary_that_comes_back_brings_the_same_design():
    session = scheduled(LANES)
    before = session.configuration
    assert session.move_boundary(4, 3)
    assert own(session) == ["parallel T1..T3: i by 4"], "most of the lanes' region is T1..T3 now"
    assert session.move_boundary(3, 4)
    assert session.configuration == before
    assert session.message.endswith("Taken up again: parallel T1..H: i by 4.")


def test_a_chosen_order_stays_where_all_its_indices_do():
    session = scheduled("fuse T1..H; fuse T5..Y; order T1..H: i,k,p,n")
    assert session.move_boundary(4, 3)
    assert session.built.region_order(0) == ("i", "k", "p", "n")
    assert own(session) == ["order T1..T3: i,k,p,n"]
    assert session.move_boundary(3, 5)
    assert "Given up: order T1..T3: i,k,p,n" in session.message, "T5 brings indices of its own"


def test_look_ups_and_mode_orders_go_with_their_tensors():
    text = "fuse T1..H; fuse T5..Y; locate T1..H: off; repeat T1..H: references"
    session = scheduled(f"{text}; permute T1..H: T1 to p,i")
    assert session.add_boundary(2)
    assert own(session) == [
        "locate T1..T2: off",
        "repeat T1..T2: references",
        "permute T1..T2: T1 to p,i",
        "locate T3..H: off",
        "repeat T3..H: references",
    ]


def test_how_a_tensor_is_stored_ends_with_its_storage():
    session = scheduled("fuse T1..H; fuse T5..Y; store H compressed")
    assert session.remove_boundary(4)
    assert session.message.endswith("Given up: store H compressed.")
    assert "store" not in str(session.built.schedule)


def test_what_cannot_be_kept_is_told():
    session = scheduled(f"{LANES}; parallel T5..Y: i by 2")
    made = edits.with_cuts(session.built, [])
    assert made.built.regions[0].name == "T1..Y"
    lanes = dict(made.built.regions[0].region.options.lanes)
    assert lanes
    assert len(lanes) + len(made.lost) == 2
    assert session.remove_boundary(4)
    assert all(text in session.message for text in made.lost)


def test_a_design_that_cannot_be_built_is_refused_as_before():
    session = Session("gcn", "karate")
    with pytest.raises(FuseloomError, match="no gap 9"):
        edits.with_cuts(session.built, [9])
