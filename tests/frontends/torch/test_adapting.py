"""Modules that are traced by other formulas, and are as they were afterwards."""

from __future__ import annotations

import pytest
import torch
import transformers as hf

from fuseloom.frontends.torch.adapting import adapted
from tests.frontends.torch.families.hugging_face import HUGGING_FACE
from tests.frontends.torch.families.measure import imported

MIXTURES = ["Mixtral", "Qwen2, mixture", "GPT-OSS"]


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_of_experts(name: str) -> None:
    build, (words,) = HUGGING_FACE[name]
    made = imported(build, (words,))
    assert made.check().ok
    chosen = {k.name for k in made.kernels}
    assert "aten.topk.default" in chosen
    assert made.bind(words.flip(1)).check().ok


def test_a_module_is_as_it_was_afterwards() -> None:
    build, _ = HUGGING_FACE["Mixtral"]
    module = build()
    loss, way = torch.nn.functional.gaussian_nll_loss, module.config._experts_implementation
    assert isinstance(module, hf.MixtralModel)
    with adapted(module):
        assert module.config._experts_implementation == "batched_mm"
        assert torch.nn.functional.gaussian_nll_loss is not loss
    assert module.config._experts_implementation == way
    assert torch.nn.functional.gaussian_nll_loss is loss
