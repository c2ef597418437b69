"""Layout in another process, which survives what goes wrong there."""

from __future__ import annotations

import pytest

from workbench import layout
from workbench.child import ChildError


def test_layout_survives_its_worker():
    dot = "digraph { a -> b [id=e1] }"
    assert "<svg" in layout.svg(dot)
    layout._layouter._child.end()
    layout.svg.cache_clear()
    assert "<svg" in layout.svg(dot)


def test_layout_says_what_is_wrong():
    with pytest.raises(ChildError, match="graph layout failed"):
        layout.svg("digraph { a -> ")
    assert "<svg" in layout.svg("digraph { c }")
