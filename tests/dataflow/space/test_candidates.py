"""Candidates of regions: each graph once, within a budget, and the same under other names."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.space.candidates import RegionCandidate
from fuseloom.models import load
from fuseloom.program import parse
from fuseloom.results.method import Budget, Deferred, Part, Refusal, every

SPMM = "A: 6x6 csr\nX: 6x3 csr\nT[i,j] = A[i,k] * X[k,j]"


def spmm() -> Dataflow:
    rng = np.random.default_rng(0)
    data = {"A": (rng.random((6, 6)) < 0.5) * 1.0, "X": (rng.random((6, 3)) < 0.7) * 1.0}
    return Dataflow(parse(SPMM), data)


def parts(method: Dataflow, budget: Budget, begin: int = 0, end: int = 1) -> list[Part]:
    return [
        candidate
        for candidate in every(method.candidates(tuple(range(begin, end)), budget))
        if isinstance(candidate, Part)
    ]


def test_each_graph_is_a_way_once() -> None:
    method = spmm()
    candidates: list[RegionCandidate] = [part.choice for part in parts(method, Budget(lanes=2))]
    graphs = [candidate.compiled.graph for candidate in candidates]
    assert len(set(graphs)) == len(graphs) > 5
    assert {candidate.lanes for candidate in candidates} == {1, 2}


@pytest.mark.parametrize("copies", [0, 1])
def test_copies_are_within_the_budget(copies: int) -> None:
    method = spmm()
    found = parts(method, Budget(copies=copies))
    assert max(len(part.choice.copies) for part in found) == copies
    for part in found[-3:]:
        text = method.schedule([part])
        assert text.count("permute") == len(part.choice.copies)
        made = compile_program(method.source, text).regions[0]
        assert made.graph == part.choice.compiled.graph


def test_what_another_region_wrote_is_read_in_another_order() -> None:
    """A copy of an intermediate: without it a region's order must follow how that is stored."""
    text = "A: 6x5 csr\nx: 6 dense\nT[i,j] = relu(A[i,j])\ny[j] = T[i,j] * x[i]"
    rng = np.random.default_rng(3)
    data = {"A": (rng.random((6, 5)) < 0.5) * 1.0, "x": rng.random(6)}
    method = Dataflow(parse(text), data)
    (first,) = parts(method, Budget())
    found = parts(method, Budget(copies=1), 1, 2)
    turned = [part for part in found if part.choice.copies]
    assert {part.choice.order for part in turned} == {("j", "i")}
    moved = {str(part.choice.copies): part.expected.bytes for part in found}
    for part in turned:
        run = simulate(compile_program(method.source, method.schedule([first, part])), data)
        assert run.check().ok
        assert run.regions[1].cycles == part.expected.cycles
        assert run.regions[1].work.bytes == part.expected.bytes > moved["()"]


def test_points_are_counted_without_building_any() -> None:
    method = spmm()
    region = method._candidates.region(method.statements)
    orders = len([*region.orders()])
    assert method._candidates.points(region, Budget()) == orders * (2**4 // 4 + 1)
    lanes = 1 + 3 * 2  # 2 or 4 lanes of three indices
    assert method._candidates.points(region, Budget(lanes=4)) == orders * 5 * lanes
    assert method.size(Budget()) == (orders * 5, True)


def test_orders_that_take_long_come_later() -> None:
    model, data = load("gcn", "karate")
    method = Dataflow(model.program, data)
    found = [*method.candidates((0, 1, 2), Budget())]
    best = min(candidate.expected.cycles for candidate in found if isinstance(candidate, Part))
    later = [candidate for candidate in found if isinstance(candidate, Deferred)]
    assert later
    for candidates in later:
        assert candidates.least > best
        for candidate in candidates.open():
            assert isinstance(candidate, Refusal) or candidate.expected.cycles > best


def test_regions_alike_are_looked_at_once_and_have_names_of_their_own() -> None:
    model, data = load("gpt3", "random", layers=3)
    method = Dataflow(model.program, data)
    place = {name: k for k, name in enumerate(method.units)}
    second = parts(method, Budget(), place["S2"], place["O2"] + 1)
    third = parts(method, Budget(), place["S3"], place["O3"] + 1)
    assert [p.expected for p in second] == [p.expected for p in third]
    assert [p.least for p in second] == [p.least for p in third]
    for before, after in list(zip(second, third, strict=True))[:2]:
        assert "S3..O3" in after.text
        made = method._part(after.units, after.choice, Budget())
        assert isinstance(made, Part)
        assert made.expected == before.expected
