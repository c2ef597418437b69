"""Spaces of machines, read from text."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.space import MAX_MACHINES, parse_machine_space
from fuseloom.errors import SimulationError

SPACE = """
base = "hbm2"
load_latency = 3

[parameters]
lanes = [1, 4]
on_chip = [65536, "unbounded"]
channel_capacity = [16, "unbounded"]

[parameters.memory]
channels = [2, 8]
"""


def test_every_choice_of_values_is_a_machine() -> None:
    space = parse_machine_space(SPACE)
    points = list(space.points())
    assert space.size == len(points) == 16
    assert space.parameters["memory.channels"] == (2, 8)
    assert len({str(point) for point in points}) == 16
    first, last = points[0], points[-1]
    assert (first.lanes, first.on_chip, first.machine.channel_capacity) == (1, 65536.0, 16)
    assert (last.lanes, last.on_chip, last.machine.channel_capacity) == (4, None, None)
    assert str(last) == (
        "lanes 4, on_chip unbounded, channel_capacity unbounded, memory.channels 8"
    )
    for point in points:
        assert point.machine.load_latency == 3
        memory = point.machine.memory
        assert memory is not None
        assert memory.to_dict()["channels"] == point.settings["memory.channels"]
    plain = Machine.preset("hbm2").to_dict() | {"load_latency": 3}
    assert last.machine.to_dict() == plain


def test_keys_with_dots_are_those_of_tables() -> None:
    text = '[parameters]\n"functions.exp" = [3, 30]\nmemory = ["hbm2", "ddr4"]'
    points = list(parse_machine_space(text).points())
    assert [point.machine.functions.exp for point in points] == [3, 3, 30, 30]
    assert [point.machine.memory.name for point in points] == ["hbm2", "ddr4-3200"] * 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('base = "hbm2"', "without parameters"),
        ("[parameters]", "without parameters"),
        ("parameters = 3", "without parameters"),
        ("[parameters]\nlanes = 4", "parameter 'lanes' is 4"),
        ("[parameters]\nlanes = []", "parameter 'lanes' is []"),
        ("[parameters]\nlanes = [0]", "lanes of 0"),
        ("[parameters]\nlanes = [true]", "lanes of True"),
        ("[parameters]\nlanes = [257]", "lanes of 257"),
        ("[parameters]\nlanes = [1, 1]", "has a value twice"),
        ("[parameters]\non_chip = [-1]", "on_chip of -1"),
        ("[parameters]\non_chip = [nan]", "on_chip of nan"),
        ("[parameters]\nalu_latency = [[1]]", "has the value"),
        ("[parameters]\nalu_latency = [1, 0]", "with alu_latency = 0"),
        ("[parameters]\nalu_latencies = [1]", "with alu_latencies = 1"),
        ('base = "hbm2"\n[parameters]\n"memory.channels" = [3]', "with memory.channels = 3"),
        ('[parameters]\n"name.x" = [3]\n[name]\nx = 2', "with name.x = 3"),
        ('name = "a"\n[parameters]\n"name.x" = [3]', "name is 'a' in the file"),
        ("[parameters", "machine: "),
        (f"[parameters]\nalu_latency = {list(range(1, MAX_MACHINES + 2))}", "1,001 machines"),
    ],
)
def test_of_what_is_no_space_the_place_is_told(text: str, told: str) -> None:
    with pytest.raises(SimulationError) as caught:
        parse_machine_space(text)
    assert told in str(caught.value)
    assert caught.value.hint
