"""Programs that leave out the zeros of some results, and data that make zeros."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fuseloom.program import StoredTensor
from tests.property.programs.making import Made, Maker


class NonzeroMaker(Maker):
    """Makes up statements, every other one without the zeros of its result."""

    def emit(
        self, out: list[str], right: str, positive: bool, magnitude: float, *operands: Made
    ) -> Made:
        if out and not right.startswith("reshape") and self.rng.random() < 0.5:
            right = f"relu({right})" if self.rng.random() < 0.6 else right
            right = f"nonzero({right})"
        return super().emit(out, right, positive, magnitude, *operands)


def integers_of(data: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
    """The data with every value rounded away from zero, so that sums cancel."""
    return {
        name: replace(stored, values=np.sign(stored.values) * np.ceil(np.abs(stored.values)))
        for name, stored in data.items()
    }
