"""The choices at a cell, which equal the schedule afterwards."""

from __future__ import annotations

import pytest

from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom_workbench.state.carrying import recut
from fuseloom_workbench.state.cells import choices, with_choice
from fuseloom_workbench.state.session import Session


def keys(session: Session, column: str, row: str) -> list[str]:
    return [c.key for c in choices(session.built, session.region, column, row)]


def test_each_kind_of_cell_has_its_choices(session):
    assert keys(session, "X", "k") == ["scan", "locate", "lanes 2", "lanes 4"]
    assert keys(session, "T1", "n")[:2] == ["references", "values"]
    assert keys(session, "T1", "val") == ["write"]
    assert keys(session, "H", "val") == ["store dense", "store compressed"]
    assert keys(session, "A", "n") == []  # passes through
    assert keys(session, "A", "val") == []
    assert keys(session, "Z", "k") == []


def test_a_look_up_becomes_a_scan_and_an_intersection_and_back(session):
    before = session.built.resolved
    assert session.choose_at("X", "k", "scan"), session.message
    assert session.built.resolved.endswith("locate T1..H: X.k off")
    assert session.current.table.cells["X", "k"].kind.name == "JOIN"
    assert [s.name for s in session.trail[0]][-1] == "locate T1..H: X.k off"
    chosen = {c.key: c.chosen for c in choices(session.built, 0, "X", "k")}
    assert chosen == {"scan": True, "locate": False, "level": False, "lanes 2": False,
                      "lanes 4": False}  # fmt: skip
    assert session.choose_at("X", "k", "level")
    assert session.built.resolved == before


def test_one_choice_takes_the_place_of_another(session):
    assert session.choose_at("A", "i", "lanes 4")
    assert session.choose_at("A", "i", "lanes 2")
    assert session.built.resolved.count("parallel") == 1
    assert "parallel T1..H: i by 2" in session.built.resolved
    assert "lanes 1" in keys(session, "A", "i")
    assert session.choose_at("A", "i", "lanes 1")
    assert "parallel" not in session.built.resolved


def test_values_or_references_are_repeated(session):
    cycles = session.estimate.cycles
    assert session.choose_at("T1", "n", "references")
    assert session.current.region.options.repeat_references
    assert session.choose_at("A", "p", "values")
    assert not session.current.region.options.repeat_references
    assert session.estimate.cycles == cycles


def test_a_tensor_is_written_to_memory(session):
    assert session.choose_at("T2", "val", "write")
    assert [r.name for r in session.regions] == ["T1..T2", "T3..H", "T5..Y"]


def test_what_cannot_be_is_refused_and_nothing_changes(session):
    before = session.built.resolved
    assert not session.choose_at("H", "val", "store dense")
    assert "may lack coordinates" in session.message
    assert not session.choose_at("A", "n", "scan")
    assert "no choice 'scan'" in session.message
    assert session.built.resolved == before
    with pytest.raises(ScheduleError, match=r"cell A\.n has no choice"):
        with_choice(session.built, 0, "A", "n", "scan")


def test_what_is_said_of_a_region_waits_until_it_is_there_again(session):
    """A boundary can be moved although a directive names the region that it undoes.

    The region that has most of it has the lanes meanwhile.
    """
    assert session.choose_at("A", "i", "lanes 4")
    lanes = session.estimate.cycles
    gap = session.cuts[0]
    assert session.move_boundary(gap, gap - 1), session.message
    assert "parallel T1..T3: i by 4" in session.built.resolved
    assert "parallel T1..H" not in session.built.resolved
    assert session.move_boundary(gap - 1, gap), session.message
    assert "parallel T1..H: i by 4" in session.built.resolved
    assert session.estimate.cycles == lanes


def test_text_that_names_no_region_is_refused(session):
    for directive in ("locate T1..T5: A.k off", "order T1..T5: i,k", "parallel T1..T5: i by 2"):
        assert not session.set_schedule(f"fuse T1..H; {directive}")
        assert "names no region" in session.message
        assert session.place == (1, 13)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    "model",
    ["spmv", "nested"]
    + [
        pytest.param(name, marks=pytest.mark.deep)
        for name in ("autoencoder", "attention", "graphsage")
    ]
    + [pytest.param("gpt3", marks=pytest.mark.fuzz)],  # hundreds of choices
)
def test_every_choice_of_every_model_compiles_or_says_why_not(model):
    session = Session(model)
    refused = []
    for region, compiled in enumerate(session.regions[:2]):
        seen = set()
        for column, row in compiled.table.cells:
            for choice in choices(session.built, region, column, row):
                if choice.key in seen or len(seen) > 12:
                    continue
                seen.add(choice.key)
                try:
                    assert recut(choice.design(), session.built).built.regions
                except FuseloomError as reason:
                    refused.append(str(reason))
    assert all(len(reason) > 20 for reason in refused)
