"""The time of work on blocks, as data of the machine (docs/spec/machine.md §5.5)."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import binary_timing, load_timing, unary_timing
from fuseloom.dataflow.samml.block_timing import FORMULAS, BlockTiming
from fuseloom.dataflow.samml.graph import Node, Scalar
from fuseloom.dataflow.samml.tile_values import interval, latency
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import GraphError, SimulationError
from fuseloom.program import block_program


def node(op: str, tile: str, **params: Scalar) -> Node:
    return Node(0, op, (), (), {"tile": tile, "block": 4, **params})


def test_the_defaults_are_the_rules_of_the_paper() -> None:
    assert latency(node("array", "ij")) == 16
    assert latency(node("array", "i")) == 4
    assert latency(node("binary", "ij,ij->ij")) == 16
    assert latency(node("binary", "ik,kj->ij")) == 7
    assert interval(node("binary", "ik,kj->ij")) == 4
    assert latency(node("unary", "ij->ij")) == 4
    assert latency(node("reduce", "ij")) == 16
    assert latency(node("tilefold", "ij->i")) == 16


@pytest.mark.parametrize(
    ("rule", "op", "tile", "fn"),
    [
        ("elementwise", "binary", "ij,ij->ij", "add"),
        ("product", "binary", "ik,kj->ij", "mul"),
        ("unary", "unary", "ij->ij", "exp"),
        ("fold", "tilefold", "ij->i", "add"),
        ("load", "array", "ij", ""),
    ],
)
def test_each_rule_is_a_choice(rule: str, op: str, tile: str, fn: str) -> None:
    for formula, cycles in {"1": 1, "b": 4, "2*b-1": 7, "3*b-2": 10, "b*b": 16}.items():
        machine = Machine(blocks=BlockTiming(**{rule: formula}), alu_latency=3, load_latency=2)
        made = node(op, tile, fn=fn)
        assert latency(made, machine.blocks) == cycles
        timing = {"binary": binary_timing, "unary": unary_timing, "array": load_timing}.get(op)
        if timing is not None:
            assert timing(made, machine).latency == cycles * (2 if op == "array" else 3)


def test_intervals_and_numbers_timed_as_blocks() -> None:
    blocks = BlockTiming(product_interval="1", number_product="2*b-1", number_division="b*b")
    machine = Machine(blocks=blocks)
    assert binary_timing(node("binary", "ik,kj->ij", fn="mul"), machine).interval == 1
    mul = Node(0, "binary", (), (), {"fn": "mul", "block": 4})
    div = Node(0, "binary", (), (), {"fn": "div", "block": 4})
    plain = Machine.default()
    assert [binary_timing(n, plain).latency for n in (mul, div)] == [16, 1]
    assert [binary_timing(n, plain).interval for n in (mul, div)] == [4, 1]
    assert [binary_timing(n, machine).latency for n in (mul, div)] == [7, 16]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_both_engines_use_it(engine: str) -> None:
    machine = Machine(blocks=BlockTiming(unary="b*b"))
    params = {"fn": "relu", "scalar": 0, "block": 4}
    run = bench("unary", "2 S0 D", params=params, machine=machine, engine=engine)
    assert run.outputs == ("2@17 S0@3 D@4",)


def test_a_faster_array_shortens_a_blocked_run() -> None:
    program = block_program(fl.parse("A: 8x8 csr\nX: 8x8 dense\nT[i,j] = A[i,k] * X[k,j]"), 4)
    compiled = fl.compile(program)
    data = {"A": [[1.0] * 8] * 8, "X": [[2.0] * 8] * 8}
    cycles = []
    for interval_rule in ("1", "b", "b*b"):
        machine = Machine(blocks=BlockTiming(product_interval=interval_rule))
        runs = [fl.simulate(compiled, data, machine, engine=e) for e in ("interpreter", "compiled")]
        assert runs[0].cycles == runs[1].cycles
        cycles.append(runs[0].cycles)
    assert cycles[0] < cycles[1] < cycles[2]


def test_formulas_are_chosen_by_name_and_never_evaluated() -> None:
    for wrong in ("", "b**2", "__import__('os')", "b * b", "n "):
        assert wrong not in FORMULAS
        with pytest.raises(GraphError, match="block timing: load is") as caught:
            BlockTiming(load=wrong)
        assert "b*b" in (caught.value.hint or "")


def test_machines_with_it_are_data() -> None:
    machine = Machine(blocks=BlockTiming(fold="b"))
    assert Machine.from_dict(machine.to_dict()) == machine
    assert hash(machine) != hash(Machine())
    assert "fold: b" in str(machine)
    assert Machine.from_dict({}) == Machine()
    for wrong, what in (({"load": "b**2"}, "not a machine"), ({"loading": "b"}, "no 'loading'")):
        with pytest.raises(SimulationError, match=what):
            Machine.from_dict({"blocks": wrong})
