"""Models of the transformers package: tiny configurations, random weights, nothing to download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from torch import nn

Case = tuple[Callable[[], nn.Module], tuple[Any, ...]]

WIDTH = 8
WORDS = torch.randint(0, 20, (1, 4), generator=torch.Generator().manual_seed(0))
IMAGE = torch.randn((1, 3, 4, 4), generator=torch.Generator().manual_seed(0))
LARGER = torch.randn((1, 3, 8, 8), generator=torch.Generator().manual_seed(0))
MANY = torch.randint(3, 20, (1, 12), generator=torch.Generator().manual_seed(0))
SOUND = torch.randn((1, 4, 8), generator=torch.Generator().manual_seed(0))
IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}
PLACES = {"max_position_embeddings": 8}
ENCODER: dict[str, Any] = {
    "hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 12,
}  # fmt: skip
TEXT: dict[str, Any] = {"vocab_size": 20, **ENCODER}
DECODER: dict[str, Any] = {**TEXT, **PLACES, **IDS, "num_key_value_heads": 1}
PICTURE: dict[str, Any] = {**ENCODER, "image_size": 4, "patch_size": 2}


def model(name: str, config: str, **words: Any) -> Callable[[], nn.Module]:
    return lambda: getattr(hf, name)(getattr(hf, config)(**words))


def text(name: str, **words: Any) -> Case:
    return model(f"{name}Model", f"{name}Config", **words), (WORDS,)


def image(name: str, given: Any = IMAGE, **words: Any) -> Case:
    return model(f"{name}Model", f"{name}Config", **words), (given,)


class _Encoder(nn.Module):
    """The encoder of a model that has two sides."""

    def __init__(self, whole: nn.Module) -> None:
        super().__init__()
        self.encoder = whole.get_encoder()

    def forward(self, x: Any) -> Any:
        return self.encoder(x).last_hidden_state


def encoder(name: str, given: Any = WORDS, **words: Any) -> Case:
    whole = model(f"{name}Model", f"{name}Config", **words)
    return lambda: _Encoder(whole()), (given,)


SIDES: dict[str, Any] = {
    "d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 12, "decoder_ffn_dim": 12,
}  # fmt: skip

HUGGING_FACE: dict[str, Case] = {
    "BERT": text("Bert", **TEXT, **PLACES),
    "RoBERTa": text("Roberta", **TEXT, max_position_embeddings=8, pad_token_id=1),
    "DistilBERT": text(
        "DistilBert", vocab_size=20, dim=WIDTH, n_layers=1, n_heads=2, hidden_dim=12, **PLACES
    ),
    "ALBERT": text("Albert", **TEXT, **PLACES, embedding_size=4),
    "ELECTRA": text("Electra", **TEXT, **PLACES, embedding_size=4),
    "MPNet": text("MPNet", **TEXT, **PLACES),
    "DeBERTa": text("Deberta", **TEXT, **PLACES),
    "DeBERTa, relative": text(
        "DebertaV2", **TEXT, **PLACES, relative_attention=True, pos_att_type=["p2c", "c2p"],
        position_buckets=4,
    ),
    "ModernBERT": text("ModernBert", **TEXT, **PLACES, **IDS, cls_token_id=0, sep_token_id=0),
    "FNet": text("FNet", **{k: v for k, v in TEXT.items() if k != "num_attention_heads"}, **PLACES),
    "GPT-2": text("GPT2", vocab_size=20, n_positions=8, n_embd=WIDTH, n_layer=1, n_head=2, **IDS),
    "GPT-Neo": text(
        "GPTNeo", vocab_size=20, hidden_size=WIDTH, num_layers=2, num_heads=2, window_size=2,
        attention_types=[[["global", "local"], 1]], **PLACES, **IDS,
    ),
    "GPT-NeoX": text("GPTNeoX", **TEXT, **PLACES, **IDS),
    "GPT-J": text(
        "GPTJ", vocab_size=20, n_embd=WIDTH, n_layer=1, n_head=2, rotary_dim=2, n_positions=8, **IDS
    ),
    "OPT": text(
        "OPT", vocab_size=20, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2,
        ffn_dim=12, word_embed_proj_dim=WIDTH, **PLACES, **IDS,
    ),
    "Llama": text("Llama", **DECODER),
    "Mistral": text("Mistral", **DECODER, sliding_window=2),
    "Mixtral": text("Mixtral", **DECODER, num_local_experts=2, num_experts_per_tok=1),
    "Qwen2, mixture": text(
        "Qwen2Moe", **DECODER, num_experts=3, num_experts_per_tok=2, moe_intermediate_size=8,
        shared_expert_intermediate_size=8,
    ),
    "GPT-OSS": text("GptOss", **DECODER, head_dim=4, num_local_experts=3, num_experts_per_tok=2),
    "Qwen2": text("Qwen2", **DECODER),
    "Qwen3": text("Qwen3", **DECODER, head_dim=4),
    "Phi": text("Phi", **DECODER),
    "Gemma": text("Gemma", **DECODER, head_dim=4),
    "Apertus": text("Apertus", **DECODER),
    "StableLM": text("StableLm", **DECODER),
    "OLMo": text("Olmo", **DECODER),
    "BLOOM": text("Bloom", vocab_size=20, hidden_size=WIDTH, n_layer=1, n_head=2, **IDS),
    "Falcon": text(
        "Falcon", vocab_size=20, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2,
        **IDS,
    ),
    "MPT": text("Mpt", vocab_size=20, d_model=WIDTH, n_heads=2, n_layers=1, max_seq_len=8),
    "CodeGen": text(
        "CodeGen", vocab_size=20, n_embd=16, n_layer=1, n_head=4, rotary_dim=2, n_positions=8, **IDS
    ),
    "T5": (
        model(
            "T5EncoderModel", "T5Config", vocab_size=20, d_model=WIDTH, d_kv=4, d_ff=12,
            num_layers=1, num_heads=2,
        ),
        (WORDS,),
    ),
    "BART": encoder("Bart", vocab_size=20, **SIDES, **PLACES, **IDS),
    "BigBird, full": text("BigBird", **TEXT, **PLACES, attention_type="original_full"),
    "BigBird, block sparse": (
        model(
            "BigBirdModel", "BigBirdConfig", **TEXT, max_position_embeddings=16,
            attention_type="block_sparse", block_size=1, num_random_blocks=1,
        ),
        (MANY,),
    ),
    "Longformer": (
        model(
            "LongformerModel", "LongformerConfig", **TEXT, max_position_embeddings=16,
            attention_window=4, pad_token_id=1,
        ),
        (MANY[:, :8],),
    ),
    "ViT": image("ViT", **PICTURE),
    "DeiT": image("DeiT", **PICTURE),
    "BEiT": image("Beit", **PICTURE),
    "DINOv2": image("Dinov2", **{k: v for k, v in PICTURE.items() if k != "intermediate_size"}),
    "CLIP, text": text("CLIPText", **TEXT, **PLACES, **IDS),
    "CLIP, vision": image("CLIPVision", **PICTURE),
    "SigLIP, vision": image("SiglipVision", **PICTURE),
    "Swin": image(
        "Swin", LARGER, image_size=8, patch_size=2, embed_dim=4, depths=[2], num_heads=[2],
        window_size=2,
    ),
    "ConvNeXT": image(
        "ConvNext", LARGER, patch_size=2, num_stages=1, hidden_sizes=[4], depths=[1]
    ),
    "ResNet": image(
        "ResNet", LARGER, embedding_size=2, hidden_sizes=[4], depths=[1], layer_type="basic"
    ),
    "Whisper": (
        lambda: _Encoder(
            hf.WhisperModel(
                hf.WhisperConfig(
                    vocab_size=20, num_mel_bins=4, max_source_positions=4,
                    max_target_positions=4, **SIDES, **IDS,
                )
            )
        ),
        (SOUND,),
    ),
    "Mamba": text(
        "Mamba", vocab_size=20, hidden_size=4, state_size=2, num_hidden_layers=1, conv_kernel=2,
        time_step_rank=2,
    ),
}  # fmt: skip
