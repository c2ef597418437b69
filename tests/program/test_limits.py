"""Names, and limits that fit each other."""

from __future__ import annotations

import pytest

from fuseloom.program import limits
from fuseloom.program.limits import NAME


@pytest.mark.parametrize("name", ["A", "T1", "x_2", "_x", "x'", "x''"])
def test_names(name: str) -> None:
    assert NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["", "1x", "'x", "a-b", "a b", "é", "x\n"])
def test_no_names(name: str) -> None:
    assert not NAME.fullmatch(name)


def test_the_largest_block_may_be_a_value() -> None:
    assert limits.MAX_BLOCK**2 <= limits.MAX_TILE
    assert limits.MAX_DIMENSION < 2**31  # coordinates have 32 bits
    assert limits.MAX_REFERENCE_ELEMENTS * 8 <= limits.MAX_STORED_BYTES
