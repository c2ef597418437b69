"""Machines as text: printed, parsed, and what is wrong is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.dram import Dram, Ideal, hbm2
from fuseloom.dataflow.machine import PRESETS, Machine, Quirks
from fuseloom.dataflow.machine.text import parse_machine, print_machine, read_machine
from fuseloom.errors import SimulationError


@pytest.mark.parametrize("name", PRESETS)
def test_presets_print_and_parse(name: str) -> None:
    machine = Machine.preset(name)
    assert parse_machine(print_machine(machine)) == machine
    assert Machine.from_dict(machine.to_dict()) == machine
    assert read_machine(name) == machine
    assert machine.name in str(machine)
    assert len({machine, Machine.preset(name)}) == 1


def test_a_text_says_what_differs() -> None:
    machine = parse_machine(
        'base = "hbm2"\nname = "mine"\nchannel_capacity = 64\nclock_hz = 5e8\n'
        'quirks = ["spacc_strict"]\n[memory]\npolicy = "closed"\ntiming = { cl = 20 }\n'
    )
    assert isinstance(machine.memory, Dram)
    assert machine.memory.policy == "closed"
    assert machine.memory.timing == replace(hbm2().timing, cl=20)
    assert machine.quirks == Quirks(spacc_strict=True)
    assert (machine.name, machine.channel_capacity, machine.clock_hz) == ("mine", 64, 5e8)
    assert parse_machine('base = "hbm2"\nchannel_capacity = "unbounded"').channel_capacity is None
    assert parse_machine('memory = "ddr4"').memory == Machine.preset("ddr4").memory
    assert parse_machine('base = "ddr4"\nmemory = "none"').memory is None
    ideal = parse_machine('base = "ddr4"\n[memory]\nkind = "ideal"\nlatency = 7').memory
    assert ideal == Ideal(7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alu_latency = = 2", "line 1"),
        ("alu_latency = 0", "alu_latency is 0"),
        ("alu_latency = true", "alu_latency is True"),
        ("alu_latency = 1.5", r"alu_latency is 1\.5"),
        ('alu_latency = "2"', "alu_latency is '2'"),
        ("alu_latncy = 2", "no 'alu_latncy'"),
        ("channel_capacity = -3", "channel_capacity is -3"),
        ("outstanding = 100000", "outstanding is 100000"),
        ("clock_hz = 0", "clock_hz is 0"),
        ("clock_hz = nan", "clock_hz is nan"),
        ('clock_hz = "fast"', "clock_hz is 'fast'"),
        ('base = "cray"', "no machine is called 'cray'"),
        ("base = 3", "base is 3"),
        ('quirks = ["leaks"]', "no quirk is called 'leaks'"),
        ("quirks = 3", "quirks is 3"),
        ("memory = 3", "memory is 3"),
        ('[memory]\nkind = "tape"', "no kind of memory is called 'tape'"),
        ('base = "hbm2"\n[memory]\nrows = 3', "rows is 3"),
        ('base = "hbm2"\n[memory]\ntiming = 3', "the timing of a memory is 3"),
        ('base = "hbm2"\n[memory]\ntiming = { rc = "x", abc = 3 }', "has no 'abc'"),
        ('base = "hbm2"\n[memory]\nspeed = 3', "a memory of kind dram has no 'speed'"),
        ('[memory]\nkind = "dram"', 'of kind dram lacks name, .*timing .*base = "hbm2"'),
        ('[memory]\nkind = "dram"\ntiming = {}', "the timing of a memory lacks cl, "),
        ('[memory]\nkind = "ideal"\nlatncy = 3', "no 'latncy' .hint: it has: latency"),
        ("[memory]\nkind = [3]", "no kind of memory is called"),
        ("[memory]\nlatency = 3", "no kind of memory is called None"),
        ("blocks = 3", "the timing of blocks is 3"),
        ('[blocks]\nloading = "b"', "the timing of blocks has no 'loading'"),
        ("name = 3", "name is text"),
        ("name = " + repr("x" * 70_000), "characters"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        parse_machine(text)


VALUES = ("3", "-1", "2.5", '"x"', "true", "[]", "[1]", "{}", "{ a = 1 }", "nan", "99999999999999")


@pytest.mark.parametrize("name", PRESETS)
def test_no_value_of_any_key_ends_in_a_message_of_python(name: str) -> None:
    lines = print_machine(Machine.preset(name)).splitlines()
    refused: list[tuple[str, str]] = []
    for k, line in enumerate(lines):
        key, equals, _ = line.partition(" = ")
        for value in VALUES if equals else ():
            text = "\n".join([*lines[:k], f"{key} = {value}", *lines[k + 1 :]])
            try:
                print_machine(parse_machine(text))
            except SimulationError as problem:
                refused.append((text, str(problem)))
    assert len(refused) > 30
    for text, message in refused:
        for word in ("__init__", "argument", "object", "supported", "Error"):
            assert word not in message, text


@pytest.mark.parametrize(
    "text", [".".join("a" * 20_000) + " = 1", f"alu_latency = {'9' * 10_000}", "a=" + "[" * 9_000]
)
def test_texts_that_would_take_memory_or_have_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(SimulationError, match="machine: ") as caught:
        parse_machine(text)
    assert len(str(caught.value)) <= 500
