"""Decoders with BigBird attention, against plain numpy and published counts."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import DataError, ProgramError
from fuseloom.models import (
    bigbird,
    bigbird_data,
    gpt3,
    graphsage,
)
from fuseloom.program import evaluate
from tests.models.small import Array, dense


@pytest.mark.parametrize("block", [4, 8, 16])
def test_a_decoder_over_64_tokens(block: int) -> None:
    model = gpt3(tokens=64, width=8, heads=2, inner=8, decoders=1)
    data = bigbird_data(model, 1, block)
    run = simulate(compile_program(model.program, model.presets["partial"]), data)
    assert run.check(1e-4).ok
    assert np.array_equal(data["M"].to_dense(), bigbird(64, block))


def norm(x: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)


def test_a_decoder_equals_a_plain_forward_pass() -> None:
    tokens, width, heads = 12, 8, 2
    model = gpt3(tokens, width, heads, inner=10, decoders=2)
    data = bigbird_data(model, 4, block=2)
    t = dense(data)
    kept = t["M"] > 0

    def split(x: Array) -> Array:
        return x.reshape(tokens, heads, width // heads).transpose(1, 0, 2)

    x = t["X0"]
    for n in (1, 2):
        y = norm(x)
        q, k, v = (split(y @ t[f"W{c}{n}"] + t[f"b{c}{n}"]) for c in "qkv")
        scores = np.where(kept, q @ k.transpose(0, 2, 1) / np.sqrt(width // heads), -np.inf)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        merged = (weights @ v).transpose(1, 0, 2).reshape(tokens, width)
        x = merged @ t[f"Wo{n}"] + t[f"bo{n}"] + x
        y = np.maximum(norm(x) @ t[f"Wf{n}"] + t[f"bf{n}"], 0)
        x = y @ t[f"Wg{n}"] + t[f"bg{n}"] + x
    result = evaluate(model.program, data)["X2"]
    assert result.present.all()
    np.testing.assert_allclose(result.values, x, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("block", "kept"), [(64, 118), (32, 268), (16, 549)])
def test_bigbird_keeps_the_published_number_of_blocks(block: int, kept: int) -> None:
    """118 of 256, 268 of 1,024 and 549 of 4,096 blocks of 1,024 tokens (paper, Table 2)."""
    assert bigbird(1024, block).sum() == kept * block * block


def test_the_kernels_of_a_decoder() -> None:
    kernels = [k for k in gpt3(decoders=1).kernels if "heads" not in k.name]
    assert len(kernels) == 18
    assert len(gpt3(decoders=12).kernels) == 12 * 20


def test_refused_sizes() -> None:
    with pytest.raises(ProgramError, match="3 heads do not divide a model width of 8"):
        gpt3(width=8, heads=3)
    with pytest.raises(ProgramError, match="0 decoders"):
        gpt3(decoders=0)
    with pytest.raises(DataError, match="blocks of 5 do not divide 64 tokens"):
        bigbird(64, 5)
    with pytest.raises(ProgramError, match="dimension 0 of A is 0"):
        graphsage(nodes=0)
