"""Libraries that are imported when they are first used, because that takes long."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is imported when the first of its attributes is asked for.

    Examples
    --------
    >>> late = LazyModule("fractions")
    >>> late.Fraction(1, 2) + 1
    Fraction(3, 2)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


networkx = LazyModule("networkx")
scipy_sparse = LazyModule("scipy.sparse")


def is_scipy(given: Any) -> bool:
    """Return whether something is an array of ``scipy.sparse``, which need not be imported."""
    loaded = sys.modules.get("scipy.sparse")
    return loaded is not None and bool(loaded.issparse(given))
