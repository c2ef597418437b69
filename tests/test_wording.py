"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from fuseloom.wording import agreeing, closest, counted


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 orders"), (1, "1 order"), (2, "2 orders"), (1000, "1,000 orders"), (1.2, "1 order")],
)
def test_nouns_agree_with_their_number(number: float, text: str) -> None:
    assert counted(number, "order") == text


def test_irregular_nouns_and_formats() -> None:
    assert counted(1, "index", "indices") == "1 index"
    assert counted(3, "index", "indices") == "3 indices"
    assert counted(1.5, "byte", spec="g") == "1.5 bytes"
    assert counted(float("inf"), "cycle") == "inf cycles"
    assert counted(6.18e67, "cycle") == "6.18e+67 cycles"
    assert counted(10**18, "byte") == "1,000,000,000,000,000,000 bytes"


def test_verbs_agree_with_their_number() -> None:
    assert [agreeing(n, "holds", "hold") for n in (0, 1, 2, 11)] == [
        "hold",
        "holds",
        "hold",
        "hold",
    ]
    assert agreeing("−1", "cycle", "cycles") == agreeing(-1, "cycle", "cycles") == "cycles"
    assert agreeing("+1", "cycle", "cycles") == "cycle"


def test_the_closest_name() -> None:
    assert closest(["--json", "--capcity"], ["--capacity", "--machine"]) == "--capacity"
    assert closest(["frobnicate"], ["compile"]) is None
