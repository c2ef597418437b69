"""Modules for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fuseloom as fl
from tests.frontends.torch.support import Module


def imported(function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    return fl.from_torch(Module(function), inputs, **options)
