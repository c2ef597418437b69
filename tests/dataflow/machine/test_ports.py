"""The reads of a memory, and where what they read lies; through runs: ``sim/test_ports.py``."""

from __future__ import annotations

from fuseloom.dataflow.machine.ports import AddressLayout, ported_reads
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.traits import Stored


def test_arrays_begin_at_pages_and_lie_in_one_place() -> None:
    layout = AddressLayout()
    assert [layout.place(key, size) for key, size in (("a", 5), ("b", 4097))] == [0, 4096]
    assert layout.place("a", 5) == 0
    assert layout.place("of no length", 0) == 12288
    assert layout.end == 16384


def test_what_is_not_there_and_what_nothing_takes_is_not_read() -> None:
    def reads(crd: int | None, **params: object) -> list[Stored]:
        return [read.array for read in ported_reads(Node(0, "scan", (0,), (crd, 2), params))]

    assert reads(1) == [Stored.SEGMENTS, Stored.COORDINATES]
    assert reads(1, singleton=True) == [Stored.COORDINATES]
    assert reads(None) == [Stored.SEGMENTS]
