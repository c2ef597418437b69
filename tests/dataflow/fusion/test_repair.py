"""Breaking cycles of constraints: docs/spec/fusion.md §2.5 and §2.6, and more."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.repair import RepairKind
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.result import measured_work
from fuseloom.errors import FuseloomError, OrderError, ScheduleError
from fuseloom.program import parse

from .test_pog import FIGURE_8, GRAM


def regions(text: str, schedule: str = "") -> tuple[FusedRegion, ...]:
    return fuse(parse(text), Schedule.parse(schedule))


def check(text: str, schedule: str) -> tuple[str, ...]:
    """Run it on random data, compare with the reference, give the regions' orders."""
    program = parse(text)
    compiled = compile_program(program, schedule)
    rng = np.random.default_rng(3)
    shapes = {name: program.tensor(name).shape for name in program.inputs}
    data = {
        name: np.where(rng.random(shape) < 0.5, rng.integers(1, 9, shape), 0)
        for name, shape in shapes.items()
    }
    result = simulate(compiled, data, engine="interpreter").check()
    assert result.ok, result
    return tuple(" ".join(r.order) for r in compiled.regions)


INNER = "fuse A..E; order A: i,j,k; order E: i,j,k"


def test_figure_8_permutes_the_view() -> None:
    """docs/spec/fusion.md §2.5: A is made row by row but wanted column by column."""
    (region,) = regions(FIGURE_8, INNER)
    (repair,) = region.repairs
    assert repair.cycle == ("j", "k")
    assert repair.taken.kind is RepairKind.VIEW
    assert repair.taken.view == "A"
    edges = {(e.outer, e.inner) for e in region.pog.edges}
    assert edges == {("i", "k"), ("k", "k'"), ("i", "j"), ("j", "k"), ("j", "k'")}
    assert list(region.pog.orders()) == [("i", "j", "k", "k'")]
    assert check(FIGURE_8, INNER) == ("i j k k'",)
    # B owns no edge inside the cycle, so the only other way is to write A to memory.
    assert [offer.kind for offer in repair.offers] == [RepairKind.VIEW, RepairKind.CUT]
    assert str(repair) == (
        "the cycle of j, k is broken: produce A in another order, without its wish k→j (free); "
        "other ways: materialise A (at most 384 bytes each run)"
    )


def test_figure_8_materialised_by_the_user() -> None:
    first, second = regions(FIGURE_8, INNER + "; materialise A")
    assert (first.name, second.name) == ("A", "E")
    # A is written (i, j), so its inner product asks for a copy in the second region.
    assert [repair.taken.view for repair in second.repairs] == ["A"]
    assert check(FIGURE_8, INNER + "; materialise A") == ("i j k", "i j k")


WISHES = "fuse G..H; order G: i,k,j; order H: i,j,m"


def test_a_stored_order_against_a_wanted_one() -> None:
    """docs/spec/fusion.md §2.6: an inner product without a copy, or a second copy of X."""
    (region,) = regions(GRAM, WISHES)
    (repair,) = region.repairs
    assert repair.taken.kind is RepairKind.VIEW
    assert [(o.kind, o.view, o.bytes) for o in repair.offers] == [
        (RepairKind.VIEW, "G", 0),
        (RepairKind.COPY, "X'", 2 * 4 * 5 * (4 * 2 + 4)),
        (RepairKind.CUT, "G", 2 * 4 * 4 * (4 * 2 + 4)),
    ]
    assert sorted(region.pog.orders()) == [("i", "j", "k", "m"), ("i", "j", "m", "k")]
    check(GRAM, WISHES)


def test_the_user_picks_the_copy() -> None:
    picked = WISHES + "; permute X' to k,j"
    (region,) = regions(GRAM, picked)
    assert region.repairs == ()
    assert list(region.pog.orders()) == [("i", "k", "j", "m")]
    assert [str(leaf) for leaf in region.copies] == ["X[j,k]"]
    assert "k→j (X' is copied to (k, j))" in str(region)
    assert check(GRAM, picked) == ("i k j m",)
    graph = compile_program(parse(GRAM), picked).regions[0].graph
    assert "X@1,0" in {node.params.get("tensor") for node in graph.nodes}


def test_storage_alone_is_repaired_by_the_one_copy_that_helps() -> None:
    text = "A: 4x4 csr\nB: 4x4 csc\nT[i,j] = A[i,j] + B[i,j]"
    (region,) = regions(text)
    assert [repair.taken.view for repair in region.repairs] == ["B"]
    assert check(text, "") == ("i j",)


def test_the_user_permutes_an_intermediate() -> None:
    (region,) = regions(FIGURE_8, "fuse A..E; permute A to j,k")
    assert ("i", "j", "k", "k'") in set(region.pog.orders())
    assert all(o.index("j") < o.index("k") for o in region.pog.orders())


CUT = """
Z: 4x5 dense
b: 5 dense
c: 4 dense
W: 5x4 dense
T[l,n] = Z[l,n] + b[n]
U[n,l] = T[l,n] + c[l]
"""


def test_a_cycle_of_broadcasts_takes_a_cut() -> None:
    """T adds b row by row, U adds c column by column: only memory can turn T around."""
    first, second = regions(CUT, "fuse T..U")
    assert (first.name, second.name) == ("T", "U")
    assert [repair.taken.kind for repair in first.repairs] == [RepairKind.CUT]
    assert "materialise T (at most 480 bytes each run)" in str(first)
    check(CUT, "fuse T..U")


def test_strict_modes_constrain_dense_tensors_too() -> None:
    text = "A: 3x4 dense\nB: 4x5 dense\nT[i,j] = A[i,k] * B[k,j]"
    (free,) = regions(text)
    (strict,) = regions(text, "strict on")
    assert free.pog.count() == 3
    assert list(strict.pog.orders()) == [("i", "k", "j")]
    assert check(text, "strict on") == ("i k j",)


@pytest.mark.parametrize(
    ("schedule", "message", "hint"),
    [
        (
            "fuse G..H; permute Y to j,k",
            "'permute Y to j,k': no region has such a view over j, k",
            "views: X, X', G, W, H",
        ),
        (
            "fuse G..H; permute X' to j,l",
            "'permute X' to j,l': no region has such a view over j, l",
            "in region G..H it is X[j,k]",
        ),
        (
            "fuse G..H; permute G..G: X to i,k",
            "'permute G..G: X to i,k' names no region",
            "regions: G..H",
        ),
        (
            "fuse G..H; parallel q by 4",
            "'parallel q by 4': no region has an index q",
            "region G..H has i, m, j, k",
        ),
        (
            "fuse G..H; materialise H",
            "'materialise H' changes nothing: H ends its region, so it is written anyway",
            "name a tensor inside a fused region, or leave the directive out",
        ),
        (
            "fuse G..H; materialise Q",
            "the schedule names 'Q', but no statement assigns it",
            "statements assign: G, H",
        ),
        (
            "fuse G..H; locate A..B: off",
            "'locate A..B: off' names no region",
            "regions: G..H",
        ),
    ],
)
def test_refusals(schedule: str, message: str, hint: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        regions(GRAM, schedule)
    assert caught.value.message == message
    assert caught.value.hint == hint


def test_a_cycle_that_nothing_breaks_offers_what_there_is() -> None:
    text = "Z: 4x5 dense\nb: 5 dense\nT: 4x5 dense order 1,0\nT[l,n] = Z[l,n] + b[n]"
    with pytest.raises(OrderError, match="no dataflow order satisfies"):
        regions(text)


def test_an_order_for_a_region_that_was_cut_names_what_is_left() -> None:
    with pytest.raises(FuseloomError) as caught:
        regions(CUT, "fuse T..U; order T..U: l,n")
    assert caught.value.hint == "regions: T..T, U..U"


def test_a_permuted_copy_costs_its_traffic() -> None:
    """2 nnz (4 levels + 4) bytes, in the estimate and in the run (docs/spec/fusion.md §2.3)."""
    program = parse(GRAM)
    rng = np.random.default_rng(0)
    data = {t: np.where(rng.random(program.tensor(t).shape) < 0.5, 1.0, 0) for t in program.inputs}
    compiled = compile_program(program, WISHES + "; permute X' to k,j")
    (region,) = compiled.regions
    assert region.copies == ("X",)
    run = simulate(compiled, data, engine="interpreter")
    moved = measured_work(run.regions[0].result).bytes
    assert run.work.bytes - moved == 2 * run.data["X"].nnz * (4 * 2 + 4)
    nodes = estimate(compiled, data).regions[0]
    assert nodes.bytes - sum(n.bytes for n in nodes.nodes) == 2 * run.data["X"].nnz * 12


def test_a_copy_stores_the_same_elements() -> None:
    """A dense innermost level would fill other fibers in another place."""
    text = "A: 4x3 [compressed, dense]\nv: 3 dense\nT[j,i] = A[i,j] * v[j]"
    assert check(text, "permute A to j,i") == ("j i",)
