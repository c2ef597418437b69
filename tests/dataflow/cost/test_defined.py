"""Coordinates of intermediates by definition are those that runs write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateContext, estimate
from fuseloom.dataflow.cost import defined as module
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.cost.exact.patterns import FullLevel, UnknownError, elements_in
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import check_data, parse
from fuseloom.program.formats import Format
from fuseloom.program.reference import evaluate
from tests.property.test_everything_at_once import draw


@pytest.mark.parametrize(
    "seed", [*range(24), *(pytest.param(n, marks=pytest.mark.fuzz) for n in range(24, 60))]
)
def test_intermediates_of_random_programs(seed: int) -> None:
    case = draw(seed)
    if case is None:
        return
    compilation = compile_program(case.program, "")
    run = simulate(compilation, case.data)
    context = EstimateContext(case.program, check_data(case.program, case.data), "sampled")
    for name, stored in run.outputs.items():
        statement = case.program.producers[name]
        if not statement.op.fuses:
            continue
        context.make_up(name)
        compressed = Format.compressed(stored.tensor.rank).levels
        stored = stored.with_format(replace(stored.tensor.format, levels=compressed))
        for level in range(len(context.patterns.written[name])):
            seg, crd = context.patterns.level(name, level)
            written = stored.scanned[level]
            assert np.array_equal(written.seg, seg), (name, level)
            assert np.array_equal(written.crd, crd), (name, level)


def test_what_takes_too_much_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "A: 80x80 csr\\nB: 80x80 csr\\nT[i,j] = A[i,k] * B[k,j]\\nY[i,j] = relu(T[i,j])"
    program = parse(text.replace("\\n", "\n"))
    rng = np.random.default_rng(0)
    data = {n: rng.random((80, 80)) * (rng.random((80, 80)) < 0.1) for n in "AB"}
    monkeypatch.setattr(module, "PRODUCTS", 10.0)
    context = EstimateContext(program, check_data(program, data), "sampled")
    with pytest.raises(UnknownError):
        module.defined(context.patterns, "T", context.make_up)
    for region in compile_program(program, "").regions:
        estimate_region(region, context)
    made = elements_in(context.patterns.made("T"))
    exact = estimate(compile_program(program, ""), data, mode="exact").regions[1]
    assert made == pytest.approx(exact.nodes[-1].tokens, rel=0.1)


WHOLE = {"W": np.ones((6, 5)), "b": np.ones(5)}
SPARSE = np.zeros((7, 6))
SPARSE[[0, 2, 2, 5], [1, 0, 4, 3]] = 1.0
HALF = np.zeros((7, 5))
HALF[[1, 2, 2, 6], [0, 3, 4, 1]] = 1.0


@pytest.mark.parametrize(
    ("statement", "counted"),
    [
        ("T[i,n] = A[i,k] * W[k,n]", (False, True)),
        ("T[n,i] = A[i,k] * W[k,n]", None),
        ("T[i,n] = H[i,n] + b[n]", (False, True)),
        ("T[i,n] = b[n] - H[i,n]", (False, True)),
        ("T[k,n] = relu(W[k,n])", (True, True)),
        ("T[k] = sum[n] W[k,n]", (True,)),
        ("T[i,k,n] = A[i,k] / W[k,n]", (False, False, True)),
        ("T[i,k,n] = A[i,k] * H[i,n]", None),
        ("T[n] = W[k,n] * H[i,n]", (False,)),
        ("T[k,n] = W[k,n] * b[n]", (True, True)),
    ],
)
def test_levels_that_are_full_are_only_counted(
    statement: str, counted: tuple[bool, ...] | None
) -> None:
    declared = "A: 7x6 csr; H: 7x5 csr; W: 6x5 dense; b: 5 dense; "
    program = parse((declared + statement).replace("; ", "\n"))
    every = {"A": SPARSE, "H": HALF, **WHOLE}
    data = {name: every[name] for name in program.inputs}
    context = EstimateContext(program, check_data(program, data), "sampled")
    context.make_up("T")
    found = tuple(isinstance(level, FullLevel) for level in context.patterns.made("T"))
    assert found == counted if counted is not None else not all(found)
    (run,) = simulate(compile_program(program, ""), data).outputs.values()
    for k, written in enumerate(run.scanned):
        seg, crd = context.patterns.level("T", k)
        assert np.array_equal(written.seg, seg)
        assert np.array_equal(written.crd, crd)


def test_a_million_rows_of_what_is_full_take_no_time() -> None:
    text = "A: 1000000x9 csr\nW: 9x500 dense\nT[i,n] = A[i,k] * W[k,n]\nY[i,n] = relu(T[i,n])"
    program = parse(text)
    rows = scipy.sparse.csr_array(
        (np.ones(1000), (np.arange(1000) * 7, np.arange(1000) % 9)), shape=(1_000_000, 9)
    )
    context = EstimateContext(
        program, check_data(program, {"A": rows, "W": np.ones((9, 500))}), "sampled"
    )
    context.make_up("Y")
    assert elements_in(context.patterns.written["Y"]) == 500_000
    assert context.elementwise("Y") is not None


@pytest.mark.parametrize("stored", ["dcsr", "dcsc"])
def test_what_is_added_along_an_inner_index_alone_fills_rows(stored: str) -> None:
    """However the result is stored: a row that A lacks stays empty, and an element too."""
    elements = np.zeros((6, 5))
    elements[[1, 3, 3], [2, 2, 4]] = 1.0
    for indices, count in (("i", 3), ("j", 10)):
        size = {"i": 6, "j": 5}[indices]
        program = parse(
            f"A: 6x5 {stored}\nb: {size} dense\nT: 6x5 {stored}\nT[i,j] = A[i,j] + b[{indices}]\n"
            "Y[i,j] = relu(T[i,j])"
        )
        data = check_data(program, {"A": elements, "b": np.ones(size)})
        context = EstimateContext(program, data, "sampled")
        context.make_up("T")
        assert elements_in(context.patterns.written["T"]) == count
        assert evaluate(program, data)["T"].present.sum() == count
