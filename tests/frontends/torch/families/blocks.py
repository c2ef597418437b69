"""Blocks of well-known networks, as plain modules of small sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class LoRA(nn.Module):
    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.down = nn.Parameter(torch.randn(rank, inputs))
        self.up = nn.Parameter(torch.randn(outputs, rank))

    def forward(self, x: Any) -> Any:
        return self.base(x) + 0.5 * (x @ self.down.T) @ self.up.T


class Highway(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.inner = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        share = torch.sigmoid(self.gate(x))
        return share * F.relu(self.inner(x)) + (1 - share) * x


class Gated(nn.Module):
    def __init__(self, width: int, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, 6), nn.Linear(width, 6)
        self.down, self.function = nn.Linear(6, width), function

    def forward(self, x: Any) -> Any:
        return self.down(self.function(self.gate(x)) * self.up(x))


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 3, 3)
        self.head = nn.Linear(3, 4)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return F.log_softmax(self.head(torch.flatten(x, 1)), -1)


class BasicBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.down = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
        )

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.down(x))


class InvertedResidual(nn.Module):
    def __init__(self, width: int, growth: int) -> None:
        super().__init__()
        wide = width * growth
        self.layers = nn.Sequential(
            nn.Conv2d(width, wide, 1), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, width, 1), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return x + self.layers(x)


class SqueezeExcite(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, inner, 1), nn.ReLU(),
            nn.Conv2d(inner, width, 1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return x * self.layers(x)


class SpatialGate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 3, padding=1)

    def forward(self, x: Any) -> Any:
        both = torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)
        return x * torch.sigmoid(self.conv(both))


class ConvNext(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.5))

    def forward(self, x: Any) -> Any:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.inner = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)
        self.up, self.out = nn.ConvTranspose2d(2, 2, 2, 2), nn.Conv2d(4, 1, 1)

    def forward(self, x: Any) -> Any:
        kept = F.relu(self.down(x))
        deep = self.up(F.relu(self.inner(F.max_pool2d(kept, 2))))
        return self.out(torch.cat([kept, deep], 1))


class GlobalContext(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.mask, self.transform = nn.Conv2d(width, 1, 1), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        share = self.mask(x).flatten(2).softmax(-1)
        context = (x.flatten(2) * share).sum(-1)
        return x + self.transform(context)[:, :, None, None]


class PatchMerging(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width)

    def forward(self, x: Any) -> Any:
        parts = [x[:, a::2, b::2] for a in (0, 1) for b in (0, 1)]
        return self.reduce(self.norm(torch.cat(parts, -1)))


class BiLstmTagger(nn.Module):
    def __init__(self, words: int, width: int, tags: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, tags)

    def forward(self, words: Any) -> Any:
        return self.head(self.lstm(self.embedding(words))[0])


class CausalConvolutions(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(inputs, outputs, 2)
        self.second = nn.Conv1d(outputs, outputs, 2, dilation=2)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.first(F.pad(x, (1, 0))))
        return F.relu(self.second(F.pad(x, (2, 0))))


class SequenceToSequence(nn.Module):
    def __init__(self, width: int, steps: int) -> None:
        super().__init__()
        self.encoder, self.cell = nn.GRU(width, width, batch_first=True), nn.GRUCell(width, width)
        self.head, self.steps = nn.Linear(width, width), steps

    def forward(self, x: Any) -> Any:
        _, state = self.encoder(x)
        state, given, said = state[0], x[:, -1], []
        for _ in range(self.steps):
            state = self.cell(given, state)
            given = self.head(state)
            said.append(given)
        return torch.stack(said, 1)


class WithAlibi(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.project = heads, nn.Linear(width, 3 * width)
        self.register_buffer("slopes", 2.0 ** -torch.arange(1, heads + 1))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.project(x).chunk(3, -1)
        )
        places = torch.arange(length)
        bias = self.slopes[:, None, None] * (places[None, :] - places[:, None]).abs()
        logits = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 - bias
        y = logits.softmax(-1) @ v
        return y.transpose(1, 2).reshape(batch, length, width)


class Rotary(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.register_buffer("frequencies", 10.0 ** -torch.arange(0, 1, 2 / width))

    def turned(self, x: Any) -> Any:
        angles = torch.arange(x.shape[1]).float()[:, None] * self.frequencies[None]
        angles = torch.cat([angles, angles], -1)
        left, right = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-right, left], -1) * angles.sin()

    def forward(self, x: Any) -> Any:
        q, k = self.turned(self.query(x)), self.turned(self.key(x))
        return F.scaled_dot_product_attention(q, k, x, is_causal=True)


class LinearAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x: Any) -> Any:
        q, k, v = self.project(x).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        total = torch.einsum("bnd,bd->bn", q, k.sum(1))
        return (
            torch.einsum("bnd,bde->bne", q, torch.einsum("bnd,bne->bde", k, v)) / total[..., None]
        )


class Shifted(nn.Module):
    def __init__(self, width: int, window: int) -> None:
        super().__init__()
        self.window, self.project = window, nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        x = torch.roll(self.project(x), -1, 1).view(batch, -1, self.window, width)
        y = F.scaled_dot_product_attention(x, x, x).reshape(batch, length, width)
        return torch.roll(y, 1, 1)


class Mixer(nn.Module):
    def __init__(self, patches: int, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.tokens = nn.Sequential(nn.Linear(patches, 5), nn.GELU(), nn.Linear(5, patches))

    def forward(self, x: Any) -> Any:
        return x + self.tokens(self.norm(x).transpose(1, 2)).transpose(1, 2)


class GatedMlp(nn.Module):
    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.norm, self.spatial = nn.LayerNorm(width), nn.Conv1d(length, length, 1)

    def forward(self, x: Any) -> Any:
        kept, gate = F.gelu(self.up(x)).chunk(2, -1)
        return x + self.down(kept * self.spatial(self.norm(gate)))


class GraphAttention(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.project = nn.Linear(features, hidden, bias=False)
        self.source, self.target = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, adj: Any, x: Any) -> Any:
        h = self.project(x)
        logits = F.leaky_relu(self.source(h) + self.target(h).T, 0.2)
        return logits.masked_fill(adj == 0, -1e9).softmax(-1) @ h


class Experts(nn.Module):
    """Each row through the expert that an input names."""

    def __init__(self, width: int, experts: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(experts, width, outputs))

    def forward(self, x: Any, routing: Any) -> Any:
        chosen = F.one_hot(routing, self.weight.shape[0]).to(x.dtype)
        return torch.einsum("ne,nd,edo->no", chosen, x, self.weight)


class SoftExperts(nn.Module):
    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))

    def forward(self, x: Any) -> Any:
        shares = self.gate(x).softmax(-1)
        parts = torch.stack([f(x) for f in self.experts], -1)
        return (parts * shares[:, None]).sum(-1)


class TopExperts(SoftExperts):
    """The routing is computed: refused, as which rows an expert gets is then data."""

    def forward(self, x: Any) -> Any:
        shares, chosen = self.gate(x).softmax(-1).topk(2, -1)
        parts = torch.stack([f(x) for f in self.experts], 1)
        picked = parts.gather(1, chosen[..., None].expand(-1, -1, parts.shape[-1]))
        return (picked * shares[..., None]).sum(1)


class FactorisationMachine(nn.Module):
    def __init__(self, features: int, rank: int) -> None:
        super().__init__()
        self.linear, self.factors = (
            nn.Linear(features, 1),
            nn.Parameter(torch.randn(features, rank)),
        )

    def forward(self, x: Any) -> Any:
        pairs = (x @ self.factors) ** 2 - (x**2) @ (self.factors**2)
        return torch.sigmoid(self.linear(x).squeeze(-1) + 0.5 * pairs.sum(1))


class CrossNetwork(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(2))

    def forward(self, x: Any) -> Any:
        y = x
        for layer in self.layers:
            y = x * layer(y) + y
        return y


class Dlrm(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.dense, self.tables = nn.Linear(4, width), nn.Embedding(words, width)
        self.head = nn.Linear(width + 10, 1)
        rows, columns = torch.tril_indices(5, 5, -1)
        self.register_buffer("rows", rows)
        self.register_buffer("columns", columns)

    def forward(self, x: Any, words: Any) -> Any:
        dense = F.relu(self.dense(x))
        parts = torch.cat([dense[:, None], self.tables(words)], 1)
        pairs = torch.bmm(parts, parts.transpose(1, 2))[:, self.rows, self.columns]
        return torch.sigmoid(self.head(torch.cat([dense, pairs], 1)))


class Bigram(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, words)

    def forward(self, words: Any) -> Any:
        logits = self.table(words[:, :-1])
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), words[:, 1:].reshape(-1))


class Variational(nn.Module):
    """The evidence bound of an autoencoder whose noise is not drawn."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(width, 2 * inner), nn.Linear(inner, width)

    def forward(self, x: Any) -> Any:
        mean, logarithm = self.encoder(x).chunk(2, -1)
        distance = -0.5 * (1 + logarithm - mean**2 - logarithm.exp()).sum()
        return F.mse_loss(self.decoder(mean), x, reduction="sum") + distance


class Capsules(nn.Module):
    def __init__(self, capsules: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(capsules, 2, width, width))

    def forward(self, x: Any) -> Any:
        votes = torch.einsum("nid,ijde->nije", x, self.weight)
        logits = torch.zeros(votes.shape[:3])
        for _ in range(2):
            total = (logits.softmax(2)[..., None] * votes).sum(1)
            square = (total**2).sum(-1, keepdim=True)
            out = square / (1 + square) * total / torch.sqrt(square + 1e-8)
            logits = logits + torch.einsum("nije,nje->nij", votes, out)
        return out
