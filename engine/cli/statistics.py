"""Statistics of the tensors that an estimate rests on, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.program import StoredTensor
from engine.program.statistics import TensorStatistics


def statistics_record(data: Mapping[str, StoredTensor]) -> dict[str, list[dict[str, Any]]]:
    """Per tensor the figures of every level, outermost first."""
    return {
        name: [level.summary() for level in TensorStatistics.of(stored).levels]
        for name, stored in data.items()
    }
