"""Transformers as models of others have them: GPT-2 and BERT, made of PyTorch's own modules."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Gpt2Block(nn.Module):
    """Pre-norm, one projection for queries, keys and values, a causal mask, gelu."""

    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        each = (batch, length, self.heads, width // self.heads)
        parts = self.c_attn(self.ln_1(x)).split(width, dim=2)
        q, k, v = (part.reshape(each).transpose(1, 2) for part in parts)
        logits = (q @ k.transpose(-1, -2)) / each[-1] ** 0.5
        share = logits.masked_fill(~self.mask, float("-inf")).softmax(-1)
        x = x + self.c_proj((share @ v).transpose(1, 2).reshape(x.shape))
        return x + self.c_out(nn.functional.gelu(self.c_fc(self.ln_2(x))))


class Gpt2(nn.Module):
    """Token embeddings in, logits out."""

    def __init__(self, width: int = 8, heads: int = 2, length: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.wpe = nn.Parameter(torch.randn(length, width))
        self.h = nn.Sequential(*(Gpt2Block(width, heads, length) for _ in range(layers)))
        self.ln_f, self.head = nn.LayerNorm(width), nn.Linear(width, 11, bias=False)

    def forward(self, x: Any) -> Any:
        return self.head(self.ln_f(self.h(x + self.wpe)))


class Bert(nn.Module):
    """Post-norm encoders behind a norm of the embeddings; all positions, and the pooled first."""

    def __init__(self, width: int = 8, heads: int = 2, length: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.positions, self.norm = nn.Parameter(torch.randn(length, width)), nn.LayerNorm(width)
        self.layers = nn.Sequential(
            *(
                nn.TransformerEncoderLayer(width, heads, 16, 0.0, "gelu", batch_first=True)
                for _ in range(layers)
            )
        )
        self.pooler = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        x = self.layers(self.norm(x + self.positions))
        return x, torch.sigmoid(self.pooler(x[:, 0]))
