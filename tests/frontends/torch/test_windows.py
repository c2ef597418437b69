"""Convolutions and pooling, against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.frontends.torch import ImportedModule
from tests.frontends.torch.support import agrees, imported, normal, sparse

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
    "the same size, unevenly": (lambda: nn.Conv1d(2, 3, 4, padding="same"), (1, 2, 5)),
    "gaps": (lambda: nn.Conv2d(2, 3, 2, 2, dilation=2), (1, 2, 6, 6)),
    "groups": (lambda: nn.Conv2d(4, 6, 2, groups=2), (1, 4, 3, 3)),
    "a filter per channel": (lambda: nn.Conv2d(3, 3, 3, padding=1, groups=3), (1, 3, 3, 3)),
    "two filters per channel": (lambda: nn.Conv1d(2, 4, 2, groups=2), (1, 2, 4)),
    "all at once": (lambda: nn.Conv2d(4, 4, (3, 2), (2, 1), (2, 1), (1, 2), 2), (1, 4, 5, 4)),
    "one dimension alone": (lambda: nn.Conv2d(1, 2, (3, 1), padding=(1, 0)), (1, 1, 4, 2)),
    "steps over what is left out": (lambda: nn.Conv2d(2, 3, 1, 2), (1, 2, 3, 3)),
    "a padded signal without a batch": (lambda: nn.Conv1d(2, 3, 3, padding=2), (2, 4)),
    "mirrored padding": (lambda: nn.Conv1d(1, 2, 3, padding=1, padding_mode="reflect"), (1, 1, 4)),
    "transposed": (lambda: nn.ConvTranspose2d(2, 3, 3, 2, 1, 1), (1, 2, 3, 2)),
    "transposed, in groups": (lambda: nn.ConvTranspose1d(4, 2, 3, 2, groups=2), (1, 4, 3)),
    "transposed, a filter per channel": (lambda: nn.ConvTranspose1d(2, 2, 3, groups=2), (1, 2, 3)),
    "transposed, with gaps": (lambda: nn.ConvTranspose1d(1, 2, 2, dilation=2), (1, 1, 4)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_windows_that_overlap_or_reach_out(name: str) -> None:
    build, shape = OVERLAPPING[name]
    torch.manual_seed(0)
    agrees(build(), (normal(*shape),))


def test_a_sparse_image_and_a_pruned_kernel() -> None:
    torch.manual_seed(0)
    module = nn.Conv2d(2, 2, 3, padding=1)
    with torch.no_grad():
        module.weight *= module.weight.abs() > 0.15
    made = agrees(module, (sparse(1, 2, 4, 4),), {"input": "compressed", "weight": "compressed"})
    assert made.data["weight"].nnz == int((module.weight != 0).sum())


def test_a_kernel_in_groups_is_stored_without_what_it_lacks() -> None:
    made = agrees(nn.Conv1d(4, 4, 2, groups=2), (normal(1, 4, 3),))
    (kernel,) = (s for name, s in made.data.items() if name.endswith("groups"))
    assert (kernel.nnz, kernel.tensor.shape) == (16, (4, 4, 2))


POOLS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "maximum": (lambda x: F.max_pool2d(x, 2), (1, 2, 4, 5)),
    "maximum, overlapping": (lambda x: F.max_pool2d(x, 3, 1), (1, 1, 4, 4)),
    "maximum, padded": (lambda x: F.max_pool2d(x, 3, 2, 1), (1, 2, 4, 4)),
    "maximum, with gaps": (lambda x: F.max_pool1d(x, 2, 1, 0, 2), (1, 2, 5)),
    "maximum, rounded up": (lambda x: F.max_pool1d(x, 2, 2, 0, 1, True), (1, 2, 5)),
    "maximum of a volume": (lambda x: F.max_pool3d(x, 2), (1, 1, 2, 2, 2)),
    "maximum without a batch": (lambda x: F.max_pool2d(x, 2), (2, 4, 4)),
    "maximum, in so many places": (lambda x: F.adaptive_max_pool1d(x, 3), (1, 2, 5)),
    "average": (lambda x: F.avg_pool2d(x, 2), (1, 2, 4, 5)),
    "average, padded": (lambda x: F.avg_pool2d(x, 3, 2, 1), (1, 2, 4, 4)),
    "average of what there is": (
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (1, 1, 4, 4)
    ),
    "average by another number": (lambda x: F.avg_pool2d(x, 2, divisor_override=3), (1, 1, 4, 4)),
    "average, rounded up": (lambda x: F.avg_pool1d(x, 2, 2, 1, True), (1, 2, 6)),
    "average of all": (lambda x: F.adaptive_avg_pool2d(x, 1), (1, 2, 3, 4)),
    "average, in so many places": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), (1, 1, 5, 4)),
    "columns": (lambda x: F.unfold(x, 2, padding=1, stride=2), (1, 2, 4, 3)),
    "windows of a dimension": (lambda x: x.relu().unfold(1, 3, 2), (2, 7)),
}  # fmt: skip


@pytest.mark.parametrize("name", POOLS)
def test_pools(name: str) -> None:
    function, shape = POOLS[name]
    agrees(function, (normal(*shape) - 1,))  # negative for the most part: padding must not win
    agrees(lambda x: function(x.relu()), (normal(*shape, seed=1),))


def test_the_maximum_of_a_sparse_image_takes_zeros_into_account() -> None:
    image = -sparse(1, 1, 4, 4).abs()
    made = agrees(lambda x: F.max_pool2d(x, 2), (image,), {"x_0": "compressed"})
    assert (made.expected[0] == 0).any()


REFUSED: dict[str, tuple[Callable[[], ImportedModule], str]] = {
    "a computed kernel in groups": (
        lambda: imported(
            lambda x, w: F.conv1d(x, w.relu(), groups=2), normal(1, 4, 3), normal(2, 2, 2)
        ),
        "groups whose kernel is computed.*as a parameter",
    ),
    "indices": (
        lambda: imported(lambda x: F.max_pool1d(x, 2, return_indices=True)[1], normal(1, 2, 4)),
        "result 1 of max_pool1d_with_indices is an index",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    build, message = REFUSED[name]
    with pytest.raises(ProgramError, match=message):
        build()


@pytest.mark.parametrize("size", range(1, 5))
@pytest.mark.parametrize("step", range(1, 4))
def test_kernels_of_one_element_that_stride(size: int, step: int) -> None:
    """The last places may have no window: nothing but as many places as elements is all of them."""
    made = fl.from_torch(nn.Conv2d(2, 3, 1, stride=(step, 1)), (normal(1, 2, size, 2),))
    assert made.check().ok
    pooled = fl.from_torch(nn.MaxPool1d(1, step), (normal(1, 2, size).relu(),))
    assert pooled.check().ok


@pytest.mark.parametrize("mode", ["circular", "replicate", "reflect", "constant"])
def test_padding_that_cuts_off(mode: str) -> None:
    for sizes in ((-1, 1), (2, -1), (0, -2), (-1, -1)):

        def padded(x: Any, sizes: tuple[int, int] = sizes) -> Any:
            return F.pad(x.exp(), sizes, mode)

        if mode == "circular" and max(sizes) > 0:
            with pytest.raises(ProgramError, match=r"cuts off, too.*by a slice"):
                imported(padded, normal(1, 2, 5))
        else:
            agrees(padded, (normal(1, 2, 5),))


@pytest.mark.parametrize(
    ("size", "stride", "padding", "places", "statements"),
    [(2, 2, 0, 8, 2), (3, 1, 1, 8, 2), (7, 7, 0, 14, 2), (7, 1, 3, 9, 4), (9, 1, 4, 12, 4)],
)
def test_maxima_over_large_windows_are_taken_in_turn(
    size: int, stride: int, padding: int, places: int, statements: int
) -> None:
    """All positions of a window at once are more than the sum of its sides."""
    image = normal(1, 2, places, places)
    made = agrees(lambda x: F.max_pool2d(x, size, stride, padding), (image,))
    assert len(made.program.statements) == statements


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(2, 3, 1, dilation=2), nn.Conv1d(2, 3, 1, stride=1), nn.ConvTranspose2d(2, 3, 1),
        nn.MaxPool2d(1), nn.AdaptiveMaxPool2d((4, 5)),
    ],
)  # fmt: skip
def test_a_window_of_one_element_at_its_place_is_no_product(layer: nn.Module) -> None:
    given = normal(2, 5) if isinstance(layer, nn.Conv1d) else normal(1, 2, 4, 5)
    program = agrees(nn.Sequential(nn.ReLU(), layer), (given,)).program
    assert not [t for t in program.tensors if t.made is not None], program


def test_equal_windows_are_one_tensor_that_the_program_declares() -> None:
    made = agrees(nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 1, 3, padding=1)),
                  (normal(1, 1, 4, 4),))  # fmt: skip
    (windows,) = [t for t in made.program.tensors if t.made is not None]
    assert windows.made is not None
    assert windows.made.text(("o", "k", "i")) == "i = o + k - 1"
    assert windows.name not in made.data
    assert f"{windows.name}[d0,d1,d2]: 4x3x4 csf where d2 = d0 + d1 - 1" in str(made.program)


def test_windows_with_more_ones_than_a_declared_tensor_has_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fuseloom.program.relations.MOST", 10)
    with pytest.raises(
        ProgramError, match=r"max_pool1d_windows says .* the limit is 10, at .*\.py"
    ):
        imported(lambda x: F.max_pool1d(x.relu(), 3), torch.zeros(1, 1, 12))
