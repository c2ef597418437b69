"""The models: their texts, modules and inputs."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, example_text, read_example


@pytest.mark.parametrize("name", EXAMPLES)
def test_texts_are_small_and_complete(name: str) -> None:
    text = example_text(name)
    assert text.startswith("HloModule jit_")
    assert len(text) < 200_000
    assert "{...}" not in text
    assert "metadata" not in text


def test_they_have_what_deep_fusion_is_about() -> None:
    opcodes = {
        name: {
            one.opcode
            for computation in read_example(name).computations.values()
            for one in computation.operations
        }
        for name in EXAMPLES
    }
    assert {"exponential", "reduce", "divide", "dot"} <= opcodes["attention"]
    assert {"gather", "scatter"} <= opcodes["word2vec"]
    assert {"while", "convolution", "concatenate", "transpose", "reduce"} <= opcodes["speech"]
    assert {"convolution", "reduce-window", "select-and-scatter"} <= opcodes["residual_block"]
    assert {"dot", "select", "reduce", "rsqrt"} <= opcodes["translation"]
    assert {"tanh", "slice", "concatenate"} <= opcodes["rnn"] & opcodes["birnn"]


def test_inputs_are_within_their_limits() -> None:
    first, again = example_inputs("word2vec", 3), example_inputs("word2vec", 3)
    assert 400 < first["center.1"].max() < 500
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
    assert not np.array_equal(first["inner.1"], example_inputs("word2vec", 4)["inner.1"])


def test_a_name_that_is_none() -> None:
    with pytest.raises(ProgramError, match="alexnet is no example"):
        read_example("alexnet")
