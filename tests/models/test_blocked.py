"""Models in blocks of every edge that divides their sizes, fused and not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.models import Model, attention, autoencoder, gcn, gpt3, random_data, spmm
from fuseloom.program import StoredTensor, block_program

CASES = [
    pytest.param(model, preset, schedule, block, id=f"{model.program.name}-{preset}-{block}")
    for model, blocks in (
        (spmm(12, 24, 6), (1, 2, 3, 6)),
        (attention(8, 4), (1, 2, 4)),
        (gcn(nodes=12, features=8, hidden=8, classes=4), (1, 2, 4)),
        (autoencoder(), (4,)),
        (gpt3(decoders=1), (2, 4)),
    )
    for preset, schedule in ({"alone": ""} | dict(model.presets)).items()
    for block in blocks
]


def blocked(model: Model, block: int) -> tuple[Model, dict[str, StoredTensor]]:
    model = replace(model, program=block_program(model.program, block))
    return model, random_data(model, seed=block, density=0.1)


@pytest.mark.parametrize(("model", "preset", "schedule", "block"), CASES)
def test_blocked_models_match_the_reference(
    model: Model, preset: str, schedule: str, block: int
) -> None:
    model, data = blocked(model, block)
    compiled = fl.compile(model.program, schedule)
    run = fl.simulate(compiled, data, engine="compiled")
    check = run.check()
    assert check.ok, str(check)
    golden = fl.simulate(compiled, data, engine="interpreter")
    assert (run.cycles, run.tokens) == (golden.cycles, golden.tokens)
    for stored in run.outputs.values():
        stored.verify()
        assert stored.tensor.format.block == (block if stored.tensor.rank else 1)


@pytest.mark.parametrize("block", [2, 4])
def test_a_blocked_run_computes_what_an_unblocked_one_does(block: int) -> None:
    """With whole blocks as data, blocks change how it is computed, and nothing else."""
    model = gcn(nodes=12, features=8, hidden=8, classes=4)
    tiled, data = blocked(model, block)
    a = fl.simulate(fl.compile(tiled.program, "fuse T1..H; fuse T5..Y"), data)
    b = fl.simulate(fl.compile(model.program, "fuse T1..H; fuse T5..Y"), data)
    assert b.check().ok
    for name, stored in a.outputs.items():
        difference = abs(stored.to_dense() - b.outputs[name].to_dense()).max()
        assert difference < 1e-5 * abs(stored.to_dense()).max()
    assert a.tokens < b.tokens


@pytest.mark.parametrize("preset", ["unfused", "partial", "full"])
@pytest.mark.parametrize("block", [2, 4])
def test_the_estimate_of_blocked_models(preset: str, block: int) -> None:
    model, data = blocked(gcn(nodes=32, features=16, hidden=16, classes=4), block)
    compiled = fl.compile(model.program, model.presets[preset])
    run, estimate = fl.simulate(compiled, data), fl.estimate(compiled, data)
    assert run.check().ok
    assert estimate.flops == pytest.approx(run.work.flops, rel=0.05)
    assert estimate.bytes == pytest.approx(run.work.bytes, rel=0.05)
    assert estimate.cycles == pytest.approx(run.cycles, rel=0.15)
