"""Programs with arrays for all their values: the same results, in the same arrays each time."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.prepared_program import PreparedProgram, StepKind
from fuseloom.stitch.stitched_program import StitchedProgram

from .random_graphs import random_module
from .stitched_modules import fused
from .test_end_to_end import STEP


def test_steps_have_kinds() -> None:
    made = fuse_module(read_hlo(STEP))
    program = StitchedProgram(made.module, made.frames[0].fusion)
    inputs = random_inputs(made.module.main)
    prepared = PreparedProgram(program, inputs)
    assert {step.name: step.kind for step in prepared.steps} == {
        "loop": StepKind.CONTROL, "e": StepKind.KERNEL, "product": StepKind.CALL,
        "z": StepKind.KERNEL, "half": StepKind.EVALUATED,
    }  # fmt: skip
    for found, wanted in zip(prepared(), program(inputs), strict=True):
        assert np.allclose(found, wanted, atol=1e-5)


def test_another_run_reads_what_was_written_and_writes_the_same_arrays() -> None:
    made = fuse_module(read_hlo(STEP))
    program = StitchedProgram(made.module, made.frames[0].fusion)
    first, second = random_inputs(made.module.main, 1), random_inputs(made.module.main, 2)
    prepared = PreparedProgram(program, {name: value.copy() for name, value in first.items()})
    before = prepared()
    for name, value in second.items():
        prepared.values[name][...] = value
    after = prepared()
    assert all(one is other for one, other in zip(before, after, strict=True))
    for found, wanted in zip(after, program(second), strict=True):
        assert np.allclose(found, wanted, atol=1e-5)


def test_wrong_inputs_are_refused() -> None:
    made = fuse_module(read_hlo(STEP))
    program = StitchedProgram(made.module, made.frames[0].fusion)
    with pytest.raises(DataError, match="no value for the parameter"):
        PreparedProgram(program, {})


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed: int) -> None:
    module = random_module(random.Random(seed))
    program = fused(module, ProductFusion.NEVER)
    inputs = random_inputs(module.main)
    prepared = PreparedProgram(program, inputs)
    prepared()
    for found, wanted in zip(prepared(), program(inputs), strict=True):
        scale = max(float(np.abs(wanted).max(initial=0)), 1.0)
        assert np.abs(found - wanted).max(initial=0) < 1e-4 * scale


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name == "birnn"))  # twice the layers of rnn
        for name in EXAMPLES
    ],
)
def test_examples(name: str) -> None:
    made = fuse_module(read_example(name))
    program = StitchedProgram(made.module, made.frames[0].fusion)
    inputs = example_inputs(name)
    prepared = PreparedProgram(program, inputs)
    assert Counter(step.kind for step in prepared.steps)[StepKind.KERNEL] > 0
    for found, wanted in zip(prepared(), program(inputs), strict=True):
        assert np.allclose(found, wanted, atol=1e-5, rtol=1e-4)
