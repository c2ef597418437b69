"""Plain PyTorch modules: imported, simulated unfused and fused, equal to the module itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import fuseloom as fl
from fuseloom.models import bigbird
from tests.frontends.torch.support import agrees, normal, sparse
from tests.frontends.torch.transformers import Bert, Gpt2

INF = float("inf")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def graph(nodes: int = 8, seed: int = 3) -> Any:
    """An adjacency matrix whose first node has no neighbour."""
    return (sparse(nodes, nodes, seed=seed) != 0).float()


class GCN(nn.Module):
    def __init__(self, features: int = 6, hidden: int = 5, classes: int = 3) -> None:
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(0.5)

    def forward(self, adj: Any, x: Any) -> Any:
        h = F.relu(self.first(torch.sparse.mm(adj, x)))
        return F.log_softmax(self.second(torch.sparse.mm(adj, self.dropout(h))), dim=1)


class GraphSAGE(nn.Module):
    def __init__(self, sizes: tuple[int, ...] = (6, 5, 3)) -> None:
        super().__init__()
        pairs = list(pairwise(sizes))
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in pairs)
        self.near = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)

    def forward(self, adj: Any, x: Any) -> Any:
        degree = adj.sum(1, keepdim=True).clamp(min=1)
        for own, near in zip(self.own, self.near, strict=True):
            x = F.normalize(F.relu(own(x) + near(adj @ x / degree)), dim=-1)
        return x


class Block(nn.Module):
    """A decoder with masked attention, as in GPT."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.network = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def split(self, x: Any) -> Any:
        return x.view(x.shape[0], self.heads, -1).transpose(0, 1)

    def attend(self, q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = (q @ k.transpose(-2, -1)) / q.shape[-1] ** 0.5
        return scores.masked_fill(mask == 0, -INF).softmax(dim=-1) @ v

    def forward(self, x: Any, mask: Any) -> Any:
        y = self.norm1(x)
        q, k, v = (self.split(f(y)) for f in (self.query, self.key, self.value))
        y = self.attend(q, k, v, mask)
        x = x + self.out(y.transpose(0, 1).reshape(x.shape))
        return x + self.network(self.norm2(x))


class FlashBlock(Block):
    def attend(self, q: Any, k: Any, v: Any, mask: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask.bool())


class GPT(nn.Module):
    def __init__(self, blocks: list[Block]) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: Any, mask: Any) -> Any:
        for block in self.blocks:
            x = block(x, mask)
        return x


class Mixer(nn.Module):
    def __init__(self, patches: int, channels: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.tokens = nn.Sequential(nn.Linear(patches, 6), nn.GELU(), nn.Linear(6, patches))
        self.channels = nn.Sequential(nn.Linear(channels, 7), nn.GELU(), nn.Linear(7, channels))
        self.head = nn.Linear(channels, 3)

    def forward(self, x: Any) -> Any:
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(self.norm2(x))
        return self.head(x.mean(dim=1))


class GatedGraph(nn.Module):
    """Messages along edges, then a gated recurrent unit, twice with the same weights."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.message = nn.Linear(width, width)
        self.cell = nn.GRUCell(width, width)

    def forward(self, adj: Any, x: Any) -> Any:
        for _ in range(2):
            x = self.cell(adj @ self.message(x), x)
        return x


class Attention(nn.Module):
    """A graph attention layer: logits of edges, minus infinity elsewhere."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.project = nn.Linear(features, hidden, bias=False)
        self.source = nn.Parameter(torch.randn(hidden, 1))
        self.target = nn.Parameter(torch.randn(hidden, 1))

    def forward(self, adj: Any, x: Any) -> Any:
        h = self.project(x)
        logits = F.leaky_relu(h @ self.source + (h @ self.target).T, 0.2)
        logits = torch.where(adj > 0, logits, -9e15 * torch.ones_like(logits))
        return F.elu(torch.softmax(logits, dim=1) @ h)


class MessagePassing(nn.Module):
    """A graph as an edge list: gather, transform, scatter."""

    def __init__(self, nodes: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(nodes, width)
        self.transform = nn.Linear(width, width)

    def forward(self, labels: Any, edges: Any) -> Any:
        x = self.embedding(labels)
        messages = F.silu(self.transform(x[edges[0]]))
        return torch.zeros_like(x).index_add(0, edges[1], messages) + x


class LowRank(nn.Module):
    def __init__(self, inputs: int, rank: int, outputs: int) -> None:
        super().__init__()
        self.left = nn.Parameter(torch.randn(rank, inputs))
        self.right = nn.Parameter(torch.randn(outputs, rank))
        self.bias = nn.Parameter(torch.randn(outputs))

    def forward(self, x: Any) -> Any:
        return F.linear(x, self.right @ self.left, self.bias)


def pruned(module: nn.Module, share: float = 0.5) -> nn.Module:
    """Set the smallest weights of every matrix to 0."""
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() == 2:
                weight *= weight.abs() > weight.abs().quantile(share)
    return module


@pytest.mark.parametrize("layout", ["csr", "coo", "csc", "dense"])
def test_gcn(layout: str) -> None:
    adj = graph()
    given = adj if layout == "dense" else adj.to_sparse(layout=getattr(torch, f"sparse_{layout}"))
    formats = {"first.weight": "dcsr"}
    imported = agrees(pruned(GCN()), (given, normal(8, 6)), formats, infer_density=0.0)
    words = str(imported.program)
    assert f"adj: 8x8 {layout}\n" in words
    assert "first_weight: 5x6 dcsr" in words
    assert imported.expected[0][0].any()  # the bias reaches the node without neighbours


def test_graphsage() -> None:
    agrees(GraphSAGE(), (graph(), normal(8, 6)), {"adj": "csr"}, "layers")


def test_an_autoencoder() -> None:
    module = nn.Sequential(nn.Linear(9, 4), nn.ReLU(), nn.Linear(4, 9), nn.Sigmoid())
    agrees(
        pruned(module), (sparse(6, 9),), {"input": "dcsr", "0.weight": "dcsr", "2.weight": "csc"}
    )


@pytest.mark.parametrize(("kind", "decoders"), [(Block, 2), (FlashBlock, 1)])
def test_decoders_with_the_mask_of_bigbird(kind: type[Block], decoders: int) -> None:
    mask = torch.from_numpy(bigbird(16, 2))
    module = GPT([kind(8, 2) for _ in range(decoders)])
    imported = agrees(module, (normal(16, 8), mask), {"mask": "dcsr"})
    kept = [s for n, s in imported.data.items() if n.endswith("keep") or n.startswith("eq")]
    assert kept
    assert all(s.nnz == int(mask.sum()) < 256 for s in kept)


def test_a_decoder_in_blocks() -> None:
    mask = torch.from_numpy(bigbird(16, 2))
    agrees(GPT([Block(8, 2)]), (normal(16, 8), mask), {"mask": "bsr2"})


def test_a_mixer_block() -> None:
    agrees(Mixer(5, 4), (normal(2, 5, 4),), fused="layers")


def test_a_gated_graph_layer() -> None:
    agrees(GatedGraph(4), (graph(6).to_sparse_csr(), normal(6, 4)), fused="layers")


@pytest.mark.parametrize(
    ("build", "inputs", "formats"),
    [
        (lambda: GraphSAGE((4, 3, 2)), (graph(5), normal(5, 4)), {"adj": "csr"}),
        (lambda: GatedGraph(2), (graph(3), normal(3, 2)), {"adj": "csr"}),
        (lambda: Mixer(2, 2), (normal(1, 2, 2),), {}),
    ],
    ids=["graphsage", "gated graph", "mixer"],
)
def test_deep_modules_in_one_region(
    build: Callable[[], Any], inputs: tuple[Any, ...], formats: dict[str, str]
) -> None:
    imported = agrees(build(), inputs, formats)
    assert len(fl.compile(imported.program, imported.presets["full"]).regions) == 1


def test_graph_attention() -> None:
    adj = graph(6)
    adj.fill_diagonal_(1)
    imported = agrees(Attention(5, 4), (adj, normal(6, 5)), fused="layers")
    assert imported.data["gt_keep"].nnz == int(adj.sum()) < 36


def test_message_passing_over_an_edge_list() -> None:
    edges = torch.tensor([[0, 1, 2, 2, 4], [1, 0, 1, 3, 3]])
    agrees(MessagePassing(7, 4), (torch.tensor([6, 0, 2, 2, 5]), edges))


def test_a_low_rank_linear_layer() -> None:
    agrees(LowRank(8, 2, 6), (normal(5, 8),))
    agrees(LowRank(8, 2, 6), (sparse(5, 8),), {"x": "dcsr"})


def test_other_inputs() -> None:
    """The program stays; data and expectation follow the inputs, masks too."""
    block = Block(8, 2)
    first, second = (torch.from_numpy(bigbird(8, 2, seed)) for seed in (0, 1))
    second[7, 0] = False
    imported = fl.from_torch(block, (normal(8, 8), first), {"mask": "dcsr"})
    other = imported.bind(normal(8, 8, seed=5), second)
    assert other.program is imported.program
    assert other.check().ok
    assert not np.allclose(other.expected[0], imported.expected[0])
    run = fl.simulate(fl.compile(other.program, other.presets["full"]), other.data)
    assert other.check(run.outputs).ok
    assert not imported.check(run.outputs).ok


TRANSFORMERS: dict[str, tuple[Callable[[], nn.Module], tuple[tuple[int, ...], ...]]] = {
    "encoder": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
        ((1, 4, 8),),
    ),
    "pre-norm encoder": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True),
        ((2, 4, 8),),
    ),
    "decoder": (
        lambda: nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True),
        ((1, 4, 8), (1, 3, 8)),
    ),
    "GPT-2": (Gpt2, ((1, 4, 8),)),
    "BERT": (Bert, ((1, 4, 8),)),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_compile_under_every_preset_run_and_agree(name: str) -> None:
    build, shapes = TRANSFORMERS[name]
    torch.manual_seed(0)
    inputs = tuple(normal(*shape, seed=k) for k, shape in enumerate(shapes))
    imported = fl.from_torch(build().eval(), inputs)
    regions = []
    for preset in ("unfused", "kernels", "layers", "full"):
        compiled = fl.compile(imported.program, imported.presets[preset])
        regions.append(len(compiled.regions))
        agreement = imported.check(fl.simulate(compiled, imported.data).outputs)
        assert agreement.ok, f"{preset}: {agreement}"
    assert regions[0] > regions[1] > regions[3]
