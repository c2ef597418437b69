"""Estimates from samples: near the run, alike for all orders, and never a bound."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateContext, EstimateMode, estimate, sampling
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import check_data, parse

CHAIN = """
A: 200x200 csr
X: 200x12 csr
T[i,j] = A[i,k] * A[k,j]
Y[i,l] = T[i,j] * X[j,l]
"""


def graph(kind: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    n = 200
    if kind == "uniform":
        return rng.random((n, n)) < 0.03
    if kind == "banded":
        return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 3
    made = rng.random((n, n)) < 0.01
    made[:2] |= rng.random((2, n)) < 0.8
    made[:, :2] |= rng.random((n, 2)) < 0.8
    return made


@pytest.mark.parametrize("kind", ["uniform", "banded", "hubs"])
def test_near_the_run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "SIZES", (32,))
    monkeypatch.setattr(sampling, "TIMES", 1)
    program = parse(CHAIN)
    data = {"A": graph(kind).astype(float), "X": np.eye(200)[:, :12]}
    for schedule in ("", "fuse T..Y"):
        compilation = compile_program(program, schedule)
        expected = estimate(compilation, data, mode="sampled")
        run = simulate(compilation, data)
        for mine, theirs in zip(expected.regions, run.regions, strict=True):
            assert mine.mode is EstimateMode.SAMPLED
            assert mine.least is None
            assert mine.cycles == pytest.approx(theirs.cycles, rel=0.15)
            assert mine.flops == pytest.approx(theirs.work.flops, rel=0.15)
            assert mine.bytes == pytest.approx(theirs.work.bytes, rel=0.15)


def test_an_inner_index_is_sampled_where_the_outermost_alone_is_too_much() -> None:
    """Few rows, each with millions of products: statistics alone would be left."""
    rng = np.random.default_rng(5)
    program = parse("A: 40x200 csr\nB: 200x30000 csr\nT[i,j] = A[i,k] * B[k,j]")
    a = sp.random_array((40, 200), density=0.5, rng=rng, format="csr")
    b = sp.random_array((200, 30000), density=0.1, rng=rng, format="csr")
    compilation = compile_program(program, "order T: i,k,j")
    (mine,) = estimate(compilation, {"A": a, "B": b}).regions
    assert mine.mode is EstimateMode.SAMPLED
    run = simulate(compilation, {"A": a, "B": b})
    assert mine.cycles == pytest.approx(run.cycles, rel=0.02)
    assert mine.flops == pytest.approx(run.regions[0].work.flops, rel=0.02)
    assert mine.bytes == pytest.approx(run.regions[0].work.bytes, rel=0.05)


def test_empty_rows_are_counted_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    there = (rng.random((600, 600)) < 0.05) & (rng.random(600) < 0.4)[:, None]
    program = parse("A: 600x600 csr\nX: 600x8 dense\nT[i,j] = A[i,k] * X[k,j]")
    data = {"A": there * 1.0, "X": np.ones((600, 8))}
    compilation = compile_program(program, "order T: i,j,k")
    monkeypatch.setattr(sampling, "SAMPLED_ELEMENTS", 1.5e5)
    (mine,) = estimate(compilation, data, mode="sampled").regions
    run = simulate(compilation, data)
    assert mine.cycles == pytest.approx(run.cycles, rel=0.03)


def test_automatic_estimates_take_samples_where_all_is_too_much() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    a = sp.random_array((n, n), density=20 / n, rng=rng, format="csr")
    program = parse(f"A: {n}x{n} csr\nX: {n}x64 dense\nT[i,j] = A[i,k] * X[k,j]")
    data = {"A": a, "X": rng.random((n, 64))}
    compilation = compile_program(program, "order T: i,k,j")
    (mine,) = estimate(compilation, data).regions
    assert mine.mode is EstimateMode.SAMPLED
    run = simulate(compilation, data)
    assert mine.cycles == pytest.approx(run.cycles, rel=0.02)
    with_statistics = estimate(compilation, data, mode="metadata")
    assert with_statistics.regions[0].mode is EstimateMode.METADATA


def test_orders_share_samples() -> None:
    program = parse(CHAIN)
    context = EstimateContext(
        program,
        check_data(program, {"A": graph("hubs").astype(float), "X": np.eye(200)[:, :12]}),
        "sampled",
    )
    for schedule in ("", "fuse T..Y"):
        for region in compile_program(program, schedule).regions:
            estimate_region(region, context)
    by_index = {}
    for (key, size), sample in context.samples.items():
        by_index.setdefault((key[0], key[-1], size), set()).add(sample.key)
    assert all(len(found) == 1 for found in by_index.values())


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    "lanes", ["parallel i by 2", "parallel i by 5", "parallel i by 2; parallel j by 3"]
)
@pytest.mark.parametrize("fuse", ["fuse T..Y; ", ""])
def test_lanes_get_alike_of_what_stands_for_many(fuse: str, lanes: str) -> None:
    program = parse(
        "A: 700x700 csr\nX: 700x8 dense\nT[i,j] = A[i,k] * A[k,j]\nY[i,m] = T[i,j] * X[j,m]"
    )
    data = {"A": sp.random_array((700, 700), density=0.01, rng=3), "X": np.ones((700, 8))}
    compilation = compile_program(program, fuse + lanes)
    exact = estimate(compilation, data, mode="exact")
    sampled = estimate(compilation, data, mode="sampled")
    for whole, some in zip(exact.regions, sampled.regions, strict=True):
        assert some.mode is EstimateMode.SAMPLED
        assert some.cycles == pytest.approx(whole.cycles, rel=0.08)
        assert some.flops == pytest.approx(whole.flops, rel=0.03)


def test_schedules_that_traverse_alike_share_samples() -> None:
    """In lanes or not, and whatever the indices are called."""
    program = parse(
        "A: 700x700 csr\nX: 700x8 dense\nT[i,m] = A[i,k] * X[k,m]\nY[a,m] = A[a,b] * T[b,m]"
    )
    data = {"A": sp.random_array((700, 700), density=0.01, rng=3), "X": np.ones((700, 8))}
    context = EstimateContext(program, check_data(program, data), "sampled")
    for schedule in ("", "parallel i by 4; parallel a by 3"):
        for region in compile_program(program, schedule).regions:
            estimate_region(region, context)
        assert len(context.measures) == 1


LAYER = """
A: 60x60 csr
X: 60x8 dense
W: 8x8 dense
b: 8 dense
T0[i,j] = A[i,k] * X[k,j]
T1[i,j] = T0[i,k] * W[k,j]
T2[i,j] = T1[i,j] + b[j]
T3[i,j] = relu(T2[i,j])
"""


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        (LAYER, "fuse T0..T3; order T0..T3: i,j,k,k'"),  # a cut adds an index
        (LAYER, "fuse T0..T3; order T0..T3: i,j,k',k"),
        ("x: 40 compressed\nm = min[i] x[i]", ""),  # regions without an index
        ("x: 40 compressed\nm = max[i] x[i]\nk = 2 * m", ""),
        ("A: 40x40 csr\nm = max[i,j] A[i,j]\nk = 2 * m\nl = exp(k)", "fuse k..l"),
    ],
)
def test_whatever_indices_there_are(text: str, schedule: str) -> None:
    program = parse(text)
    rng = np.random.default_rng(4)
    data = {n: rng.random(program.tensor(n).shape) for n in program.given}
    compilation = compile_program(program, schedule)
    expected = estimate(compilation, data, mode="sampled")
    assert expected.cycles == pytest.approx(simulate(compilation, data).cycles, rel=0.2)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("lanes", [2, 4])
def test_hubs_in_lanes_with_channels_of_computed_sizes(lanes: int) -> None:
    """Numbers of tokens are sums of rounded weights: no place is asked for before it has begun."""
    rng = np.random.default_rng(2)
    n = 3000
    rows = (n * rng.random(20_000) ** 6).astype(int)
    made = sp.csr_matrix((np.ones(20_000), (rows, rng.integers(n, size=20_000))), (n, n))
    made = made.maximum(made.T)
    text = f"A: {n}x{n} csr\nT[i,j] = A[i,k] * A[k,j]\nU[i,j] = T[i,j] * A[i,j]\n"
    text += "s[i] = sum[j] U[i,j]\nc = sum[i] s[i]"
    schedule = f"fuse T..s; parallel i by {lanes}"
    for channels in ({}, {"default": 4}):
        compilation = compile_program(parse(text), schedule).sized(**channels)
        assert estimate(compilation, {"A": made}).cycles > 0
