"""GCN, GraphSAGE, the autoencoder and GPT-3: against plain numpy, and simulated in every preset."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from engine.dataflow.compiler import compile_program, compile_region
from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.pog import Origin, build_pog
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.fusion.views import build_views
from engine.dataflow.sim.program_runs import simulate
from engine.errors import DataError, ProgramError
from engine.models import (
    Model,
    autoencoder,
    bigbird,
    bigbird_data,
    gcn,
    gpt3,
    graphsage,
    random_data,
)
from engine.program import StoredTensor, evaluate

Array = npt.NDArray[np.float64]

SMALL = {
    "gcn": gcn(nodes=12, features=6, hidden=5, classes=3),
    "graphsage": graphsage(nodes=11, features=6, hidden=5, classes=3),
    "autoencoder": autoencoder(batch=5, inputs=12, hidden=6),
    "gpt3": gpt3(tokens=16, width=8, heads=2, inner=12, decoders=2),
}


def data_of(model: Model, seed: int = 0) -> dict[str, StoredTensor]:
    return bigbird_data(model, seed) if model.masks else random_data(model, seed)


@pytest.mark.parametrize(
    ("name", "preset"),
    [(name, preset) for name, model in SMALL.items() for preset in model.presets],
)
def test_every_preset_computes_the_model(name: str, preset: str) -> None:
    model = SMALL[name]
    run = simulate(compile_program(model.program, model.presets[preset]), data_of(model))
    check = run.check(1e-4)
    assert check.ok, check
    assert set(model.program.outputs) <= run.outputs.keys()


@pytest.mark.parametrize("block", [4, 8, 16])
def test_a_decoder_over_64_tokens(block: int) -> None:
    model = gpt3(tokens=64, width=8, heads=2, inner=8, decoders=1)
    data = bigbird_data(model, 1, block)
    run = simulate(compile_program(model.program, model.presets["partial"]), data)
    assert run.check(1e-4).ok
    assert np.array_equal(data["M"].to_dense(), bigbird(64, block))


# Against plain numpy --------------------------------------------------------------------------


def dense(data: dict[str, StoredTensor]) -> dict[str, Array]:
    return {name: stored.to_dense() for name, stored in data.items()}


def test_graphsage_equals_a_plain_forward_pass() -> None:
    model = graphsage(nodes=9, features=5, hidden=4, classes=3)
    data = random_data(model, 2, density=0.9)
    t = dense(data)

    def layer(x: Array, n: int) -> Array:
        own = x @ t[f"Ws{n}"] + t[f"bs{n}"]
        near = t["A"] @ x @ t[f"Wn{n}"] + t[f"bn{n}"]
        return np.maximum(own + near, 0)

    result = evaluate(model.program, data)["Y"]
    np.testing.assert_allclose(result.dense(), layer(layer(t["X"], 1), 2), rtol=1e-9, atol=1e-12)


def test_the_autoencoder_equals_a_plain_forward_pass() -> None:
    model = autoencoder(batch=4, inputs=9, hidden=5)
    data = random_data(model, 3, density=0.9)
    t = dense(data)
    expected = np.maximum(t["X"] @ t["We"] + t["be"], 0) @ t["Wd"] + t["bd"]
    np.testing.assert_allclose(evaluate(model.program, data)["O"].dense(), expected, rtol=1e-9)


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


# What the models are --------------------------------------------------------------------------


@pytest.mark.parametrize(("block", "kept"), [(64, 118), (32, 268), (16, 549)])
def test_bigbird_keeps_the_published_number_of_blocks(block: int, kept: int) -> None:
    """118 of 256, 268 of 1,024 and 549 of 4,096 blocks of 1,024 tokens (paper, Table 2)."""
    assert bigbird(1024, block).sum() == kept * block * block


def test_presets_have_the_published_number_of_regions() -> None:
    """Fig. 12 of the paper; memory reshapes between the three subsets of a decoder."""
    counts = {
        name: {p: len(fuse(m.program, Schedule.parse(text))) for p, text in m.presets.items()}
        for name, m in SMALL.items()
    }
    assert counts["gcn"] == {"unfused": 8, "C+S": 6, "partial": 2, "full": 1}
    assert counts["graphsage"] == {"unfused": 14, "partial": 2, "full": 1}
    assert counts["autoencoder"] == {"unfused": 5, "partial": 2, "full": 1}
    # Unfused, queries, keys and values have a region each in two of the 18 kernels of a decoder.
    assert counts["gpt3"] == {"unfused": 2 * (18 + 2 * 2), "partial": 6, "full": 5}


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


# Orders (fusion.md §2.7) ------------------------------------------------------------------------


def test_the_constrained_orders_of_graphsage_are_one_graph() -> None:
    """All 1,134 orders in which every product runs as it reads compile to the same graph."""
    program = graphsage(nodes=6, features=5, hidden=4, classes=3).program
    (region,) = fuse(program, Schedule.parse("fuse S1..Y"))
    roots, extents = build_views(program, program.statements, program.outputs)
    wishes = {s.out.tensor: s.indices for s in program.statements if s.reduced}
    pog = build_pog(program, roots, extents, wishes, origins=[Origin.USER])
    constrained = replace(region, roots=roots, extents=extents, pog=pog)
    orders = list(pog.orders())
    assert len(extents) == 11
    assert len(orders) == 1_134
    graphs = {str(compile_region(constrained, order).graph) for order in orders}
    assert len(graphs) == 1
