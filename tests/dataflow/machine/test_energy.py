"""Energies of actions: by size and kind of memory, in files, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.dataflow.dram import Dram, Ideal, Queues, ddr4_3200, hbm2
from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.machine.text import parse_machine, print_machine
from fuseloom.errors import SimulationError

ENERGY = Energy()


def test_an_sram_takes_the_square_root_of_its_size() -> None:
    assert ENERGY.sram(8192) == 5.0
    assert ENERGY.sram(32768) == 10.0
    assert ENERGY.sram(2048) == 2.5
    assert replace(ENERGY, sram_word=1.0).sram(32768) == 2.0


def test_a_channel_is_written_and_read() -> None:
    assert ENERGY.of_token(2048) == 10.0  # 8 KiB, twice
    assert ENERGY.of_token(128, words=16) == 10.0
    assert ENERGY.of_token(None) == ENERGY.of_token(64)
    assert replace(ENERGY, unbounded_depth=2048).of_token(None) == 10.0


def test_a_memory_takes_what_its_kind_takes() -> None:
    for memory in (hbm2(), Ideal(), Queues(), None):
        assert ENERGY.of_bit(memory) == pytest.approx(3.48)
    assert ENERGY.of_bit(ddr4_3200()) == 5.75
    assert ENERGY.of_row(hbm2()) == pytest.approx(909.0)
    assert ENERGY.of_row(ddr4_3200()) == pytest.approx(8 * 430.0)
    assert ENERGY.of_row(hbm2(row_bytes=2048)) == pytest.approx(2 * 909.0)
    own = Energy(memory_bit=1.0, row_bit=0.5)
    memory: Dram = hbm2()
    assert (own.of_bit(memory), own.of_row(memory)) == (1.0, 4096.0)


def test_files_have_what_is_not_the_default() -> None:
    assert "energy" not in print_machine(fl.Machine.default())
    machine = parse_machine('base = "hbm2"\n[energy]\nadd = 2\nrow_bit = 0.25\n')
    assert machine.energy == Energy(add=2, row_bit=0.25)
    text = print_machine(machine)
    assert "[energy]\nadd = 2\nmultiply = 3.7\n" in text
    assert "memory_bit" not in text  # as of its kind
    assert parse_machine(text) == machine
    assert fl.Machine.from_dict(machine.to_dict()) == machine


def test_a_fingerprint_tells_energies_apart_and_leaves_others_as_they_were() -> None:
    assert fl.Machine.default().fingerprint == "bc31dce8b9d2cc41"
    dear = replace(fl.Machine.default(), energy=Energy(add=2.0))
    assert dear.fingerprint != fl.Machine.default().fingerprint
    old = {k: v for k, v in fl.Machine.preset("ddr4").to_dict().items() if k != "energy"}
    assert fl.Machine.from_dict(old) == fl.Machine.preset("ddr4")


def test_cycles_do_not_depend_on_it() -> None:
    spmv, data = fl.load("spmv")
    compiled = fl.compile(spmv.program)
    dear = replace(fl.Machine.default(), energy=Energy(add=1e6))
    plain = fl.simulate(compiled, data)
    run = fl.simulate(compiled, data, dear)
    assert run.cycles == plain.cycles
    assert run.energy.actions["add"] == pytest.approx(plain.energy.actions["add"] / 0.9 * 1e6)


@pytest.mark.parametrize("value", [-1, -0.1, math.nan, math.inf, True, "2", 1e10, 10**30, [1.0]])
@pytest.mark.parametrize("name", ["add", "special", "sram_word", "memory_bit"])
def test_picojoules_are_numbers_in_their_range(name: str, value: object) -> None:
    with pytest.raises(SimulationError, match=rf"energy: {name} is .*\(hint: picojoules from 0"):
        fl.Machine.from_dict({"energy": {name: value}})


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, math.nan, "8", 1 << 41])
@pytest.mark.parametrize("name", ["buffer_bytes", "unbounded_depth"])
def test_sizes_are_integers_in_their_range(name: str, value: object) -> None:
    with pytest.raises(SimulationError, match=rf"energy: {name} is .*\(hint: an integer from 1"):
        Energy(**{name: value})


def test_only_memories_have_energies_of_their_kind() -> None:
    with pytest.raises(SimulationError, match="energy: add is None"):
        fl.Machine.from_dict({"energy": {"add": None}})
    with pytest.raises(SimulationError, match="the energies of actions has no 'joule'"):
        fl.Machine.from_dict({"energy": {"joule": 1.0}})
    with pytest.raises(SimulationError, match="the energies of actions is 3"):
        fl.Machine.from_dict({"energy": 3})
