"""Convolutions over patches, against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from engine.errors import ProgramError
from tests.frontends.torch.support import agrees, imported, normal

PATCHES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "patches of an image": (lambda: nn.Conv2d(3, 5, 2, 2), (2, 3, 4, 6)),
    "one image": (lambda: nn.Conv2d(3, 5, 2, 2), (1, 3, 4, 4)),
    "no batch": (lambda: nn.Conv2d(3, 5, 2, 2), (3, 4, 4)),
    "windows that are no squares": (lambda: nn.Conv2d(2, 3, (2, 3), (2, 3)), (1, 2, 4, 6)),
    "a rest that no window reaches": (lambda: nn.Conv2d(2, 3, 2, 2, bias=False), (2, 2, 5, 7)),
    "one window": (lambda: nn.Conv2d(2, 3, 4, 4, padding="valid"), (2, 2, 4, 4)),
    "windows of one": (lambda: nn.Conv2d(3, 4, 1), (2, 3, 2, 3)),
    "windows of one, the same size": (lambda: nn.Conv2d(3, 4, 1, padding="same"), (2, 3, 2, 3)),
    "one channel": (lambda: nn.Conv2d(1, 3, 2, 2), (2, 1, 4, 4)),
    "one filter": (lambda: nn.Conv2d(2, 1, 2, 2), (1, 2, 4, 4)),
    "a signal": (lambda: nn.Conv1d(2, 3, 3, 3), (2, 2, 9)),
    "a volume": (lambda: nn.Conv3d(1, 2, 2, 2), (1, 1, 4, 2, 2)),
}


@pytest.mark.parametrize("name", PATCHES)
def test_windows_side_by_side(name: str) -> None:
    build, shape = PATCHES[name]
    torch.manual_seed(0)
    agrees(build(), (normal(*shape),))
    agrees(nn.Sequential(nn.ReLU(), build(), nn.Flatten(-2)), (normal(*shape),))


OVERLAPPING: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "overlap": (lambda: nn.Conv2d(2, 3, 3), (1, 2, 5, 5)),
    "padding": (lambda: nn.Conv2d(2, 3, 2, 2, padding=1), (1, 2, 4, 4)),
    "the same size": (lambda: nn.Conv2d(2, 3, 3, padding="same"), (1, 2, 4, 4)),
    "gaps": (lambda: nn.Conv2d(2, 3, 2, 2, dilation=2), (1, 2, 6, 6)),
    "groups": (lambda: nn.Conv2d(2, 2, 2, 2, groups=2), (1, 2, 4, 4)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_other_windows_are_refused(name: str) -> None:
    build, shape = OVERLAPPING[name]
    module = build()
    with pytest.raises(ProgramError, match=r"conv2d.*windows overlap.*unfolded patches"):
        imported(lambda x: module(x), normal(*shape))
