"""The map of pairs of moves: every place is the estimate of the design that a click there shows."""

from __future__ import annotations

from random import Random

import pytest

from fuseloom_workbench.base.parts import LATER
from fuseloom_workbench.landscape.view import LandscapeMap, pairs, place, view
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session

PART = LATER["landscape"]


def mapped(session: Session) -> LandscapeMap:
    carry_out(session, "map_pairs", [True])
    *_, last = PART.work(session, lambda text, form: "")
    assert last.whole
    return last


def test_it_is_made_on_demand():
    session = Session("gcn", "karate")
    assert PART.key(session) == ""
    assert view(session, None) == {"mapped": False, "why": "", "total": 28}
    carry_out(session, "map_pairs", [True])
    assert PART.key(session)
    carry_out(session, "map_pairs", [False])
    assert PART.key(session) == ""


def test_every_pair_of_gaps_is_on_it_once_single_moves_first():
    session = Session("gcn", "karate")
    every = pairs(session.built)
    assert len(every) == len(set(every)) == 28
    assert every[:7] == [(g, g) for g in range(1, 8)]
    assert list(mapped(session).known) == every


@pytest.mark.parametrize(
    ("model", "schedule"),
    [("gcn", None), ("gcn", "fuse T1..H; fuse T5..Y; parallel T1..H: i by 4"), ("graphsage", None)],
)
def test_a_place_is_what_a_click_on_it_shows(model, schedule):
    session = Session(model, schedule=schedule)
    known = mapped(session).known
    every = list(known.items())
    if model != "gcn":
        every = Random(7).sample(every, 8)
    base = session.built
    for (first, second), at in every:
        carry_out(session, "take_pair", [first, second])
        if at.cycles is None:
            assert not session.ok
            assert session.message.startswith(at.told[:200])
        else:
            assert session.estimate.cycles == at.cycles
            assert set(session.cuts) == {*base.gaps} ^ {first, second}
            assert at.told in session.message
    assert session.mapped is base


@pytest.mark.deep
def test_places_of_a_large_model():
    session = Session("gpt3")
    carry_out(session, "map_pairs", [True])
    for first, second in Random(3).sample(pairs(session.built), 12):
        at = place(session.mapped, (first, second))
        carry_out(session, "take_pair", [first, second])
        assert session.ok == (at.cycles is not None)
        assert not session.ok or session.estimate.cycles == at.cycles


def test_designs_with_names_are_marked_or_told_how_far_they_are():
    session = Session("gcn", "karate")
    found = mapped(session)
    shown = view(session, found)
    marks = {name: (a, b) for a, b, name in shown["marks"]}
    assert marks["preset partial"] == marks["the design shown"] == (0, 0)
    assert marks["preset full"] == (4, 4)
    assert "preset unfused: 6 moves" in shown["far"]
    carry_out(session, "take_pair", [2, 4])
    again = {name: (a, b) for a, b, name in view(session, found)["marks"]}
    assert again["the design shown"] == (2, 4)
    assert not view(session, found)["own"]
    session.preset("unfused")
    assert "the design shown: 6 moves" in view(session, found)["far"]


def test_the_best_place_is_the_one_of_the_fewest_cycles():
    session = Session("gcn", "karate", schedule="")
    found = mapped(session)
    best = view(session, found)["best"]
    fewest = min(at.cycles for at in found.known.values() if at.cycles is not None)
    assert found.known[tuple(best)].cycles == fewest < session.estimate.cycles


def test_a_refused_place_says_why():
    session = Session("gcn", "karate", schedule="fuse T1..H; fuse T5..Y; order T1..H: i,k,p,n")
    found = mapped(session)
    for cell in view(session, found)["cells"]:
        assert (cell[2] is None) == (cell[3] == "refused")
        assert cell[2] is not None or cell[4]


def test_what_takes_too_long_stays_unknown():
    session = Session("gcn", "karate")
    carry_out(session, "map_pairs", [True])
    work = PART.work(session, lambda text, form: "")
    part = [next(work) for _ in range(3)][-1]
    kept = PART.given_up(session, part, 20.0)
    shown = view(session, kept)
    assert shown["whole"]
    assert (shown["done"], shown["total"]) == (3, 28)
    assert view(session, PART.given_up(session, None, 20.0))["done"] == 0


def test_another_program_has_another_map():
    session = Session("gcn", "karate")
    mapped(session)
    key = PART.key(session)
    session.choose("graphsage")
    assert view(session, None)["mapped"] is False
    carry_out(session, "take_pair", [1, 2])
    assert not session.ok
    assert "map them first" in session.message
    session.choose("gcn", "karate")
    assert PART.key(session) == key


def test_another_machine_has_another_map():
    """A click on a map of another machine would bring that back, unsaid."""
    session = Session("gcn", "karate")
    found = mapped(session)
    session.set_machine("hbm2")
    assert PART.key(session) == ""
    assert view(session, found)["mapped"] is False
    carry_out(session, "take_pair", [2, 4])
    assert not session.ok
    assert session.machine.name == "hbm2"
    session.undo()
    assert view(session, found)["mapped"] is True


@pytest.mark.parametrize("model", ["spmv"])
def test_one_kernel_has_no_map(model):
    session = Session(model)
    assert "one kernel" in view(session, None)["why"]


def test_chains_of_too_many_kernels_have_none():
    session = Session("gcn", "karate")
    lines = ["A: 8x8 csr", "T0[i,j] = relu(A[i,j])"]
    lines += [f"T{k}[i,j] = relu(T{k - 1}[i,j])" for k in range(1, 45)]
    assert session.set_program("\n".join(lines)), session.message
    assert "of up to 40" in view(session, None)["why"]
