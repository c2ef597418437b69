"""Scripts and styles as text, helpers in front."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.assets import asset, script, style


def test_helpers_come_first() -> None:
    assert script("why/why_bar") == asset("base/base.js", "base/help.js", "why/why_bar.js")
    made = style("why/why_bar")
    assert made == asset("base/tokens.css", "base/base.css", "base/help.css", "why/why_bar.css")
    assert made.startswith("/* Every colour")


def test_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        script("warp")
