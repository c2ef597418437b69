"""Sums in products: what of them is looked up at the coordinates of the other factors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.program import parse

STEP = """
A: 60x60 csr
b: 60 dense
v: 60 {v}
s[k] = {sum}
z[i] = A[i,k] * s[k]
"""
SUMS = {
    "dense": "b[k] + v[k]",
    "of a function": "relu(b[k]) + v[k]",
    "of three": "b[k] + v[k] + b[k]",
    "a product": "(b[k] + v[k]) * (b[k] + b[k])",
}


def program(v: str, total: str) -> fl.Program:
    return parse(STEP.format(v=v, sum=total))


@pytest.fixture(scope="module")
def data() -> dict[str, object]:
    rng = np.random.default_rng(1)
    v = rng.random(60) * (rng.random(60) < 0.7)
    return {"A": sp.random(60, 60, 0.05, "csr", random_state=1), "b": rng.random(60), "v": v}


def fused(source: fl.Program, schedule: str = "") -> Compilation:
    first = source.statements[0].out.tensor
    return fl.compile(source, f"fuse {first}..z; {schedule}")


def ops(compilation: Compilation) -> set[str]:
    return {node.op for region in compilation.regions for node in region.graph.nodes}


@pytest.mark.parametrize("total", SUMS.values(), ids=SUMS)
def test_a_sum_of_dense_operands_is_looked_up(total: str, data: dict[str, object]) -> None:
    """It was walked through for each row: 60 x 60 coordinates for 180 elements."""
    source = program("dense", total)
    scanned, located = (fused(source, f"locate {word}") for word in ("off", "on"))
    assert not ops(located) & {"union", "intersect"}
    runs = [fl.simulate(c, data) for c in (scanned, located)]
    assert all(run.check().ok for run in runs)
    assert runs[0].cycles > 60 * 60
    assert runs[1].cycles < 500
    assert runs[0].work.flops == runs[1].work.flops


@pytest.mark.parametrize("total", SUMS.values(), ids=SUMS)
def test_compressed_operands_are_searched_where_a_schedule_says_so(
    total: str, data: dict[str, object]
) -> None:
    source = program("compressed", total)
    scanned, searched = fused(source), fused(source, "locate v.k on")
    assert "intersect" in ops(scanned)
    assert "search" in ops(searched)
    assert "intersect" not in ops(searched)
    runs = [fl.simulate(c, data) for c in (scanned, searched)]
    assert all(run.check().ok for run in runs)
    assert runs[0].cycles > 60 * 60
    assert runs[1].cycles < 900
    assert runs[0].work.flops == runs[1].work.flops
    best = fl.best_orders(fused(source), data).compilation
    assert fl.simulate(best, data).cycles <= runs[1].cycles


def test_the_table_names_what_is_looked_up_where() -> None:
    region = fused(program("compressed", SUMS["dense"]), "locate v.k on").regions[0]
    k = {column: cell.text for (column, row), cell in region.table.cells.items() if row == "k"}
    assert k["A"] == "LS(<A.i>) -> U_k"
    assert k["b"] == "Locate(<b.i>,<A.k>.crd) -> U_k"
    assert k["v"] == "Search(<v.i>,<A.k>.crd) -> U_k"


@pytest.mark.parametrize("word", ["off", "on"])
def test_a_range_that_is_broadcast_filters_nothing(word: str, data: dict[str, object]) -> None:
    """In dense mode T has every k, of which the rows of A want a few."""
    source = parse(
        "option broadcast_add dense\nA: 60x60 csr\nM: 3x60 csr\nc: 3 dense\n"
        "T[j,k] = M[j,k] + c[j]\nZ[j,i] = A[i,k] * T[j,k]\noutput Z"
    )
    given = {"A": data["A"], "M": sp.random(3, 60, 0.2, "csr", random_state=2), "c": [1, 2, 3]}
    run = fl.simulate(fl.compile(source, f"fuse T..Z; locate {word}; locate T..Z: M.k on"), given)
    assert run.check().ok
    assert (run.cycles < 2_500) == (word == "on"), run.cycles


def test_a_sum_that_another_factor_shares_is_joined(data: dict[str, object]) -> None:
    """Its operands would ride on two streams."""
    text = "A: 60x60 csr\nb: 60 dense\nv: 60 dense\ns[k] = b[k] + v[k]\nt[k] = s[k] * v[k]\n"
    run = fl.simulate(fused(parse(f"{text}z[i] = A[i,k] * t[k]")), data)
    assert run.check().ok


def test_sums_that_are_all_there_is_give_the_coordinates(data: dict[str, object]) -> None:
    source = parse(
        "b: 60 dense\nv: 60 dense\ns[k] = b[k] + v[k]\nt[k] = b[k] - v[k]\nz = s[k] * t[k]"
    )
    (region,) = fuse(source, Schedule.parse("fuse s..z"))
    graph = compile_region(region).graph
    assert [n.op for n in graph.nodes if n.op.endswith("scan")] == ["dense_scan"]
    given = {name: data[name] for name in "bv"}
    assert fl.simulate(fl.compile(source, "fuse s..z"), given).check().ok
