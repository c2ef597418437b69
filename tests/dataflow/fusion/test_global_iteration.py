"""Global iteration (docs/spec/fusion.md §4): a region as one product over all indices at once."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import LoweringError, ScheduleError
from fuseloom.models import gcn, random_data
from fuseloom.program import Program, evaluate, parse
from tests.property.programs import make_case
from tests.tiers import counts

CHAIN = """
A: 6x5 dcsr
B: 5x4 dcsr
C: 4x3 dcsr
T[i,j] = A[i,k] * B[k,j]
D[i,l] = T[i,j] * C[j,l]
"""


def rewritten(program: Program, schedule: str) -> list[str]:
    changed, _ = prepare(program, Schedule.parse(schedule))
    return [str(line) for line in str(changed).splitlines() if "=" in line]


def test_a_chain_of_products_becomes_one() -> None:
    assert rewritten(parse(CHAIN), "global") == ["D[i,l] = product(A[i,k], B[k,j], C[j,l])"]


def test_factored_and_global_side_by_side() -> None:
    """Global touches n(i,k,j,l) points with two products each, factored n(i,k,j)+n(i,j,l)."""
    program = parse(CHAIN)
    rng = np.random.default_rng(0)
    data = {n: np.where(rng.random(program.tensor(n).shape) < 0.6, 1.0, 0) for n in "ABC"}
    factored = simulate(compile_program(program, "fuse T..D; order T..D: i,k,j,l"), data)
    globally = simulate(compile_program(program, "global; order D: i,k,j,l"), data)
    assert factored.check().ok
    assert globally.check().ok
    np.testing.assert_allclose(
        factored.outputs["D"].to_dense(), globally.outputs["D"].to_dense(), rtol=1e-6
    )
    a, b, c = (data[n] != 0 for n in "ABC")
    points = {
        "ikj": np.einsum("ik,kj->", a.astype(int), b.astype(int)),
        "ijl": np.einsum("ij,jl->", (a.astype(int) @ b > 0).astype(int), c.astype(int)),
        "ikjl": np.einsum("ik,kj,jl->", a.astype(int), b.astype(int), c.astype(int)),
    }

    def products(run) -> int:
        (region,) = run.regions
        nodes = [n for n in region.region.graph.nodes if n.params.get("fn") == "mul"]
        return sum(int(region.result.values[s]) for n in nodes for s in n.outputs)

    assert products(factored) == points["ikj"] + points["ijl"]
    assert products(globally) == 2 * points["ikjl"]


def test_what_is_not_multilinear_ends_a_product() -> None:
    program = gcn(nodes=6, features=4, hidden=3, classes=2).program
    assert rewritten(program, "global")[:3] == [
        "T2[i,n] = product(A[i,k], X[k,p], W1[p,n])",
        "T3[i,n] = T2[i,n] + b1[n]",
        "H[i,n] = relu(T3[i,n])",
    ]


def test_what_is_read_twice_or_returned_or_a_scalar_stays() -> None:
    head = "A: 4x4 dcsr\nB: 4x4 dcsr\nv: 4 dcsr\n".replace("v: 4 dcsr", "v: 4 compressed")
    twice = head + "T[i,j] = A[i,k] * B[k,j]\nU[i] = T[i,j] * v[j]\nV[j] = T[i,j] * v[i]"
    assert len(rewritten(parse(twice), "global")) == 3
    returned = head + "T[i,j] = A[i,k] * B[k,j]\nU[i] = T[i,j] * v[j]\noutput T, U"
    assert len(rewritten(parse(returned), "global")) == 2
    scalar = head + "T[] = A[i,j] * B[j,i]\nU[i] = T[] * v[i]"
    assert len(rewritten(parse(scalar), "global")) == 2


def test_other_regions_stay_fused() -> None:
    program = gcn(nodes=6, features=4, hidden=3, classes=2)
    compiled = compile_program(program.program, "fuse T5..Y; global T1..T2")
    assert [r.name for r in compiled.regions] == ["T2", "T3", "H", "T5..Y"]
    assert simulate(compiled, random_data(program)).check().ok


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("global T..Q", "no statement that is needed assigns Q"),
        ("global D..T", "runs backwards"),
    ],
)
def test_refusals(schedule: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        compile_program(parse(CHAIN), schedule)


@counts(small=60, deep=90, fuzz=400)
def test_random_programs_under_global_iteration(count: int) -> None:
    """The rewritten program has the same outputs, pattern and values."""
    merged = 0
    for seed in range(count):
        case = make_case(random.Random(seed))
        if case is None:
            continue
        before = [s.out.tensor for s in case.program.statements]
        try:
            compiled = compile_program(case.program, "global")
        except LoweringError as refused:
            if "row by row" in refused.message:  # only fused does this addition say its rows
                continue
            raise
        after = [s.out.tensor for s in compiled.program.statements]
        if after == before:
            continue
        merged += 1
        run = simulate(compiled, case.data, engine="interpreter")
        assert run.check().ok, (seed, run.check())
        original = evaluate(case.program, case.data)
        for name, stored in run.outputs.items():
            assert np.array_equal(stored.pattern(), original[name].present), seed
            np.testing.assert_allclose(
                stored.to_dense(), original[name].dense(), rtol=1e-4, atol=1e-5
            )
    assert merged > count // 4
