"""The indices of statements."""

from __future__ import annotations

from tests.program.parsing import program


def test_extents_and_reduced() -> None:
    assert program().extents[0] == {"i": 4, "j": 4, "l": 4}
    assert program().statements[0].reduced == ("j",)
