"""Rows as plain data: those that apply, and the reasons of the others."""

from __future__ import annotations

from fuseloom.comparison.rows import ComparisonRow, FusionSystem
from fuseloom_workbench.systems.view import FIGURES, TITLES, rows_view, systems_view


def test_every_system_has_a_title():
    assert [*TITLES] == [*FusionSystem]
    assert [one["system"] for one in systems_view()] == [one.value for one in FusionSystem]


def test_reasons_are_told_once():
    wrong = [
        ComparisonRow(FusionSystem.CALLS, way, applies=False, reason=reason)
        for way, reason in (("unfused", "no call"), ("fused", "no call"), ("tuned", "no tile"))
    ]
    right = ComparisonRow(
        FusionSystem.CALLS, "whole", applies=True, reason="tiles of 8", kernels=2,
        max_rel_error=1.0,
    )  # fmt: skip
    made = rows_view([*wrong, right])
    assert made["refused"] == [
        {"ways": ["unfused", "fused"], "reason": "no call"},
        {"ways": ["tuned"], "reason": "no tile"},
    ]
    (row,) = made["rows"]
    assert (row["way"], row["note"], row["right"], row["kernels"]) == (
        "whole",
        "tiles of 8",
        False,
        2,
    )
    assert {*row} == {"way", "note", "right", *FIGURES}
