"""Functions with a latency of their own: as the hardware's units have it, in files, in runs."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

import fuseloom as fl
from fuseloom.dataflow.machine.function_latency import RTL, FunctionLatency
from fuseloom.dataflow.machine.text import parse_machine, print_machine
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError


@pytest.mark.deep
def test_the_machine_of_the_hardware_has_the_stages_of_its_units() -> None:
    from fuseloom.dataflow.rtl.float32.units import UNITS, float_unit

    slow = {name for name in UNITS if float_unit(name).stages}
    assert slow == {field.name for field in fields(RTL)}
    assert all(RTL.of(name) == float_unit(name).stages + 1 for name in slow)


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_a_function_takes_its_time_and_others_theirs(engine: str) -> None:
    machine = replace(fl.Machine.default(), functions=FunctionLatency(div=7), alu_latency=2)

    def put(op: str, *inputs: str, fn: str) -> str:
        params = {"fn": fn, "scalar": 2.0} if op == "unary" else {"fn": fn}
        return bench(op, *inputs, params=params, machine=machine, engine=engine).outputs[0]

    assert put("binary", "6 S0 D", "3 S0 D", fn="div") == "2@8 S0@3 D@4"
    assert put("binary", "6 S0 D", "3 S0 D", fn="mul") == "18@3 S0@3 D@4"
    assert put("unary", "6 S0 D", fn="scalardiv") == "3@8 S0@3 D@4"
    assert put("unary", "6 S0 D", fn="relu") == "6@3 S0@3 D@4"


def test_files_have_them_and_a_machine_without_is_what_it_was() -> None:
    machine = fl.Machine.preset("rtl")
    text = print_machine(machine)
    assert "[functions]\ndiv = 12\nexp = 8\nrsqrt = 6\n" in text
    assert parse_machine(text) == machine
    assert parse_machine('base = "rtl"\nfunctions = { exp = 3 }').functions == replace(RTL, exp=3)
    assert "of functions: div 12, exp 8, rsqrt 6" in str(machine)
    assert machine.fingerprint != fl.Machine.default().fingerprint
    assert "functions" not in print_machine(fl.Machine.default())
    assert replace(machine, functions=FunctionLatency()).fingerprint == (
        fl.Machine.default().fingerprint
    )


@pytest.mark.parametrize("cycles", [0, -1, 1.5, True, "2", 1 << 21])
def test_latencies_are_integers_in_their_range(cycles: object) -> None:
    with pytest.raises(SimulationError, match="the latency of exp is"):
        fl.Machine.from_dict({"functions": {"exp": cycles}})
    with pytest.raises(SimulationError, match="tanh"):
        fl.Machine.from_dict({"functions": {"tanh": 2}})
