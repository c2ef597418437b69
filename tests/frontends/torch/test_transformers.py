"""Models of the transformers package, small and with random weights."""

from __future__ import annotations

from functools import cache

import pytest
import torch

import fuseloom as fl
from fuseloom.frontends.torch import ImportedModule
from tests.frontends.torch.families.hugging_face import HUGGING_FACE
from tests.frontends.torch.families.measure import imported, problems

REFUSED = {
    "FNet": r"aten\.fft_fftn.*matrix of cosines",
}
EVERY = (
    "BERT", "DeBERTa, relative", "ModernBERT", "GPT-2", "GPT-Neo", "Llama", "Qwen2, mixture", "MPT",
    "T5", "Longformer", "ViT", "Swin", "ResNet", "Whisper", "Mamba",
)  # fmt: skip
"""Models of every kind, which run under every preset in the deep tier; others run unfused."""
ALIKE = frozenset(
    {"Mistral", "Qwen2", "Qwen3", "Gemma", "Apertus", "StableLM", "OLMo", "BigBird, block sparse"}
)
"""Models built like Llama or full BigBird, which run unfused only."""
LIKE_OTHERS = frozenset(
    {"RoBERTa", "ELECTRA", "MPNet", "Qwen2", "Gemma", "Apertus", "StableLM", "OLMo", "CodeGen"}
    | {"DeiT", "BEiT", "CLIP, text", "SigLIP, vision"}
)
"""Models of the same operations as BERT, Llama, GPT-J or ViT."""
KNOWN = [name for name in HUGGING_FACE if name not in REFUSED]


@cache
def made_of(name: str) -> ImportedModule:
    return imported(*HUGGING_FACE[name])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name not in EVERY))  # fusing takes long
        for name in KNOWN
        if name not in ALIKE
    ],
)
def test_models_agree_under_every_preset(name: str) -> None:
    assert problems(made_of(name)) == []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name in LIKE_OTHERS))
        for name in KNOWN
        if name not in EVERY
    ],
)
def test_models_agree_unfused(name: str) -> None:
    assert problems(made_of(name), ["unfused"]) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    with pytest.raises(fl.FuseloomError, match=REFUSED[name]) as caught:
        imported(*HUGGING_FACE[name])
    assert caught.value.hint


def test_angles_of_llama_are_computed_beforehand() -> None:
    made = made_of("Llama")
    assert any("inv_freq" in note and "computed beforehand" in note for note in made.notes)


def test_attention_of_bigbird_is_sparse_as_the_package_has_it() -> None:
    """Blocks of keys are gathered: products with 0/1 tensors of one element per index."""
    made = made_of("BigBird, block sparse")
    assert made.check().ok
    chosen = [s for name, s in made.data.items() if "index_select" in name or "gather" in name]
    assert chosen
    assert all(0 < s.nnz < torch.Size(s.tensor.shape).numel() for s in chosen)
    assert len(fl.compile(made.program, made.presets["unfused"]).regions) > 100
