"""Losses, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import fuseloom as fl
from fuseloom.errors import ProgramError
from tests.frontends.torch.support import Module, agrees, imported, normal, positive, sparse

X, Y = normal(4, 3), normal(4, 3, seed=1)
CLASSES, WEIGHT = torch.tensor([2, 0, 1, 2]), positive(3)
SHARES = torch.softmax(normal(4, 3, seed=2), -1)
BITS = (Y > 0).float()

LOSSES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mse": (F.mse_loss, (X, Y)),
    "l1": (F.l1_loss, (X, Y)),
    "smooth l1": (F.smooth_l1_loss, (X, Y)),
    "smooth l1, sharp": (lambda x, y: F.smooth_l1_loss(x, y, beta=0.0), (X, Y)),
    "huber": (lambda x, y: F.huber_loss(x, y, delta=0.5), (X, Y)),
    "huber, each": (lambda x, y: F.huber_loss(x, y, "none", 2.0), (X, Y)),
    "cross entropy": (F.cross_entropy, (X, CLASSES)),
    "cross entropy, summed": (lambda x, t: F.cross_entropy(x, t, reduction="sum"), (X, CLASSES)),
    "cross entropy, each": (lambda x, t: F.cross_entropy(x, t, reduction="none"), (X, CLASSES)),
    "cross entropy, weighted": (lambda x, t: F.cross_entropy(x, t, WEIGHT), (X, CLASSES)),
    "cross entropy, smoothed": (
        lambda x, t: F.cross_entropy(x, t, WEIGHT, label_smoothing=0.2), (X, CLASSES)
    ),
    "cross entropy, some ignored": (
        lambda x, t: F.cross_entropy(x, t, WEIGHT, ignore_index=0, label_smoothing=0.1),
        (X, CLASSES),
    ),
    "cross entropy of one": (F.cross_entropy, (X[0], CLASSES[0])),
    "cross entropy of a sequence": (
        F.cross_entropy, (normal(2, 3, 4), torch.tensor([[0, 1, 2, 2], [1, 1, 0, 2]]))
    ),
    "cross entropy of shares": (F.cross_entropy, (X, SHARES)),
    "cross entropy of shares, each": (
        lambda x, t: F.cross_entropy(x, t, WEIGHT, reduction="none", label_smoothing=0.1),
        (X, SHARES),
    ),
    "nll": (lambda x, t: F.nll_loss(F.log_softmax(x, -1), t, WEIGHT), (X, CLASSES)),
    "bce": (lambda x, t: F.binary_cross_entropy(x.sigmoid(), t, WEIGHT), (X, BITS)),
    "bce of certainty": (F.binary_cross_entropy, (BITS, 1 - BITS)),
    "bce with logits": (F.binary_cross_entropy_with_logits, (X, BITS)),
    "bce with logits, weighted": (
        lambda x, t: F.binary_cross_entropy_with_logits(x, t, WEIGHT, pos_weight=WEIGHT), (X, BITS)
    ),
    "bce with large logits": (F.binary_cross_entropy_with_logits, (60 * X, BITS)),
    "gaussian": (lambda x, t: F.gaussian_nll_loss(x, t, X * X), (X, Y)),
    "gaussian of two inputs": (
        lambda x, v: F.gaussian_nll_loss(x, Y, v * v, full=True, reduction="sum"), (X, Y[:, :1])
    ),
    "gaussian of rows": (
        lambda x, v: F.gaussian_nll_loss(x, Y, v.abs(), reduction="none", eps=0.5), (X, Y[:, 0])
    ),
    "gaussian of one variance": (lambda x, t: F.gaussian_nll_loss(x, t, 0.5), (X, Y)),
    "poisson, whole": (lambda x, t: F.poisson_nll_loss(x, t, full=True), (X, Y)),
    "kl": (lambda x, t: F.kl_div(F.log_softmax(x, -1), t, reduction="batchmean"), (X, SHARES)),
    "kl of certainty": (lambda x, t: F.kl_div(F.log_softmax(x, -1), t, reduction="sum"), (X, BITS)),
    "kl of logarithms": (
        lambda x, t: F.kl_div(F.log_softmax(x, -1), t, reduction="sum", log_target=True),
        (X, SHARES.log()),
    ),
    "soft margin": (F.soft_margin_loss, (X, 2 * BITS - 1)),
    "hinge": (F.hinge_embedding_loss, (X, 2 * BITS - 1)),
    "ranking": (lambda x, y, t: F.margin_ranking_loss(x, y, t, 0.5), (X, Y, 2 * BITS - 1)),
    "triplets": (F.triplet_margin_loss, (X, Y, normal(4, 3, seed=3))),
    "poisson": (F.poisson_nll_loss, (X, BITS)),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str) -> None:
    agrees(*LOSSES[name], fused="kernels")


def test_a_loss_of_sparse_logits() -> None:
    given = (sparse(4, 3), CLASSES)
    agrees(F.cross_entropy, given, {"x_0": "dcsr"}, fused="layers")
    agrees(F.binary_cross_entropy_with_logits, (sparse(4, 3), BITS), {"x_0": "dcsr", "x_1": "csr"})


def test_other_targets() -> None:
    made = fl.from_torch(Module(lambda x, t: F.cross_entropy(x, t, ignore_index=1)), (X, CLASSES))
    assert made.bind(Y, CLASSES.flip(0)).check().ok


def test_computed_targets_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"class weights are computed.*inputs or buffers"):
        imported(lambda x, t, w: F.cross_entropy(x, t, w.exp()), X, CLASSES, WEIGHT)
