"""Parameters of machines: every one that the engine takes, values as people write them, spaces."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.space import MAX_MACHINES, MachineSpace
from fuseloom.errors import FuseloomError
from fuseloom_workbench.search.parameters import (
    FIRST,
    machine_space,
    parameter_values,
    parameters,
    setting_texts,
)

HBM2 = Machine.preset("hbm2")


@pytest.mark.parametrize("name", ["default", "hbm2", "ideal", "comal-hbm"])
def test_the_engine_takes_every_parameter_that_is_offered(name):
    machine = Machine.preset(name)
    offered = parameters(machine)
    for parameter in offered:
        own = parameter_values(parameter.name, parameter.own.replace(",", "")) or (1,)
        if parameter.name == "lanes":
            own = (2,)
        if parameter.name == "memory" and name == "comal-hbm":
            own = ("comal-hbm",)
        space = machine_space(machine, 1, {parameter.name: own})
        assert space.size == 1, parameter
        if parameter.own and parameter.name != "memory":
            assert next(space.points()).machine == machine, parameter
        if parameter.name not in ("memory", "memory.policy", "memory.mapping", "memory.refresh"):
            assert parameter.unit, parameter
    names = [parameter.name for parameter in offered]
    assert len(set(names)) == len(names)
    first = [name for name in FIRST if name in names]
    assert names[: len(first)] == first
    assert {"lanes", "on_chip", "channel_capacity", "memory"} <= {*names}
    assert ("memory.channels" in names) == (name == "hbm2")


def test_values_are_read_as_people_write_them():
    read = parameter_values("p", " 16, 6_4,1e9 ,0.5, unbounded,on,off,,")
    assert read == (16, 64, 1e9, 0.5, "unbounded", True, False)
    assert parameter_values("p", " , ") == ()
    assert parameter_values("p", [2, "8"]) == (2, 8)
    assert parameter_values("p", "nan,1e999") == ("nan", "1e999"), "no numbers that machines have"


@pytest.mark.parametrize("given", [7, None, {"a": 1}, [[1]], [None], "1," * 5000])
def test_what_is_no_list_of_values_names_its_parameter(given):
    with pytest.raises(FuseloomError, match=r"^p: "):
        parameter_values("p", given)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"channel_capacity": (16, "many")}, r"^channel_capacity: .*'many'.*integer"),
        ({"memory.channels": (8, 3)}, r"^memory\.channels: .*power of two"),
        ({"memory.channels": (2, 2)}, r"^memory\.channels: .*twice"),
        ({"speed": (1,)}, r"^speed: .*has no 'speed'.*it has"),
        ({"on_chip": (-1,)}, r"^on_chip: .*bytes"),
        ({"lanes": (1,), 'a"b\n': (1,)}, r'^a"b'),
        ({"memory": ("ideal",), "memory.channels": (2,)}, r"^parameters: .*memory"),
        ({"channel_capacity": tuple(range(1, 35)), "alu_latency": tuple(range(1, 35))},
         rf"^parameters: .*1,156 machines.*{MAX_MACHINES:,}"),
    ],
)  # fmt: skip
def test_what_no_machine_has_names_its_parameter(values, told):
    with pytest.raises(FuseloomError, match=told):
        machine_space(HBM2, 1, values)


def test_machines_are_as_the_one_shown_but_for_the_values():
    assert machine_space(HBM2, 1, {}) == MachineSpace.of(HBM2)
    space = machine_space(HBM2, 2, {"memory.channels": (2, 8)})
    points = [*space.points()]
    assert [point.lanes for point in points] == [2, 2]
    assert points[1].machine == HBM2
    assert points[0].machine.memory.channels == 2
    lanes = machine_space(HBM2, 2, {"lanes": (1, 4)})
    assert [point.lanes for point in lanes.points()] == [1, 4]


def test_settings_have_units():
    texts = setting_texts({"lanes": 2, "channel_capacity": 1600, "on_chip": "unbounded"})
    told = [(text["label"], text["value"], text["unit"]) for text in texts]
    assert told == [
        ("lanes", "2", ""), ("channel capacity", "1,600", "tokens"), ("on chip", "unbounded", ""),
    ]  # fmt: skip
