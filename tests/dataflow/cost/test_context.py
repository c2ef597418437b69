"""The estimate context: one object for all schedules of a program, in any mode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import context as module
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.context import EstimateContext, EstimateMode
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.cost.statistics import ExpectedStatistics, MeasuredStatistics
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import DataError
from fuseloom.models import load
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

PROGRAM = parse(
    "A: 6x5 csr\nB: 5x6 csr\nT[i,j] = A[i,k] * B[k,j]\n"
    "R: 4x9 csr\nR[a,b] = reshape(T[i,j])\nY[a,b] = relu(R[a,b])"
)
RNG = np.random.default_rng(2)
DATA = {"A": RNG.random((6, 5)) * (RNG.random((6, 5)) < 0.4), "B": RNG.random((5, 6))}


def context(mode: EstimateMode | str = EstimateMode.AUTO) -> EstimateContext:
    return EstimateContext(PROGRAM, check_data(PROGRAM, DATA), mode)


def test_only_an_exact_estimate_takes_long() -> None:
    assert context("exact").budget > 10 * context("auto").budget


def test_regions_are_known_one_after_another() -> None:
    """Y reads the reshape of T, whose coordinates are known once T's region was executed."""
    first, second = compile_program(PROGRAM).regions
    what = context()
    assert what.reads_known(first.graph)
    assert not what.reads_known(second.graph)
    assert estimate_region(first, what).mode is EstimateMode.EXACT
    assert what.reads_known(second.graph)
    assert estimate_region(second, what).mode is EstimateMode.EXACT


def test_elements_of_what_is_stored_written_and_reshaped() -> None:
    what = context()
    compilation = compile_program(PROGRAM)
    for region in compilation.regions:
        estimate_region(region, what)
    run = simulate(compilation, DATA)
    assert what.elements("A") == np.count_nonzero(DATA["A"])
    for name in ("T", "R", "Y"):
        assert what.elements(name) == run.outputs[name].nnz


def test_statistics_are_measured_where_coordinates_are_known() -> None:
    what = context()
    assert isinstance(what("A"), MeasuredStatistics)
    assert what("A") is what("A")
    assert isinstance(what("A@1,0"), MeasuredStatistics)
    estimate_region(compile_program(PROGRAM).regions[0], what)
    assert isinstance(what("T"), MeasuredStatistics)


def test_and_expected_where_they_are_not() -> None:
    what = context("metadata")
    first, second = compile_program(PROGRAM).regions
    assert estimate_region(first, what).mode is EstimateMode.METADATA
    assert isinstance(what("T"), ExpectedStatistics)
    assert isinstance(what("R"), ExpectedStatistics)
    assert isinstance(what("T@1,0"), ExpectedStatistics)
    # A reshape keeps the elements that are expected.
    assert what.elements("R") == pytest.approx(what.elements("T"))
    assert estimate_region(second, what).least is None


def test_schedules_share_what_they_have_in_common() -> None:
    """In any order, and with what others left behind, estimates are those of a new object."""
    shared = context()
    schedules = ["", "order T: k,i,j; permute A to k,i", "locate off", "parallel i by 2", ""]
    for schedule in schedules:
        compilation = compile_program(PROGRAM, schedule)
        alone = context()
        for region in compilation.regions:
            assert estimate_region(region, shared) == estimate_region(region, alone)


def test_what_is_known_of_the_same_tensors_is_shared() -> None:
    model, data = load("gcn", "karate")
    first = EstimateContext.shared(model.program, data)
    assert EstimateContext.shared(model.program, dict(data)) is first
    assert EstimateContext.shared(model.program, data, "metadata") is not first
    assert EstimateContext.shared(model.program, data, machine=Machine.preset("hbm2")) is not first
    other = {**data, "A": replace(data["A"])}
    assert EstimateContext.shared(model.program, other) is not first


def test_a_second_estimate_is_read_off_the_first() -> None:
    model, data = load("gcn", "karate")
    compiled = compile_program(model.program, model.presets["full"])
    first = estimate(compiled, data)
    assert estimate(compiled, data).regions[0] is first.regions[0]


def test_what_was_made_up_gives_way_to_what_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order too large to execute makes T up; another writes it: Y, read after, is exact."""
    program = parse(
        "A: 40x40 dcsr\nB: 40x40 dcsr\nT[i,j] = A[i,k] * B[k,j]\n"
        "R: 20x80 dcsr\nR[a,b] = reshape(T[i,j])\nY[a,b] = relu(R[a,b])"
    )
    band = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) <= 1
    data = check_data(program, {"A": band * 1.0, "B": band * 1.0})
    monkeypatch.setattr("fuseloom.dataflow.cost.defined.PRODUCTS", 1.0)  # by statistics only
    shared, fresh = EstimateContext(program, data), EstimateContext(program, data)
    first, last = compile_program(program, "order T: i,k,j").regions
    monkeypatch.setattr(module, "ELEMENTS", 10.0)
    assert estimate_region(first, shared).mode is EstimateMode.SAMPLED
    guessed = estimate_region(last, shared)
    assert guessed.mode is not EstimateMode.EXACT
    assert guessed.least is None
    monkeypatch.setattr(module, "ELEMENTS", 1e6)
    other = compile_program(program, "order T: k,i,j").regions[0]
    for known_so_far in (shared, fresh):
        assert estimate_region(other, known_so_far).mode is EstimateMode.EXACT
    after, right = (estimate_region(last, each) for each in (shared, fresh))
    assert after.mode is right.mode is EstimateMode.EXACT
    assert (after.cycles, after.flops, after.least) == (right.cycles, right.flops, right.least)
    assert shared.elements("R") == fresh.elements("R")


def test_what_follows_from_a_definition_is_no_longer_expected() -> None:
    """Bounds rest on how many elements there are, never on how many there might be."""
    found = context("metadata")
    estimate_region(compile_program(PROGRAM).regions[0], found)
    there = float(((DATA["A"] != 0).astype(int) @ (DATA["B"] != 0) > 0).sum())
    assert "T" in found.expected
    assert found.elements("T") != there
    found.make_up("T")
    assert found.patterns.knows("T")
    assert found.elements("T") == there
    assert found.why("T").formula == "coordinates by its definition"


@pytest.mark.parametrize(
    "rest",
    [
        "s = sum[i,j] C[i,j]",
        "D[j,i] = relu(C[i,j])",
        "R: 50000x200000 dense\nR[a,b] = reshape(C[i,j])\nz[a] = sum[b] R[a,b]",
    ],
)
def test_what_is_full_of_more_than_is_listed_is_estimated(rest: str) -> None:
    """Its coordinates are known by its definition, all of them, and too many to be made."""
    text = f"a: 100000 dense\nb: 100000 dense\nC[i,j] = a[i] * b[j]\n{rest}"
    compilation = compile_program(parse(text))
    data = {"a": np.ones(100000), "b": np.ones(100000)}
    found = estimate(compilation, data)
    assert [region.cycles for region in found.regions] == pytest.approx([1e10, 1e10], rel=1e-3)


def test_statistics_stand_for_inputs_that_nobody_drew() -> None:
    """Even numbers of elements give what the data give, where they are even."""
    program = parse("A: 40x60 dcsr\nB: 60x50 dcsr\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])")
    random = np.random.default_rng(0)
    data = {"A": random.random((40, 60)) < 0.5, "B": random.random((60, 50)) < 0.5}
    even = {n: ExpectedStatistics.uniform(program.tensor(n), float(data[n].sum())) for n in data}
    made = compile_program(program)
    expected = estimate(made, even)
    assert EstimateMode.EXACT not in {r.mode for r in expected.regions}
    assert expected.cycles == pytest.approx(estimate(made, data).cycles, rel=0.02)
    mixed = estimate(made, {"A": data["A"], "B": even["B"]})
    assert mixed.cycles == pytest.approx(expected.cycles, rel=0.02)
    whole = compile_program(program, "fuse T..Y")
    assert best_orders(whole, even).compilation.regions[0].order
    told = EstimateContext.of(program, even).why("A")
    assert told.formula == "expected from statistics"


def test_statistics_must_fit() -> None:
    program = parse("A: 40x60 dcsr\nx: 60 dense\ny[i] = A[i,k] * x[k]")
    even = ExpectedStatistics.uniform(program.tensor("A"), 300.0)
    with pytest.raises(DataError, match="data of input x are missing"):
        EstimateContext.of(program, {"A": even})
    with pytest.raises(DataError, match=r"levels of \(40, 60\) coordinates are given for x"):
        EstimateContext.of(program, {"A": even, "x": even})
    with pytest.raises(DataError, match="no input is called 'B'"):
        EstimateContext.of(program, {"A": even, "B": even, "x": np.ones(60)})
