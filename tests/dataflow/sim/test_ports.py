"""Ports of the memory: what they ask for, when, and what a whole run then takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.dram import Ideal, Queues, ddr4_3200, hbm2
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.ports import READ, WRITE, with_ports
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.tokens import DONE, Stop, encode
from fuseloom.models import load

REF, VAL, CRD = StreamKind.REF, StreamKind.VAL, StreamKind.CRD
ENGINES = {"interpreter": interpreter, "compiled": compiled}


def loading(refs: list[int], size: int = 64) -> BoundGraph:
    """References, one a cycle, and the values they load."""
    streams = (Stream(0, REF, 1), Stream(1, VAL, 1))
    nodes = (
        Node(0, "source", (), (0,), {"kind": "ref"}, "refs"),
        Node(1, "array", (0,), (1,), {"tensor": "B"}, "B"),
        Node(2, "valwrite", (1,), (), {"tensor": "X"}, "X"),
    )
    arrays = {
        0: {"tokens": encode([*refs, Stop(0), DONE])},
        1: {"vals": np.arange(size, dtype=np.float32)},
    }
    return BoundGraph(Graph("loading", nodes, streams), arrays)


def reading(engine: str, refs: list[int], **machine: object) -> tuple[EngineResult, list[int]]:
    """The run, and when the value load saw each reference."""
    on = replace(Machine.default(), **{"memory": Ideal(10), **machine})
    bound = with_ports(loading(refs), on)
    result = ENGINES[engine].run(bound, on, log=True)
    array = bound.graph.nodes[1]
    assert result.log is not None
    return result, [time for _, time in result.log[array.inputs[0]]][:-2]


@pytest.mark.parametrize("engine", ENGINES)
class TestReading:
    def test_one_line_is_asked_for_once(self, engine: str) -> None:
        """Eight words lie in 32 bytes.  The first reference comes at cycle 1 and is answered 10
        later; the others wait for the same line, and are taken in turn."""
        _, times = reading(engine, list(range(8)))
        assert times == [11] * 8

    def test_the_next_line_is_asked_for_at_once(self, engine: str) -> None:
        """Reference 8 comes at cycle 9 and its line at 19."""
        _, times = reading(engine, list(range(10)))
        assert times == [11] * 8 + [19, 19]

    def test_scattered_references_overlap(self, engine: str) -> None:
        """Each has a line of its own, asked for in the cycle it comes."""
        _, times = reading(engine, [0, 40, 16, 56])
        assert times == [11, 12, 13, 14]

    def test_at_most_so_many_requests_are_under_way(self, engine: str) -> None:
        """With two under way the third goes out at 11, the fourth a cycle later."""
        result, times = reading(engine, [0, 40, 16, 56], outstanding=2)
        assert times == [11, 12, 21, 22]
        port = next(node for node in result.graph.nodes if node.op == READ)
        assert result.stall_memory[port.id] == 8  # from 3 to 11

    def test_a_port_holds_so_many_tokens(self, engine: str) -> None:
        """With one slot a reference is taken, and its line asked for, when the one before has
        been taken on the other side: at 11, whose slot is free from 12 on."""
        _, times = reading(engine, [0, 40, 16], port_slots=1)
        assert times == [11, 22, 33]

    def test_a_line_asked_for_before_the_last_one_is_asked_for_again(self, engine: str) -> None:
        _, times = reading(engine, [0, 40, 0])
        assert times == [11, 12, 13]

    def test_empty_tokens_need_no_memory(self, engine: str) -> None:
        result, _ = reading(engine, [])
        assert int(result.stall_memory.max()) <= 10  # only the end of the writing


@pytest.mark.parametrize("engine", ENGINES)
def test_the_end_waits_until_all_is_written(engine: str) -> None:
    """Ten values fill a line and a quarter: one request at the eighth value, one at the end."""
    on = replace(Machine.default(), memory=Ideal(100))
    bound = with_ports(loading(list(range(10))), on)
    result = ENGINES[engine].run(bound, on)
    port = next(node for node in bound.graph.nodes if node.op == WRITE)
    # References answered at 101, the ninth at 109; loads end at 111, D is put at 112 + 1 and
    # comes here at 114: the last request is answered 100 later.
    assert int(result.stall_memory[port.id]) == 100
    np.testing.assert_array_equal(result.outputs[2]["vals"], np.arange(10))


def test_ports_keep_numbers_and_go_where_memory_is_touched() -> None:
    model, data = load("spmm", "random")
    compiled_program = fl.compile(model.program)
    free = fl.simulate(compiled_program, data)
    slow = fl.simulate(compiled_program, data, replace(Machine.default(), memory=Ideal(1)))
    before = free.regions[0].result.graph
    after = slow.regions[0].result.graph
    ports = [node for node in after.nodes if node.op in (READ, WRITE)]
    touching = {"scan": 2, "array": 1, "crdwrite": 1, "valwrite": 1}
    expected = sum(touching.get(node.op, 0) for node in before.nodes)
    assert len(ports) == expected
    assert [n.op for n in after.nodes[: len(before.nodes)]] == [n.op for n in before.nodes]
    assert with_ports(BoundGraph(after), slow.machine).graph is after


@pytest.mark.parametrize(
    ("preset", "memory"),
    [*(("unfused", m) for m in (Ideal(60), Queues(), ddr4_3200())), ("full", hbm2()),
     *(pytest.param("unfused", m, marks=pytest.mark.fuzz) for m in (Ideal(1), hbm2()))],
    ids=str,
)  # fmt: skip
def test_models_on_machines_with_memory(preset: str, memory: object) -> None:
    """Right results, never faster than without memory, and both engines alike."""
    model, data = load("gcn", "karate")
    compilation = fl.compile(model.program, model.presets[preset])
    machine = replace(Machine.default(), memory=memory)
    runs = [fl.simulate(compilation, data, machine, engine=engine) for engine in ENGINES]
    assert all(run.check().ok for run in runs)
    assert runs[0].cycles == runs[1].cycles
    assert runs[0].cycles > fl.simulate(compilation, data).cycles


def test_arrays_lie_side_by_side_and_are_shared() -> None:
    """Two nodes that read one array read one place; no two arrays overlap."""
    model, data = load("gcn", "karate")
    compilation = fl.compile(model.program, model.presets["full"])
    run = fl.simulate(compilation, data, Machine.preset("ideal"))
    places: dict[int, set[str]] = {}
    for node in run.regions[0].result.graph.nodes:
        if node.op in (READ, WRITE):
            places.setdefault(int(node.params["base"]), set()).add(node.label)
    assert all(base % 4096 == 0 for base in places)
    assert any(len(labels) > 1 for labels in places.values())
