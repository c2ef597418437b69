"""Ways out of refusals: each builds, says its price, and is taken as it was offered."""

from __future__ import annotations

from itertools import permutations

import pytest

from fuseloom.errors import OrderError
from fuseloom_workbench.shell import view as shell
from fuseloom_workbench.state import commands, repairs
from fuseloom_workbench.state.session import Session


def test_a_tensor_is_stored_once_more_for_an_order(session):
    commands.carry_out(session, "move_row", ["n", 1])
    assert not session.ok
    assert "because W1 is stored (p, n)" in session.message
    (way,) = shell.status(session)["ways"]
    assert way.startswith("Store W1 also as (n, p): 6,696 B once, est. +")
    nnz = session.built.data["W1"].nnz
    assert 2 * nnz * 12 == 6_696  # two coordinates and a value, read and written
    before = session.estimate.cycles
    commands.carry_out(session, "take_way_out", [way])
    assert session.ok, session.message
    assert session.current.own_order == ("i", "n", "p", "k")
    assert "permute T1..H: W1 to n,p" in session.built.resolved
    assert way.endswith(f"est. +{session.estimate.cycles - before:,.0f} cycles")
    assert shell.status(session)["ways"] == []
    assert session.undo()
    assert "permute" not in session.built.resolved


def test_what_is_written_each_run_is_said_to_be(session):
    session.select_region(1)
    assert not session.set_order(1, ["i", "n", "k", "m"])
    assert session.ways[0].text.startswith("Store H also as (n, k): 13,056 B each run")


def test_what_cannot_be_repaired_has_no_way(session):
    assert not session.move_row("i", 3)  # T3's broadcast and the output need i outside
    assert session.ways == ()
    assert not session.set_order(0, ["i", "k"])
    assert session.ways == ()
    assert not session.take_way_out("Store W1 also as (n, p)")
    assert "not offered any more" in session.message
    assert not session.move_boundary(4, 9)
    assert session.ways == ()


@pytest.mark.parametrize("model", ["nested", "autoencoder", "spmm"])
def test_every_way_gives_the_order_that_was_refused(model):
    session = Session(model)
    offered = 0
    for region, compiled in enumerate(session.regions):
        for order in permutations(compiled.region.indices):
            try:
                compiled.pog.check(order)
            except OrderError:
                for way in repairs.of_order(session.built, region, order):
                    made = repairs.build(way.design, session.built)
                    assert made.regions[region].own_order == order
                    offered += 1
    assert offered


def test_a_program_with_reshapes_can_be_written(session):
    """A reshape is a barrier by itself: nobody has to cut there first."""
    assert session.set_program(
        "A: 6x6 csr\nB: 6x6 csr\nT[i,j] = A[i,k] * B[k,j]\n"
        "R: 36 dense\nR[a] = reshape(T[i,j])\nS[a] = relu(R[a])\nU[a] = exp(S[a])"
    ), session.message
    assert [r.name for r in session.regions] == ["T", "S..U"]
