"""Modules as they are traced: by formulas that say the same and can be traced."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fuseloom.frontends.torch.capture import load_torch


@contextmanager
def adapted(module: Any) -> Iterator[None]:
    """Run with a module adapted, without the parts that PyTorch cannot trace."""
    with _without_checks(load_torch()), _reading_experts(module):
        yield


@contextmanager
def _without_checks(torch: Any) -> Iterator[None]:
    """Trace a loss that looks at values only to refuse some, as its formula alone."""
    functional = torch.nn.functional
    before = functional.gaussian_nll_loss

    def formula(
        input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
        reduction: str = "mean",
    ) -> Any:  # fmt: skip
        if not isinstance(var, torch.Tensor):
            var = var * torch.ones_like(input)
        if input.shape != var.shape and input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        var = var.clamp(min=eps)
        loss = 0.5 * (var.log() + (input - target) ** 2 / var)
        loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
        return {"mean": torch.mean, "sum": torch.sum}.get(reduction, torch.clone)(loss)

    functional.gaussian_nll_loss = formula
    try:
        yield
    finally:
        functional.gaussian_nll_loss = before


@contextmanager
def _reading_experts(module: Any) -> Iterator[None]:
    """Have mixtures of experts of the transformers package read the weights of each choice.

    The other ways sort tokens by experts, and give each expert as many as chose it.
    """
    option = "_experts_implementation"
    held = {id(c): c for c in (getattr(p, "config", None) for p in module.modules()) if c}
    configurations = [c for c in held.values() if hasattr(c, option)]
    before = [getattr(c, option) for c in configurations]
    for configuration in configurations:
        setattr(configuration, option, "batched_mm")
    try:
        yield
    finally:
        for configuration, was in zip(configurations, before, strict=True):
            setattr(configuration, option, was)
