"""Coordinates of intermediates by definition are those that runs write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.cost import Known, estimate
from engine.dataflow.cost import defined as module
from engine.dataflow.cost.estimate import estimate_region
from engine.dataflow.cost.exact.patterns import UnknownError
from engine.dataflow.sim.program_runs import simulate
from engine.program import check_data, parse
from engine.program.formats import Format
from tests.property.test_everything_at_once import draw


@pytest.mark.parametrize("seed", range(60))
def test_intermediates_of_random_programs(seed: int) -> None:
    case = draw(seed)
    if case is None:
        return
    compilation = compile_program(case.program, "")
    run = simulate(compilation, case.data)
    known = Known(case.program, check_data(case.program, case.data), "sampled")
    for name, stored in run.outputs.items():
        statement = case.program.producers[name]
        if not statement.op.fuses:
            continue
        known.make_up(name)
        compressed = Format.compressed(stored.tensor.rank).levels
        stored = stored.with_format(replace(stored.tensor.format, levels=compressed))
        for level, (seg, crd) in enumerate(known.patterns.made_up[name]):
            written = stored.scanned[level]
            assert np.array_equal(written.seg, seg), (name, level)
            assert np.array_equal(written.crd, crd), (name, level)


def test_what_takes_too_much_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "A: 80x80 csr\\nB: 80x80 csr\\nT[i,j] = A[i,k] * B[k,j]\\nY[i,j] = relu(T[i,j])"
    program = parse(text.replace("\\n", "\n"))
    rng = np.random.default_rng(0)
    data = {n: rng.random((80, 80)) * (rng.random((80, 80)) < 0.1) for n in "AB"}
    monkeypatch.setattr(module, "PRODUCTS", 10.0)
    known = Known(program, check_data(program, data), "sampled")
    with pytest.raises(UnknownError):
        module.defined(known.patterns, "T", known.make_up)
    for region in compile_program(program, "").regions:
        estimate_region(region, known)
    made = len(known.patterns.made_up["T"][-1][1])
    exact = estimate(compile_program(program, ""), data, mode="exact").regions[1]
    assert made == pytest.approx(exact.nodes[-1].tokens, rel=0.1)
