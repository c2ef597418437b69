"""Colours by meaning, and shapes for those who do not see them."""

from __future__ import annotations

from fuseloom_workbench.base.assets import asset
from fuseloom_workbench.base.palette import RUN_KINDS
from fuseloom_workbench.base.tokens import tokens


def test_every_kind_of_run_has_a_colour_a_shape_and_a_sign_of_its_own() -> None:
    for column in zip(*RUN_KINDS.values(), strict=True):
        assert len(set(column)) == len(RUN_KINDS)
    for theme in ("light", "dark"):
        assert {kind.token for kind in RUN_KINDS.values()} <= set(tokens(theme))
    drawn = asset("costs/marks.js")
    assert all(f"{kind.shape}:" in drawn for kind in RUN_KINDS.values())
