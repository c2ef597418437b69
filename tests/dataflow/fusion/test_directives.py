"""``block b``: the same program in square blocks, and what cannot be blocked."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import ProgramError
from fuseloom.models import attention, gcn, gpt3, random_data
from fuseloom.models.data import bigbird_data
from fuseloom.program import parse


@pytest.mark.parametrize("edge", [2, 4])
@pytest.mark.parametrize("preset", ["unfused", "partial", "full"])
def test_attention_in_blocks(edge: int, preset: str) -> None:
    model = attention(tokens=8, features=4)
    compiled = compile_program(model.program, f"{model.presets[preset]}; block {edge}")
    run = simulate(compiled, random_data(model, 1))
    assert compiled.program.tensor("M").format.block == edge
    assert run.check().ok
    assert set(run.outputs) >= {"O"}


@pytest.mark.parametrize("edge", [4, 8])
def test_a_decoder_in_blocks(edge: int) -> None:
    """The mask's blocks are the blocks of the machine (docs/spec/fusion.md §6.3)."""
    model = gpt3(tokens=32, width=16, heads=2, inner=16, decoders=1)
    for preset in ("unfused", "partial"):
        compiled = compile_program(model.program, f"{model.presets[preset]}; block {edge}")
        run = simulate(compiled, bigbird_data(model, 0, 8))
        assert run.check(1e-4).ok


def test_lanes_and_blocks_go_together_with_other_directives() -> None:
    model = gcn(nodes=8, features=4, hidden=4, classes=4)
    text = f"{model.presets['full']}; block 2; locate off"
    assert simulate(compile_program(model.program, text), random_data(model)).check().ok


def test_a_block_that_does_not_divide() -> None:
    with pytest.raises(ProgramError) as caught:
        compile_program(parse("A: 6x8 csr\nT[i] = A[i,j]"), "block 4")
    assert caught.value.message == "block 4 does not divide dimension 0 of A, which is 6"
    assert caught.value.hint == "its divisors are 1, 2, 3, 6"


def test_the_directive_overrules_declared_blocks() -> None:
    compiled = compile_program(parse("A: 8x8 csr block 2\nT[i] = A[i,j]"), "block 4")
    assert compiled.program.tensor("A").format.block == 4
