"""Rows of the library, and the extents of examples."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.data_kinds import Vector
from fuseloom.calls.library.library_call import LibraryCall, extent, two_extents
from fuseloom.errors import ParseError


def test_two_extents_differ() -> None:
    rng = np.random.default_rng(0)
    pairs = [two_extents(rng, 3) for _ in range(300)]
    assert all(first != second and min(first, second) >= 3 for first, second in pairs)
    assert len(set(pairs)) > 40
    assert {extent(rng, 4) for _ in range(300)} == set(range(4, 13))


def test_a_row_with_a_bad_annotation_names_itself() -> None:
    row = LibraryCall("mine", "Mine.", np.exp, "produces {", ("a", "out"), {"out": Vector()}, dict)
    with pytest.raises(ParseError) as caught:
        _ = row.annotated
    assert caught.value.source == "mine"
