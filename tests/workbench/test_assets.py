"""Scripts and styles as text, helpers in front."""

from __future__ import annotations

import pytest

from workbench.assets import asset, script, style


def test_helpers_come_first() -> None:
    assert script("runs_table") == asset("base.js") + "\n" + asset("runs_table.js")
    assert style("runs_table") == asset("base.css") + "\n" + asset("runs_table.css")


def test_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        script("warp")
