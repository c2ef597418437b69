"""A graph convolutional network, fused little, by layer and whole, gives the same result."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.models import gcn, karate
from fuseloom.results.check import TOLERANCE

REGIONS = {"unfused": 8, "partial": 2, "full": 1}


@cache
def run(preset: str) -> Run:
    model = gcn()
    compiled = compile_program(model.program, model.presets[preset])
    return simulate(compiled, karate(), engine="interpreter")


@pytest.mark.parametrize("preset", REGIONS)
def test_every_output_equals_the_reference(preset: str) -> None:
    result = run(preset)
    assert len(result.regions) == REGIONS[preset]
    assert result.check().ok
    assert result.check().max_rel_error <= TOLERANCE == 1e-5
    assert list(result.outputs)[-1] == "Y"
    for name, stored in result.outputs.items():
        expected = result.reference[name]
        assert np.array_equal(stored.pattern(), expected.present)
        scale = np.abs(expected.dense()).max()
        np.testing.assert_allclose(stored.to_dense(), expected.dense(), atol=1e-5 * scale)


def test_what_crosses_a_region_is_written() -> None:
    assert list(run("full").outputs) == ["Y"]
    assert list(run("partial").outputs) == ["H", "Y"]
    assert list(run("unfused").outputs) == ["T1", "T2", "T3", "H", "T5", "T6", "T7", "Y"]


def test_rows_of_the_result_are_distributions() -> None:
    for preset in REGIONS:
        rows = run(preset).outputs["Y"].to_dense().sum(axis=1)
        np.testing.assert_allclose(rows, np.ones(34), rtol=1e-5)


def test_fusing_a_layer_saves_traffic_and_fusing_all_recomputes() -> None:
    """The paper's trade-off: whole-model fusion recomputes the hidden layer per neighbour."""
    work = {preset: run(preset).work for preset in REGIONS}
    assert work["partial"].bytes < work["unfused"].bytes
    assert work["partial"].flops == work["unfused"].flops < work["full"].flops
    assert run("partial").cycles < run("unfused").cycles < run("full").cycles
