"""Prices of moves: each is the estimate of the design after it, whatever the design has."""

from __future__ import annotations

import random
from itertools import count

import pytest

from fuseloom.errors import FuseloomError
from fuseloom.program import print_program
from fuseloom_workbench.chain import prices
from fuseloom_workbench.chain.prices import Move, Price
from fuseloom_workbench.state.estimate_figures import EstimateFigures
from fuseloom_workbench.state.session import Session
from tests.property.test_everything_at_once import draw


def every(session: Session) -> dict[Move, Price]:
    *_, last = prices.find(session, lambda *_: "")
    assert last.whole
    assert last.now == EstimateFigures.of(session.built)
    return dict(last.moves)


def make(session: Session, move: Move) -> bool:
    """Make a move as a visitor does."""
    if not move.gap:
        return session.add_boundary(move.to)
    return session.move_boundary(*move) if move.to else session.remove_boundary(move.gap)


def agree(session: Session, move: Move, known: Price) -> None:
    """Make a move, compare what it gives with its price, and undo it."""
    before = session.configuration
    granted = make(session, move)
    assert granted is (known.figures is not None), (move, session.message)
    if known.figures is None:
        assert session.message.startswith(known.refused[:80])
        return
    assert known.figures == EstimateFigures.of(session.built)
    assert known.figures.cycles == pytest.approx(session.estimate.cycles)
    assert session.message.endswith(known.told)
    assert session.undo() or session.configuration == before
    assert session.configuration == before


SCHEDULES = [
    "fuse T1..H; fuse T5..Y",
    "fuse T1..Y",
    "",
    "fuse T1..H; fuse T5..Y; parallel T1..H: i by 4; order T5..Y: i,k,n,m",
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_price_is_the_estimate_after_the_move(schedule: str) -> None:
    session = Session("gcn", "karate")
    assert session.set_schedule(schedule), session.message
    for move, known in every(session).items():
        agree(session, move, known)


@pytest.mark.deep  # estimates for seconds
@pytest.mark.parametrize("most", [4, pytest.param(12, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("model", ["graphsage", "gpt3", "autoencoder"])
def test_prices_of_large_models(model: str, most: int) -> None:
    session = Session(model, "random")
    assert session.set_machine("hbm2")
    moves = prices.moves_of(session.built, session.region)
    for move in random.Random(7).sample(moves, min(most, len(moves))):
        agree(session, move, prices.price(session.built, move))


@pytest.mark.deep  # estimates for seconds
@pytest.mark.parametrize("programs", [8, pytest.param(50, marks=pytest.mark.fuzz)])
def test_prices_of_random_programs(programs: int) -> None:
    """Four moves of each."""
    seen = 0
    for case in filter(None, map(draw, count())):
        session = Session("spmm", "random")
        if not session.set_program(print_program(case.program)) or len(session.built.units) < 2:
            continue
        rng = random.Random(seen)
        session.set_cuts(rng.sample(range(1, len(session.built.units)), 1))  # if that is legal
        moves = prices.moves_of(session.built, 0)
        for move in rng.sample(moves, min(4, len(moves))):
            agree(session, move, prices.price(session.built, move))
        seen += bool(moves)
        if seen == programs:
            return


@pytest.mark.deep  # estimates for seconds
@pytest.mark.parametrize(
    ("model", "data", "drags"),
    [
        ("gcn", "karate", 60),
        pytest.param("gcn", "karate", 150, marks=pytest.mark.fuzz),
        pytest.param("graphsage", "random", 50, marks=pytest.mark.fuzz),
    ],
)
def test_random_drags_give_what_they_promise(model: str, data: str, drags: int) -> None:
    """One after another, from presets with orders and lanes of their own now and then."""
    rng = random.Random(11)
    session = Session(model, data)
    for k in range(drags):
        if k % 12 == 0:
            session.preset(rng.choice([*session.presets]))
            region = session.regions[0]
            span = region.name if ".." in region.name else f"{region.name}..{region.name}"
            lanes = f"parallel {span}: {region.own_order[0]} by {rng.choice((2, 4))}"
            assert session.set_schedule(f"{session.built.schedule}; {lanes}"), session.message
        move = rng.choice(prices.moves_of(session.built, session.region))
        known = prices.price(session.built, move)
        assert make(session, move) is (known.figures is not None), (move, session.message)
        if known.figures is not None:
            assert known.figures == EstimateFigures.of(session.built)
            assert session.message.endswith(known.told)


def test_every_gap_has_its_move_and_every_boundary_its_drags() -> None:
    session = Session("gcn", "karate")
    moves = prices.moves_of(session.built, 0)
    assert {m for m in moves if not (m.gap and m.to)} == {
        Move(4, 0), *(Move(0, to) for to in (1, 2, 3, 5, 6, 7))
    }  # fmt: skip
    assert {m for m in moves if m.gap and m.to} == {Move(4, to) for to in (1, 2, 3, 5, 6, 7)}
    assert moves[:3] == [Move(0, 1), Move(0, 2), Move(0, 3)], "those of the region shown first"
    session.set_cuts([2, 5])
    drags = [m for m in prices.moves_of(session.built, 0) if m.gap and m.to]
    assert {*drags} == {*(Move(2, to) for to in (1, 3, 4)), *(Move(5, to) for to in (3, 4, 6, 7))}
    assert abs(drags[0].to - drags[0].gap) == 1, "short ways first"


def test_nothing_moves_across_a_reshape() -> None:
    session = Session("gpt3", "random")
    moves = prices.moves_of(session.built, 0)
    fences = {g for g, unit in enumerate(session.built.units) if unit.memory}
    touched = {g for move in moves for g in move if g}
    assert fences
    assert touched.isdisjoint(fences | {g + 1 for g in fences})


def test_the_parts_of_a_change_add_up() -> None:
    session = Session("gcn", "karate")
    for known in every(session).values():
        assert known.figures is not None
        figures = known.figures
        parts = (figures.memory, figures.computing, figures.recomputing, figures.pipeline)
        assert figures.cycles == sum(parts)
        assert min(parts) >= 0


def test_plain_data() -> None:
    session = Session("gcn", "karate")
    *_, last = prices.find(session, lambda *_: "")
    told = {(gap, to): price for gap, to, price in prices.view(session, last)["moves"]}
    assert told[4, 0]["cycles"][0] == "+35.6 k"
    assert told[4, 0]["total"] == "est. 49,435 cycles"
    assert told[4, 0]["change"] == "+35,571, 0.28×"
    split = "recomputation +38,308, computing −2,686, fill, drain, waits −51"
    assert told[4, 0]["split"] == split
    assert told[4, 3]["cycles"][1] < 0 < told[4, 0]["cycles"][1]


def test_a_move_that_cannot_be_made_says_why() -> None:
    session = Session("gcn", "karate")
    with pytest.raises(FuseloomError):
        Move(4, 9).made(session.built)
    refused = prices.price(session.built, Move(4, 9))
    assert "there is no gap 9" in refused.refused
    found = prices.Prices(EstimateFigures.of(session.built), {Move(4, 9): refused}, whole=True)
    assert prices.view(session, found)["moves"] == [[4, 9, {"refused": refused.refused}]]


def test_prices_that_take_too_long_stay_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "PATIENCE", -1.0)
    session = Session("gcn", "karate")
    assert every(session) == {}
