"""Layers of PyTorch modules as terms, mapped and compared with what PyTorch computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.mapped_layers import map_layers
from fuseloom.access.meaning import evaluate
from fuseloom.access.torch_layers import layers_of
from fuseloom.errors import ProgramError

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional


def _functions(make: Callable[..., Any]) -> Any:
    class Module(nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return make(*inputs)

    return Module()


CASES = {
    "conv2d": (nn.Conv2d(4, 6, 3, 2, 1), [(2, 4, 9, 9)]),
    "conv2d, dilated": (nn.Conv2d(4, 6, 3, dilation=2), [(1, 4, 9, 9)]),
    "conv2d, groups": (nn.Conv2d(4, 6, (3, 1), groups=2, bias=False), [(1, 4, 9, 9)]),
    "conv2d, depthwise": (nn.Conv2d(4, 8, 3, groups=4), [(1, 4, 9, 9)]),
    "conv2d, same": (nn.Conv2d(4, 6, 3, padding="same"), [(1, 4, 9, 9)]),
    "conv2d, valid": (nn.Conv2d(4, 6, 3, padding="valid"), [(1, 4, 9, 9)]),
    "linear": (nn.Linear(5, 7), [(2, 3, 5)]),
    "linear, one vector": (nn.Linear(5, 7, bias=False), [(5,)]),
    "matmul": (_functions(torch.matmul), [(4, 5), (5, 3)]),
    "matmul, batches": (_functions(torch.matmul), [(2, 1, 4, 5), (3, 5, 3)]),
    "bmm": (_functions(torch.bmm), [(2, 4, 5), (2, 5, 3)]),
    "@": (_functions(lambda a, b: a @ b), [(4, 5), (5, 3)]),
    "max_pool2d": (nn.MaxPool2d(3, 2, 1), [(1, 2, 7, 7)]),
    "avg_pool2d": (nn.AvgPool2d(2), [(1, 2, 6, 6)]),
    "adaptive_avg_pool2d": (nn.AdaptiveAvgPool2d(3), [(1, 2, 6, 6)]),
    "functional": (_functions(lambda x, w: functional.conv2d(x, weight=w, padding=1)),
                   [(1, 2, 5, 5), (3, 2, 3, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_what_pytorch_computes(name: str) -> None:
    module, extents = CASES[name]
    torch.manual_seed(0)
    layers, others = layers_of(module, [torch.randn(*dims) for dims in extents])
    assert len(layers) == 1
    assert not others
    value = evaluate(layers[0].term, layers[0].data)
    assert np.allclose(value, layers[0].result, atol=1e-5)
    made = map_layers(layers, others, SystolicArray(8, 8))
    assert made.max_rel_error < 1e-4
    assert all(not layer.mapped.unmapped for layer in made.layers)


def test_what_is_no_layer_is_listed_with_its_reason() -> None:
    module = nn.Sequential(
        nn.Linear(4, 4), nn.ReLU(), nn.Softmax(-1), nn.LayerNorm(4), nn.Unflatten(1, (1, 2, 2)),
        nn.AvgPool2d(2, ceil_mode=True),
    )  # fmt: skip
    layers, others = layers_of(module, [torch.ones(2, 4)])
    assert [layer.name for layer in layers] == ["1 linear"]
    reasons = {other.name: other.reason for other in others}
    assert "beside the array" in reasons["relu"]
    assert "rounds up" in reasons["avg_pool2d"]
    for pool in (nn.AvgPool2d(2, padding=1, count_include_pad=False), nn.MaxPool2d(2, dilation=2)):
        assert layers_of(pool, [torch.ones(1, 1, 6, 6)])[0] == ()
    vector = layers_of(_functions(torch.matmul), [torch.ones(2, 3), torch.ones(3)])
    assert "a vector" in vector[1][0].reason


def test_a_module_that_does_not_run_is_refused() -> None:
    with pytest.raises(ProgramError, match="does not run"):
        layers_of(nn.Linear(4, 4), [torch.ones(2, 5)])
