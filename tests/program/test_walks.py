"""Walks that need no recursion."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from fuseloom.program.walks import postorder, unwound


def test_postorder_gives_parts_first_and_everything_once() -> None:
    parts = {"f": ("b", "a"), "b": ("c", "a"), "a": (), "c": ()}
    assert list(postorder(["f", "b"], parts.__getitem__)) == ["c", "a", "b", "f"]


def test_a_deep_walk_takes_no_stack() -> None:
    deep = list(range(100_000))
    assert list(postorder([deep[-1]], lambda n: (deep[n - 1],) if n else ())) == deep


def total(n: int) -> Generator[Any, Any, int]:
    if not n:
        return 0
    below: int = yield total(n - 1)
    return n + below


def test_a_deep_call_takes_no_stack() -> None:
    assert unwound(total(100_000)) == 100_000 * 100_001 // 2


def test_errors_come_out_as_they_are() -> None:
    def failing(n: int) -> Generator[Any, Any, int]:
        if not n:
            raise ValueError("at the bottom")
        below: int = yield failing(n - 1)
        return below

    with pytest.raises(ValueError, match="at the bottom"):
        unwound(failing(10))
