"""Normalisations, against PyTorch itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest
import torch
from torch import nn

from tests.frontends.torch.support import agrees, normal, sparse

NORMS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "layer": (lambda: nn.LayerNorm(4), (3, 4)),
    "layer over two dimensions": (lambda: nn.LayerNorm((2, 3)), (2, 2, 3)),
    "root mean square": (lambda: nn.RMSNorm(4), (3, 4)),
    "batch": (lambda: nn.BatchNorm1d(3), (4, 3)),
    "batch of images": (lambda: nn.BatchNorm2d(2), (2, 2, 2, 3)),
    "batch by its own statistics": (lambda: nn.BatchNorm1d(3, track_running_stats=False), (4, 3)),
    "groups": (lambda: nn.GroupNorm(2, 4), (2, 4, 3)),
    "groups of an image": (lambda: nn.GroupNorm(2, 6, affine=False), (1, 6, 2, 2)),
    "one group": (lambda: nn.GroupNorm(1, 3), (2, 3, 2)),
    "as many groups as channels": (lambda: nn.GroupNorm(3, 3), (2, 3, 4)),
    "groups of vectors": (lambda: nn.GroupNorm(2, 4), (3, 4)),
    "instances": (lambda: nn.InstanceNorm1d(2), (2, 2, 4)),
    "instances of an image": (lambda: nn.InstanceNorm2d(2, affine=True), (1, 2, 3, 3)),
    "instances by stored statistics": (
        lambda: nn.InstanceNorm1d(2, track_running_stats=True), (2, 2, 4)
    ),
    "responses of neighbours": (lambda: nn.LocalResponseNorm(2), (1, 4, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMS)
def test_norms(name: str) -> None:
    build, shape = NORMS[name]
    module = build()
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    for buffer in (b for b in module.buffers() if b.is_floating_point()):
        nn.init.uniform_(buffer, 0.5, 2)
    agrees(module, (normal(*shape),), fused="layers")
    given = next(iter(inspect.signature(module.forward).parameters))
    agrees(module, (sparse(*shape),), {given: "compressed"}, fused="kernels")
