"""FLOPs and bytes add up."""

from __future__ import annotations

from fuseloom.results.work import Work


def test_work_adds_up() -> None:
    assert Work(3, 4) + Work(bytes=5) == Work(3, 9)
    assert sum([Work(1, 2), Work(10, 20)], Work()) == Work(11, 22)
