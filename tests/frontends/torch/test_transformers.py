"""Models of the transformers package, where it is installed; small and with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl

hf = pytest.importorskip("transformers")

WIDTH = 16
BERT: dict[str, Any] = {
    "vocab_size": 20, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 2 * WIDTH,
}  # fmt: skip
GPT2: dict[str, Any] = {
    "vocab_size": 20,
    "n_positions": 8,
    "n_embd": WIDTH,
    "n_layer": 2,
    "n_head": 2,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
WORDS = torch.randint(0, 20, (1, 8), generator=torch.Generator().manual_seed(0))
IMAGE = torch.randn((1, 3, 8, 8), generator=torch.Generator().manual_seed(0))

MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "GPT-2": (lambda: hf.GPT2Model(hf.GPT2Config(**GPT2)), WORDS),
    "GPT-2, eager": (
        lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**GPT2, attn_implementation="eager")), WORDS
    ),
    "BERT": (lambda: hf.BertModel(hf.BertConfig(**BERT, max_position_embeddings=8)), WORDS),
    "DistilBERT": (
        lambda: hf.DistilBertModel(
            hf.DistilBertConfig(
                vocab_size=20, dim=WIDTH, n_layers=2, n_heads=2, hidden_dim=2 * WIDTH,
                max_position_embeddings=8,
            )
        ),
        WORDS,
    ),
    "T5": (
        lambda: hf.T5EncoderModel(
            hf.T5Config(vocab_size=20, d_model=WIDTH, d_kv=8, d_ff=32, num_layers=2, num_heads=2)
        ),
        WORDS,
    ),
    "Llama": (
        lambda: hf.LlamaForCausalLM(
            hf.LlamaConfig(
                **BERT, num_key_value_heads=1, max_position_embeddings=8, pad_token_id=0,
                bos_token_id=0, eos_token_id=0,
            )
        ),
        WORDS,
    ),
    "ViT": (
        lambda: hf.ViTModel(
            hf.ViTConfig(
                **{k: v for k, v in BERT.items() if k != "vocab_size"}, image_size=8, patch_size=4
            )
        ),
        IMAGE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_models_compile_under_every_preset_run_and_agree(name: str) -> None:
    build, given = MODELS[name]
    torch.manual_seed(0)
    imported = fl.from_torch(build().eval(), given)
    assert imported.check().ok
    for preset, schedule in imported.presets.items():
        run = fl.simulate(fl.compile(imported.program, schedule), imported.data)
        agreement = imported.check(run.outputs)
        assert agreement.ok, f"{preset}: {agreement}"
        assert run.check().ok, f"{preset}: {run.check()}"
