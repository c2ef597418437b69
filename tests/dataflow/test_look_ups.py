"""Compressed levels that are searched where that is faster: which, and what it saves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.cost.estimate import EstimateContext
from fuseloom.dataflow.look_ups import LookUps, searchable, with_look_ups
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.program import check_data, parse

EFFORT = 1e7
PROGRAM = parse("A: 60x200 csr\nH: 200x8 dcsr\nY[i,j] = A[i,k] * H[k,j]")


@pytest.fixture(scope="module")
def data() -> dict[str, object]:
    rng = np.random.default_rng(4)
    full = sp.csr_matrix(rng.random((200, 8)) + 0.5)
    return {"A": sp.random(60, 200, density=0.03, format="csr", random_state=4), "H": full}


def better(compilation: Compilation, data: dict[str, object], machine: str = "default") -> str:
    context = EstimateContext(
        compilation.program, check_data(compilation.program, data), "auto", Machine.preset(machine)
    )
    regions = tuple(with_look_ups(r, context, EFFORT) for r in compilation.regions)
    return str(Compilation(compilation.program, compilation.schedule, regions).resolved)


def test_rows_that_are_walked_through_again_and_again_are_searched(data: dict[str, object]) -> None:
    compilation = fl.compile(PROGRAM, "order Y: i,k,j")
    (region,) = compilation.regions
    assert list(searchable(region)) == [("A", "k"), ("H", "k")]
    schedule = better(compilation, data)
    assert schedule == "order Y: i,k,j; order Y..Y: i,k,j; locate Y..Y: H.k on"
    scanned, searched = (fl.simulate(c, data) for c in (compilation, fl.compile(PROGRAM, schedule)))
    assert searched.check().ok
    assert searched.cycles < scanned.cycles / 3
    assert searched.work.flops == scanned.work.flops
    assert searched.work.bytes < scanned.work.bytes / 2
    expected = fl.estimate(fl.compile(PROGRAM, schedule), data)
    assert expected.cycles == pytest.approx(searched.cycles, rel=0.01)
    assert expected.bytes == searched.work.bytes


@pytest.mark.parametrize(
    ("line", "machine"), [("locate off", "default"), ("locate H.k off", "default"), ("", "comal")]
)
def test_what_the_schedule_says_or_the_machine_lacks(
    line: str, machine: str, data: dict[str, object]
) -> None:
    schedule = better(fl.compile(PROGRAM, f"order Y: i,k,j; {line}"), data, machine)
    assert "H.k on" not in schedule


def test_where_levels_are_looked_up(data: dict[str, object]) -> None:
    named = fl.compile(PROGRAM, "order Y..Y: i,k,j")
    left_open = fl.compile(PROGRAM)

    def searches(compilation: Compilation, look_ups: LookUps) -> bool:
        found = best_orders(compilation, data, look_ups=look_ups).compilation
        return any(n.op == "search" for n in found.regions[0].graph.nodes)

    assert [searches(named, w) for w in LookUps] == [False, True, False]
    assert [searches(left_open, w) for w in LookUps] == [True, True, False]


def test_dense_levels_are_looked_up_in_inner_product_orders() -> None:
    """The presence of X's rows does not depend on j, which A knows nothing of."""
    program = parse("A: 64x200 csr\nX: 200x16 dense\nY[i,j] = A[i,k] * X[k,j]")
    rng = np.random.default_rng(0)
    matrix = sp.random(64, 200, density=0.05, random_state=1, format="csr")
    data = {"A": matrix, "X": rng.random((200, 16))}
    scanned, located = (
        fl.simulate(fl.compile(program, f"order Y: i,j,k; locate {word}"), data)
        for word in ("off", "on")
    )
    assert located.check().ok
    assert scanned.cycles == 205_843
    assert located.cycles <= 11_500


def test_of_a_view_that_is_read_twice_a_schedule_can_name_what_is_looked_up() -> None:
    """B has two columns, of which one is called as a view of T2 that has other indices."""
    text = "A: 4x4 csr\nB: 4x4 csr\nT[i,j] = A[i,j] * B[i,j]\nU[i,j] = B[i,j] * T[i,j]\n"
    program = parse(f"{text}V[i,j] = exp(B[i,j])\noutput U, V")
    compiled = fl.compile(program, "fuse T..V; order T..V: i,j,i',j'")
    found = list(searchable(compiled.regions[0]))
    assert found
    for view, index in found:
        fl.compile(program, f"{compiled.schedule}; locate T..V: {view}.{index} on")
