"""Models of the transformers package, small and with random weights."""

from __future__ import annotations

import pytest
import torch

import fuseloom as fl
from tests.frontends.torch.families.hugging_face import HUGGING_FACE
from tests.frontends.torch.families.measure import imported, problems

REFUSED = {
    "FNet": r"aten\.fft_fftn.*matrix of cosines",
}
ALIKE = frozenset(
    {"Mistral", "Qwen2", "Qwen3", "Gemma", "Apertus", "StableLM", "OLMo", "BigBird, block sparse"}
)
"""Models built like Llama or full BigBird, which run under every preset; these run unfused."""


@pytest.mark.parametrize("name", [n for n in HUGGING_FACE if n not in REFUSED])
def test_models_agree_under_every_preset(name: str) -> None:
    presets = ["unfused"] if name in ALIKE else None
    assert problems(imported(*HUGGING_FACE[name]), presets) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    with pytest.raises(fl.FuseloomError, match=REFUSED[name]) as caught:
        imported(*HUGGING_FACE[name])
    assert caught.value.hint


def test_angles_of_llama_are_computed_beforehand() -> None:
    made = imported(*HUGGING_FACE["Llama"])
    assert any("inv_freq" in note and "computed beforehand" in note for note in made.notes)


def test_attention_of_bigbird_is_sparse_as_the_package_has_it() -> None:
    """Blocks of keys are gathered: products with 0/1 tensors of one element per index."""
    made = imported(*HUGGING_FACE["BigBird, block sparse"])
    assert made.check().ok
    chosen = [s for name, s in made.data.items() if "index_select" in name or "gather" in name]
    assert chosen
    assert all(0 < s.nnz < torch.Size(s.tensor.shape).numel() for s in chosen)
    assert len(fl.compile(made.program, made.presets["unfused"]).regions) > 100
