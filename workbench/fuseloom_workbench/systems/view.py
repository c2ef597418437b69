"""The rows of a comparison as plain data, system by system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuseloom.comparison.rows import ComparisonRow, FusionSystem
from fuseloom_workbench.systems.openings import PageOpening

TITLES: Mapping[FusionSystem, tuple[str, str]] = {
    FusionSystem.DATAFLOW: ("Dataflow", "streams, simulated cycle by cycle"),
    FusionSystem.CONTRACTION: ("Contraction", "sparse loop nests on this processor"),
    FusionSystem.ACCESS: ("Access", "a systolic array of 64 × 64, predicted"),
    FusionSystem.CALLS: ("Calls", "calls of NumPy, tile by tile, on this processor"),
    FusionSystem.STITCH: ("Stitch", "kernels of many dense operations, on this processor"),
}
"""Each system's title, and its machine in a few words."""
FIGURES = (
    "kernels", "bytes_between", "recompute", "flops", "simulated_cycles", "predicted",
    "predicted_unit", "measured_seconds", "energy", "max_rel_error",
)  # fmt: skip
"""The fields of a row that are drawn as they are."""


def systems_view() -> list[dict[str, str]]:
    """Every system, in order."""
    return [
        {"system": one.value, "title": title, "machine": machine}
        for one, (title, machine) in TITLES.items()
    ]


def rows_view(rows: Sequence[ComparisonRow]) -> dict[str, Any]:
    """The rows of one system that apply, and the reasons of the others.

    A reason without ways is of a system that was given up.

    Examples
    --------
    >>> row = ComparisonRow(FusionSystem.CALLS, "fused", applies=False, reason="no calls")
    >>> rows_view([row])
    {'rows': [], 'refused': [{'ways': ['fused'], 'reason': 'no calls'}]}
    """
    refused: dict[str, list[str]] = {}
    for row in rows:
        if not row.applies:
            refused.setdefault(row.reason, []).extend([row.way] if row.way else [])
    return {
        "rows": [
            {
                "way": row.way, "note": row.reason, "right": row.is_right,
                **{name: getattr(row, name) for name in FIGURES},
            }
            for row in rows
            if row.applies
        ],
        "refused": [{"ways": ways, "reason": reason} for reason, ways in refused.items()],
    }  # fmt: skip


def opening_view(one: PageOpening) -> dict[str, str]:
    """An opening."""
    return {
        "system": one.system.value,
        "page": one.page,
        "address": one.address,
        "note": one.note,
    }
