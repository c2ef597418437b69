"""Machines: presets, text, validation, fingerprints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.dram import Dram, Ideal, Queues, hbm2
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.machine.ports import AddressLayout, ported_reads
from fuseloom.dataflow.machine.text import read_machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.traits import Stored
from fuseloom.errors import SimulationError


def test_presets_differ() -> None:
    assert len({Machine.preset(name).fingerprint for name in PRESETS}) == len(PRESETS)
    assert isinstance(Machine.preset("ideal").memory, Ideal)
    assert isinstance(Machine.preset("comal-hbm").memory, Queues)
    assert Machine.preset("default").memory is None


def test_a_name_is_no_part_of_the_fingerprint() -> None:
    one = Machine.preset("hbm2")
    assert replace(one, name="other").fingerprint == one.fingerprint
    assert replace(one, outstanding=2).fingerprint != one.fingerprint
    closed = replace(one, memory=hbm2(policy="closed"))
    assert closed.fingerprint != one.fingerprint


def test_a_name_that_is_none() -> None:
    with pytest.raises(SimulationError, match="no machine is called 'comet'") as error:
        read_machine("comet")
    assert error.value.hint == "did you mean 'comal'?"
    with pytest.raises(SimulationError, match="no machine is called 'abacus'") as error:
        read_machine("abacus")
    assert "hbm2" in str(error.value.hint)


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


def test_sizes_are_four_times_the_one_before() -> None:
    small, medium, large = (Machine.preset(f"size-{size}") for size in "SML")
    for one, other in ((small, medium), (medium, large)):
        assert isinstance(one.memory, Dram)
        assert isinstance(other.memory, Dram)
        assert other.memory.channels == 4 * one.memory.channels
        assert other.outstanding == 4 * one.outstanding
        assert other.port_slots == 4 * one.port_slots
        assert other.energy.buffer_bytes == 4 * one.energy.buffer_bytes
        assert other.energy.unbounded_depth == 4 * one.energy.unbounded_depth
        assert one.functions == other.functions == Machine.preset("rtl").functions
