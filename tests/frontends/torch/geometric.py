"""Modules of PyTorch Geometric as it ships them, with their inputs: what users arrive with."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch_geometric.nn as geo
    from torch_geometric.nn import models

NODES, FEATURES, CLASSES = 7, 4, 3

EDGES = torch.tensor([[0, 1, 2, 1, 3, 4, 4, 0, 2], [1, 0, 1, 2, 3, 0, 5, 4, 5]])
"""A loop at 3, and node 6 without an edge."""

DOUBLED = torch.cat([EDGES, EDGES[:, 2:6]], dim=1)
"""Four of the edges twice, among them the loop."""

BATCH = torch.tensor([0, 0, 0, 1, 1, 3, 3])


def numbers(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def per_edge(edges: Any, width: int = 0) -> Any:
    count = edges.shape[1]
    return numbers(count, width, seed=5) if width else numbers(count, seed=5).abs() + 0.1


def matrix(edges: Any, weights: Any = None) -> Any:
    """The transposed adjacency matrix, which layers take in place of edges."""
    values = torch.ones(edges.shape[1]) if weights is None else weights
    return torch.sparse_coo_tensor(edges.flip(0), values, (NODES, NODES)).coalesce()


INPUTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "edges": lambda: (EDGES,),
    "doubled": lambda: (DOUBLED,),
    "weighted": lambda: (EDGES, per_edge(EDGES)),
    "doubled weighted": lambda: (DOUBLED, per_edge(DOUBLED)),
    "attributes": lambda: (EDGES, per_edge(EDGES, 2)),
    "csr": lambda: (matrix(EDGES).to_sparse_csr(),),
    "csr weighted": lambda: (matrix(EDGES, per_edge(EDGES)).to_sparse_csr(),),
    "coo": lambda: (matrix(EDGES),),
    "coo weighted": lambda: (matrix(EDGES, per_edge(EDGES)),),
    "dense": lambda: (matrix(EDGES).to_dense(),),
    "batch": lambda: (BATCH,),
    "fingerprint": lambda: (EDGES, per_edge(EDGES, 2), BATCH),
}

Build = Callable[[], nn.Module]


def layer(kind: str, *args: Any, **options: Any) -> Build:
    """A layer from ``FEATURES`` to ``CLASSES``, unless arguments say otherwise."""
    return lambda: getattr(geo, kind)(*(args or (FEATURES, CLASSES)), **options)


def model(kind: str, **options: Any) -> Build:
    return lambda: getattr(models, kind)(FEATURES, 5, 2, CLASSES, **options)


def mlp(inputs: int = FEATURES) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 5), nn.ReLU(), nn.Linear(5, CLASSES))


class Pooling(nn.Module):
    """A pooling function, over nodes that a layer has transformed."""

    def __init__(self, name: str, convolves: bool = False) -> None:
        super().__init__()
        self.pool = getattr(geo, name)
        self.convolution = geo.GCNConv(FEATURES, CLASSES) if convolves else None

    def forward(self, x: Any, batch: Any) -> Any:
        if self.convolution is not None:
            x = self.convolution(x, EDGES).relu()
        return self.pool(x, batch, 4)


class Classifier(nn.Module):
    """A graph classifier as the tutorials write it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = geo.GraphConv(FEATURES, 5), geo.GraphConv(5, 5)
        self.last = nn.Linear(5, CLASSES)

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        h = self.first(x, edge_index).relu()
        h = self.second(h, edge_index).relu()
        return self.last(geo.global_mean_pool(h, batch))


class Links(nn.Module):
    """Scores of edges: an encoder, then the products of what they join."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = geo.GCNConv(FEATURES, CLASSES)

    def forward(self, x: Any, edge_index: Any) -> Any:
        h = self.encoder(x, edge_index).relu()
        return (h[edge_index[0]] * h[edge_index[1]]).sum(dim=-1)


CASES: dict[str, tuple[Build, str]] = {
    "GCNConv, edges": (layer("GCNConv"), "edges"),
    "GCNConv, doubled edges": (layer("GCNConv"), "doubled"),
    "GCNConv, weights": (layer("GCNConv"), "weighted"),
    "GCNConv, doubled weights": (layer("GCNConv"), "doubled weighted"),
    "GCNConv, csr": (layer("GCNConv"), "csr"),
    "GCNConv, coo with weights": (layer("GCNConv"), "coo weighted"),
    "GCNConv, improved": (layer("GCNConv", improved=True), "edges"),
    "GCNConv without normalisation": (layer("GCNConv", normalize=False), "edges"),
    "SAGEConv, mean": (layer("SAGEConv"), "edges"),
    "SAGEConv, mean, doubled edges": (layer("SAGEConv"), "doubled"),
    "SAGEConv, mean, csr": (layer("SAGEConv"), "csr"),
    "SAGEConv, sum, normalised": (layer("SAGEConv", aggr="sum", normalize=True), "edges"),
    "SAGEConv, max": (layer("SAGEConv", aggr="max"), "edges"),
    "SAGEConv, max, doubled edges": (layer("SAGEConv", aggr="max"), "doubled"),
    "SAGEConv, min": (layer("SAGEConv", aggr="min"), "edges"),
    "SAGEConv, projected": (layer("SAGEConv", project=True), "edges"),
    "GINConv": (lambda: geo.GINConv(mlp()), "edges"),
    "GINConv, csr": (lambda: geo.GINConv(mlp(), train_eps=True), "csr"),
    "GINEConv": (lambda: geo.GINEConv(mlp(), edge_dim=2), "attributes"),
    "GraphConv": (layer("GraphConv"), "edges"),
    "GraphConv, weights": (layer("GraphConv"), "weighted"),
    "GraphConv, mean": (layer("GraphConv", aggr="mean"), "doubled weighted"),
    "GraphConv, max": (layer("GraphConv", aggr="max"), "weighted"),
    "SGConv": (layer("SGConv", FEATURES, CLASSES, 2), "edges"),
    "SGConv, coo": (layer("SGConv", FEATURES, CLASSES, 2), "coo"),
    "SSGConv": (layer("SSGConv", FEATURES, CLASSES, 0.1, 2), "edges"),
    "TAGConv": (layer("TAGConv", FEATURES, CLASSES, 2), "edges"),
    "TAGConv, csr with weights": (layer("TAGConv", FEATURES, CLASSES, 2), "csr weighted"),
    "APPNP": (layer("APPNP", 2, 0.1), "edges"),
    "APPNP, weights": (layer("APPNP", 2, 0.1), "weighted"),
    "ARMAConv": (layer("ARMAConv", FEATURES, CLASSES, 2, 2), "edges"),
    "LEConv": (layer("LEConv"), "edges"),
    "LEConv, csr": (layer("LEConv"), "csr"),
    "ChebConv": (layer("ChebConv", FEATURES, CLASSES, 3), "edges"),
    "ChebConv, weights": (layer("ChebConv", FEATURES, CLASSES, 2), "weighted"),
    "ClusterGCNConv": (layer("ClusterGCNConv"), "edges"),
    "MFConv": (layer("MFConv", max_degree=3), "edges"),
    "GCN2Conv": (lambda: Twice(geo.GCN2Conv(FEATURES, 0.1)), "edges"),
    "FAConv": (lambda: Twice(geo.FAConv(FEATURES, 0.1)), "edges"),
    "LGConv": (layer("LGConv", True), "edges"),
    "MixHopConv": (layer("MixHopConv"), "edges"),
    "EGConv": (layer("EGConv", FEATURES, 4, num_heads=2, num_bases=2), "edges"),
    "EdgeConv": (lambda: geo.EdgeConv(mlp(2 * FEATURES)), "edges"),
    "EdgeConv, doubled edges, sum": (lambda: geo.EdgeConv(mlp(8), aggr="add"), "doubled"),
    "FeaStConv": (layer("FeaStConv", FEATURES, CLASSES, 2), "edges"),
    "GatedGraphConv": (layer("GatedGraphConv", 4, 2), "edges"),
    "ResGatedGraphConv": (layer("ResGatedGraphConv"), "edges"),
    "FiLMConv": (layer("FiLMConv"), "edges"),
    "SuperGATConv": (layer("SuperGATConv", heads=2), "edges"),
    "AGNNConv": (layer("AGNNConv", True), "edges"),
    "GENConv": (layer("GENConv", num_layers=1, norm="layer"), "edges"),
    "GeneralConv": (layer("GeneralConv"), "edges"),
    "NNConv": (lambda: geo.NNConv(FEATURES, CLASSES, nn.Linear(2, 12)), "attributes"),
    "GMMConv": (layer("GMMConv", FEATURES, CLASSES, 2, 2), "attributes"),
    "CGConv": (layer("CGConv", FEATURES, 2), "attributes"),
    "GATConv": (layer("GATConv"), "edges"),
    "GATConv, two heads": (layer("GATConv", heads=2), "edges"),
    "GATConv, two heads, mean": (layer("GATConv", heads=2, concat=False), "edges"),
    "GATConv, doubled edges": (layer("GATConv"), "doubled"),
    "GATConv, attributes": (layer("GATConv", edge_dim=2), "attributes"),
    "GATConv, csr": (layer("GATConv"), "csr"),
    "GATv2Conv": (layer("GATv2Conv", heads=2), "edges"),
    "GATv2Conv, doubled edges": (layer("GATv2Conv"), "doubled"),
    "GATv2Conv, coo": (layer("GATv2Conv"), "coo"),
    "TransformerConv": (layer("TransformerConv", heads=2), "edges"),
    "TransformerConv, csr": (layer("TransformerConv"), "csr"),
    "TransformerConv, attributes, gated": (
        layer("TransformerConv", edge_dim=2, beta=True),
        "attributes",
    ),
    "PNAConv": (
        lambda: geo.PNAConv(
            FEATURES, CLASSES, ["mean", "max", "std"], ["identity", "amplification"],
            torch.tensor([1, 2, 2, 1])
        ),
        "edges",
    ),
    "PDNConv": (lambda: geo.PDNConv(FEATURES, CLASSES, 2, 5), "attributes"),
    "RGATConv": (lambda: Typed(geo.RGATConv(FEATURES, CLASSES, 2, heads=2)), "edges"),
    "HEATConv": (lambda: Kinds(geo.HEATConv(FEATURES, 3, 2, 2, 3, 2, 4)), "attributes"),
    "AntiSymmetricConv": (layer("AntiSymmetricConv", FEATURES), "edges"),
    "DirGNNConv": (lambda: geo.DirGNNConv(geo.SAGEConv(FEATURES, CLASSES)), "edges"),
    "GPSConv": (lambda: geo.GPSConv(FEATURES, geo.SAGEConv(FEATURES, 4), heads=2), "edges"),
    "GPSConv, batch": (
        lambda: geo.GPSConv(FEATURES, geo.GCNConv(FEATURES, 4), heads=2, norm="layer_norm"),
        "edges batch",
    ),
    "SimpleConv": (lambda: geo.SimpleConv("mean", "self_loop"), "edges"),
    "PairNorm": (layer("PairNorm"), "batch"),
    "SetTransformer": (lambda: geo.SetTransformerAggregation(FEATURES, 1, heads=2), "batch"),
    "Set2Set": (lambda: geo.Set2Set(FEATURES, 2), "batch"),
    "AttentiveFP": (lambda: models.AttentiveFP(FEATURES, 5, CLASSES, 2, 2, 2), "fingerprint"),
    "SGFormer": (lambda: models.SGFormer(FEATURES, 8, CLASSES), "edges batch"),
    "Polynormer": (lambda: models.Polynormer(FEATURES, 8, CLASSES, 1, 1), "edges batch"),
    "HypergraphConv": (layer("HypergraphConv"), "edges"),
    "RGCNConv": (lambda: Typed(geo.RGCNConv(FEATURES, CLASSES, 2)), "edges"),
    "FastRGCNConv": (lambda: Typed(geo.FastRGCNConv(FEATURES, CLASSES, 2)), "edges"),
    "DenseGCNConv": (layer("DenseGCNConv"), "dense"),
    "DenseSAGEConv": (layer("DenseSAGEConv"), "dense"),
    "DenseGINConv": (lambda: geo.DenseGINConv(mlp()), "dense"),
    "DenseGraphConv": (layer("DenseGraphConv"), "dense"),
    "DenseGATConv": (layer("DenseGATConv"), "dense"),
    "global_mean_pool": (lambda: Pooling("global_mean_pool", True), "batch"),
    "global_add_pool": (lambda: Pooling("global_add_pool"), "batch"),
    "global_max_pool": (lambda: Pooling("global_max_pool", True), "batch"),
    "GraphNorm": (layer("GraphNorm", FEATURES), "batch"),
    "a graph classifier": (Classifier, "edges batch"),
    "link prediction": (Links, "edges"),
    "GCN": (model("GCN"), "edges"),
    "GCN, csr": (model("GCN"), "csr"),
    "GCN, weights, jumping knowledge": (model("GCN", jk="cat"), "weighted"),
    "GraphSAGE": (model("GraphSAGE"), "edges"),
    "GraphSAGE, batch norm": (model("GraphSAGE", norm="batch_norm"), "edges"),
    "GIN": (model("GIN"), "edges"),
    "GAT": (model("GAT"), "edges"),
    "GAT, version 2, two heads": (
        lambda: models.GAT(FEATURES, 4, 2, CLASSES, v2=True, heads=2),
        "edges",
    ),
    "EdgeCNN": (model("EdgeCNN", norm=None), "edges"),
    "LightGCN": (lambda: Embeddings(models.LightGCN(NODES, 3, 2)), "edges"),
    "LabelPropagation": (lambda: models.LabelPropagation(2, 0.9), "edges"),
}  # fmt: skip


class Twice(nn.Module):
    """A layer that also takes what the first layer had."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.convolution(x, x, edge_index)


class Typed(nn.Module):
    """A layer with edges of two kinds."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.convolution(x, edge_index, torch.arange(edge_index.shape[1]) % 2)


class Kinds(nn.Module):
    """A layer with nodes and edges of two kinds."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, x: Any, edge_index: Any, attributes: Any) -> Any:
        nodes, edges = torch.arange(NODES) % 2, torch.arange(edge_index.shape[1]) % 2
        return self.convolution(x, edge_index, nodes, edges, attributes)


class Embeddings(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.inner.get_embedding(edge_index) + x[:, :3]


def case(name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """The module, in eval mode, and what ``forward`` takes."""
    build, kind = CASES[name]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = build().eval()
    rest = INPUTS["edges"]() + INPUTS["batch"]() if kind == "edges batch" else INPUTS[kind]()
    return module, (numbers(NODES, FEATURES), *rest)
