"""Layers in NumPy: each against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fuseloom.calls.library.networks import ROWS, image_call, image_examples, relu_images, row_call
from tests.calls.library.computed import SEEDS, close, computed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_convolution(seed: int) -> None:
    out, arguments = computed("conv2d", seed)
    a, weights = arguments["a"], arguments["weights"]
    _, height, width, _ = weights.shape
    for b, i, j, o in np.ndindex(out.shape):
        assert out[b, i, j, o] == pytest.approx(
            (a[b, i : i + height, j : j + width] * weights[o]).sum(), abs=1e-12
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_pooling(seed: int) -> None:
    most, arguments = computed("max_pool", seed)
    mean, _ = computed("mean_pool", seed)
    for b, i, j, c in np.ndindex(most.shape):
        block = arguments["a"][b, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, c]
        assert most[b, i, j, c] == max(block.flat)
        assert mean[b, i, j, c] == pytest.approx(sum(block.flat) / 4, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_functions_of_elements(seed: int) -> None:
    out, arguments = computed("relu_images", seed)
    assert np.array_equal(out, np.where(arguments["a"] > 0, arguments["a"], 0))
    out, arguments = computed("bias_add", seed)
    for channel, bias in enumerate(arguments["v"]):
        assert np.array_equal(out[..., channel], arguments["a"][..., channel] + bias)
    out, arguments = computed("batch_norm", seed)
    for channel, (factor, shift) in enumerate(zip(arguments["v"], arguments["w"], strict=True)):
        assert close(out[..., channel], arguments["a"][..., channel] * factor + shift)
    out, arguments = computed("gelu_images", seed)
    exact = np.vectorize(lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2)(arguments["a"])
    assert close(out, exact, 2e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax(seed: int) -> None:
    out, arguments = computed("softmax", seed)
    for row, made in zip(arguments["a"], out, strict=True):
        total = sum(math.exp(x) for x in row)
        assert close(made, [math.exp(x) / total for x in row])
    logarithms, _ = computed("log_softmax", seed)
    assert close(np.exp(logarithms), out)


@pytest.mark.parametrize("seed", SEEDS)
def test_norms_of_rows(seed: int) -> None:
    for name in ("layer_norm", "rms_norm"):
        out, arguments = computed(name, seed)
        centred = name == "layer_norm"
        for row, made in zip(arguments["a"], out, strict=True):
            mean = sum(row) / len(row) if centred else 0.0
            spread = sum((x - mean) ** 2 for x in row) / len(row)
            wanted = [(x - mean) / math.sqrt(spread + 1e-5) for x in row]
            wanted = np.array(wanted) * arguments["gain"] + (arguments["bias"] if centred else 0)
            assert close(made, wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_layers_and_embeddings(seed: int) -> None:
    out, arguments = computed("linear", seed)
    for (i, j), value in np.ndenumerate(out):
        dot = sum(x * y for x, y in zip(arguments["a"][i], arguments["weights"][j], strict=True))
        assert value == pytest.approx(dot + arguments["bias"][j], abs=1e-12)
    out, arguments = computed("embedding", seed)
    for index, row in zip(arguments["indices"], out, strict=True):
        assert np.array_equal(row, arguments["table"][index])


@pytest.mark.parametrize("seed", SEEDS)
def test_attention(seed: int) -> None:
    out, arguments = computed("attention", seed)
    for query, made in zip(arguments["q"], out, strict=True):
        weights = np.exp([query @ key / math.sqrt(len(query)) for key in arguments["keys"]])
        assert close(made, (weights / weights.sum()) @ arguments["values"])


def test_all_rows_are_compared() -> None:
    assert {row.name for row in ROWS} == {
        "conv2d", "max_pool", "mean_pool", "relu_images", "bias_add", "batch_norm", "gelu_images",
        "softmax", "log_softmax", "layer_norm", "rms_norm", "linear", "embedding", "attention",
    }  # fmt: skip


def test_rows_of_own_layers() -> None:
    row = image_call("r", "Relu.", relu_images, ROWS[0].annotation, "a channels out",
                     image_examples(), dtype=np.float32)  # fmt: skip
    assert {repr(kind) for kind in row.kinds.values()} == {"ImageTensor(float32)"}
    rows = next(row for row in ROWS if row.name == "rms_norm")
    made = row_call("n", "Norm.", rows.function, rows.annotation, "a gain width out", rows.examples)
    assert sorted(made.kinds) == ["a", "gain", "out"]
