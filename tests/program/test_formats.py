"""The words for storage formats."""

from __future__ import annotations

import pytest

from fuseloom.program import (
    Format,
    LevelFormat,
    parse,
)

D, C = LevelFormat.DENSE, LevelFormat.COMPRESSED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2x3 dense", Format((D, D), (0, 1))),
        ("2x3 compressed", Format((C, C), (0, 1))),
        ("2x3 csr", Format((D, C), (0, 1))),
        ("2x3 csc", Format((D, C), (1, 0))),
        ("2x3 dcsr", Format((C, C), (0, 1))),
        ("2x3 dcsc", Format((C, C), (1, 0))),
        ("2 x 3 csf", Format((C, C), (0, 1))),
        ("2x3 dense order 1,0", Format((D, D), (1, 0))),
        ("2x3 [compressed, dense] order 1,0", Format((C, D), (1, 0))),
    ],
)
def test_formats(text: str, expected: Format) -> None:
    assert parse(f"T: {text}\nu[i] = T[i,j]").tensor("T").format == expected
