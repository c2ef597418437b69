"""Operators along dimensions, each against PyTorch."""

from __future__ import annotations

import pytest

from fuseloom.stitch.torch_graph import torch_module_graph
from tests.stitch.aten.exporting import batched, compare, drawn, module_of, together

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional

CASES = {
    "sum": torch.sum,
    "sum of rows": lambda x: x.sum(-1, keepdim=True),
    "sum of integers": lambda x: (x > 0).sum((0, 2)),
    "sum of another type": lambda x: x.sum(0, dtype=torch.float64),
    "prod": lambda x: x.prod(1),
    "amax": lambda x: x.amax((0, 1)),
    "amin": lambda x: x.amin(2),
    "max": torch.max,
    "max of integers": lambda x: (5 * x).long().amax(-1),
    "min of two": lambda x: torch.min(x, x * x),
    "mean": torch.mean,
    "mean of columns": lambda x: x.mean(0),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std((0, 1), correction=0, keepdim=True),
    "any": lambda x: (x > 1).any(-1),
    "any number": lambda x: torch.any(x.long()),
    "all": lambda x: (x > -1).all(0),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "cumsum": lambda x: x.cumsum(1),
    "cumsum of integers": lambda x: (x > 0).cumsum(-1),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "softmax of a masked row": lambda x: x.masked_fill(x < 0, -1e30).softmax(-1),
    "logsumexp": lambda x: x.logsumexp(0),
    "normalize": lambda x: functional.normalize(x, dim=1),
    "cross entropy": lambda x: functional.mse_loss(x, x * x),
}


@pytest.mark.parametrize("names", batched(CASES, 9), ids=", ".join)
def test_along_dimensions(names: tuple[str, ...]) -> None:
    compare(together(CASES[name] for name in names), [drawn(3, 4, 5)])


def trained(module: object, *dims: int) -> object:
    """A normalization whose statistics and weights are no zeros and ones."""
    torch.manual_seed(1)
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if tensor.is_floating_point():
            tensor.data = torch.rand_like(tensor) + (0.5 if "var" in name else 0)
    return module.eval()


@pytest.mark.parametrize(
    ("module", "dims"),
    [
        (nn.LayerNorm(5), (2, 3, 5)),
        (nn.LayerNorm((3, 5)), (2, 3, 5)),
        (nn.LayerNorm(5, elementwise_affine=False), (2, 5)),
        (nn.GroupNorm(2, 4), (3, 4, 5)),
        (nn.InstanceNorm2d(4, affine=True), (3, 4, 5, 2)),
        (nn.BatchNorm1d(4), (3, 4)),
        (nn.BatchNorm2d(4), (3, 4, 2, 2)),
        (nn.BatchNorm2d(4, affine=False), (3, 4, 2, 2)),
        (nn.RMSNorm(5), (2, 3, 5)),
    ],
    ids=str,
)
def test_normalization(module: object, dims: tuple[int, ...]) -> None:
    compare(trained(module), [drawn(*dims)])


def test_places_of_maxima_are_opaque() -> None:
    graph = torch_module_graph(module_of(lambda x: x.max(0)), [drawn(3, 4)])
    assert graph.opaque == ("aten.max.dim",)
    assert len(graph.module.main.outputs) == 2
