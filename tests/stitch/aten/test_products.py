"""Products, convolutions and pooling, each against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fuseloom.stitch.torch_graph import torch_module_graph
from tests.stitch.aten.exporting import compare, drawn, module_of

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((6, 1, 3, 4), (2, 4, 5)),
        ((3, 4), (4,)),
        ((4,), (4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
    ],
)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    graph = compare(module_of(torch.matmul), [drawn(*left), drawn(*right)])
    assert [one.opcode for one in graph.module.main.operations].count("dot") == 1


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "mm": (torch.mm, [(3, 4), (4, 5)]),
    "bmm": (torch.bmm, [(2, 3, 4), (2, 4, 5)]),
    "addmm": (torch.addmm, [(5,), (3, 4), (4, 5)]),
    "addmm with factors": (
        lambda a, x, y: torch.addmm(a, x, y, beta=0.5, alpha=2),
        [(3, 5), (3, 4), (4, 5)],
    ),
    "addmm without the summand": (
        lambda a, x, y: torch.addmm(a, x, y, beta=0),
        [(3, 5), (3, 4), (4, 5)],
    ),
    "baddbmm": (torch.baddbmm, [(2, 3, 5), (2, 3, 4), (2, 4, 5)]),
    "einsum": (lambda x, y: torch.einsum("bij,kj->bki", x, y), [(2, 3, 4), (5, 4)]),
    "outer": (torch.outer, [(3,), (4,)]),
    "attention": (functional.scaled_dot_product_attention, [(2, 3, 4)] * 3),
    "causal attention": (
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        [(2, 2, 5, 4)] * 3,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_products(name: str) -> None:
    function, dims = FUNCTIONS[name]
    compare(module_of(function), [drawn(*one) for one in dims])


@pytest.mark.parametrize(
    ("module", "dims"),
    [
        (nn.Linear(5, 7), (2, 3, 5)),
        (nn.Linear(5, 7, bias=False), (5,)),
        (nn.Conv1d(4, 6, 3, padding=1), (2, 4, 9)),
        (nn.Conv2d(4, 6, 3, 2, 1), (2, 4, 9, 9)),
        (nn.Conv2d(4, 6, 3, dilation=2, bias=False), (1, 4, 9, 9)),
        (nn.Conv2d(4, 6, (3, 1), groups=2), (1, 4, 9, 9)),
        (nn.Conv2d(4, 8, 3, groups=4, padding="same"), (1, 4, 9, 9)),
        (nn.Conv3d(2, 3, 2), (1, 2, 4, 5, 6)),
        (nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1), (2, 4, 5, 5)),
        (nn.ConvTranspose1d(4, 3, 4, dilation=2), (2, 4, 5)),
        (nn.MaxPool2d(3, 2, 1), (1, 2, 7, 7)),
        (nn.MaxPool2d(2, ceil_mode=True), (1, 2, 7, 7)),
        (nn.MaxPool2d(2, stride=1, dilation=2), (2, 7, 7)),
        (nn.AvgPool2d(2), (1, 2, 6, 6)),
        (nn.AvgPool2d(3, 2, 1), (1, 2, 7, 7)),
        (nn.AdaptiveAvgPool2d(3), (1, 2, 6, 6)),
        (nn.AdaptiveAvgPool2d(1), (1, 2, 5, 6)),
    ],
    ids=str,
)
def test_layers(module: Any, dims: tuple[int, ...]) -> None:
    compare(module, [drawn(*dims)])


@pytest.mark.parametrize(
    "module",
    [
        nn.MaxPool2d(2, return_indices=True),
        nn.AvgPool2d(2, padding=1, count_include_pad=False),
        nn.ConvTranspose2d(2, 2, 3, groups=2),
    ],
    ids=str,
)
def test_others_are_opaque(module: Any) -> None:
    assert torch_module_graph(module, [drawn(1, 2, 6, 6)]).opaque
