"""The command line's view of tensors' statistics."""

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


def statistics_table(data: Mapping[str, StoredTensor]) -> str:
    """The same as a table: a row per level."""
    lines = [
        f"{'tensor':8} {'level':>5} {'size':>10} {'fibers':>10} {'positions':>12} {'mean':>10} "
        f"{'mean square':>12} {'longest':>8} {'empty':>8}"
    ]
    for name, levels in statistics_record(data).items():
        lines += [
            f"{name:8} {depth:5} {level['size']:10,} {level['fibers']:10,} "
            f"{level['positions']:12,} {level['mean']:10,.2f} {level['second_moment']:12,.2f} "
            f"{level['longest']:8,} {level['empty']:8,}"
            for depth, level in enumerate(levels)
        ]
    return "\n".join(lines)
