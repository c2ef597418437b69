"""Actions of small graphs, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import (
    Action,
    NodeCounts,
    RegionCounts,
    function_kind,
    region_actions,
    words_of_streams,
)
from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.program.functions import FUNCTIONS
from fuseloom.results.energy import ActionKind

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL
ROUND = Energy(sram_word=1.0, buffer_bytes=8192, unbounded_depth=2048)
"""A word of a buffer takes 1 pJ, one through a channel without a bound 2."""
MACHINE = Machine(energy=ROUND)


def graph(*nodes: Node, kinds: tuple[StreamKind, ...]) -> Graph:
    return Graph("small", nodes, tuple(Stream(k, kind, 0, f"s{k}") for k, kind in enumerate(kinds)))


def told(made: Graph, counts: RegionCounts, machine: Machine = MACHINE) -> list[dict[str, float]]:
    """Picojoules of each node by kind."""
    found = []
    for actions in region_actions(made, counts, machine).nodes:
        kinds: dict[str, float] = {}
        for action in actions:
            kind = action.kind.value
            kinds[kind] = kinds.get(kind, 0.0) + action.count * action.picojoules
        found.append(kinds)
    return found


LOADED = graph(
    Node(0, "source", (), (0,), {"kind": "ref"}),
    Node(1, "array", (0,), (1,), {"tensor": "A"}),
    Node(2, "unary", (1,), (2,), {"fn": "exp", "scalar": 0.0}),
    Node(3, "valwrite", (2,), (), {"tensor": "B"}),
    kinds=(REF, VAL, VAL),
)
COUNTS = RegionCounts([5, 5, 5], [3, 3, 3])


def test_a_chain_of_values() -> None:
    bits = 3 * 32 * 3.48
    assert told(LOADED, COUNTS) == [
        {"channel": 10.0},
        {"channel": 10.0, "memory": pytest.approx(bits)},
        {"special": 3 * 23.0, "channel": 10.0},
        {"memory": pytest.approx(bits)},
    ]
    use = region_actions(LOADED, COUNTS, MACHINE).use(2.0)
    assert use.joules == pytest.approx(1e-12 * (30 + 2 * bits + 69))
    assert list(use.actions) == ["special", "channel", "memory"]
    assert use.seconds == 2.0


def test_channels_cost_by_their_size() -> None:
    shallow = replace(MACHINE, channel_capacity=512)  # a quarter of the size: half the energy
    assert [node["channel"] for node in told(LOADED, COUNTS, shallow)[:3]] == [5.0, 5.0, 5.0]
    streams = (replace(LOADED.streams[0], capacity=128), *LOADED.streams[1:])
    own = replace(LOADED, streams=streams)
    assert [node["channel"] for node in told(own, COUNTS, shallow)[:3]] == [2.5, 5.0, 5.0]


def test_ports_of_a_memory_have_channels_too() -> None:
    machine = replace(Machine.preset("ideal"), energy=ROUND, port_slots=2048)
    source, array, unary, writer = told(LOADED, COUNTS, machine)
    assert source == {"channel": 10.0}
    assert array["channel"] == 20.0  # the references once more, behind the port
    assert unary["channel"] == 10.0
    assert writer["channel"] == 10.0  # the values once more


def test_a_dram_moves_whole_accesses_and_activates_rows() -> None:
    machine = Machine.preset("hbm2")
    counts = replace(COUNTS, moved=64.0, activates=2.0, copied=1024.0)
    actions = region_actions(LOADED, counts, machine)
    nodes = told(LOADED, counts, machine)
    for node in (nodes[1], nodes[3]):  # both ask for as much
        assert node["memory"] == pytest.approx(32 * 8 * 3.48)
        assert node["activate"] == pytest.approx(909.0)
    assert [(a.kind, a.count) for a in actions.copies] == [
        (ActionKind.MEMORY, 8192.0),
        (ActionKind.ACTIVATE, 1.0),
    ]
    expected = told(LOADED, COUNTS, machine)  # nobody knows which rows stay open
    assert sum(node.get("activate", 0.0) for node in expected) == pytest.approx(909 * 24 / 1024)


def test_an_accumulator_reads_and_writes_entries() -> None:
    made = graph(
        Node(0, "source", (), (0,), {"kind": "crd"}),
        Node(1, "source", (), (1,), {"kind": "crd"}),
        Node(2, "source", (), (2,), {"kind": "val"}),
        Node(3, "spacc1", (0, 1, 2), (3, 4), {"fn": "max", "dim": 8}),
        Node(4, "sink", (3,), ()),
        Node(5, "sink", (4,), ()),
        kinds=(CRD, CRD, VAL, CRD, VAL),
    )
    counts = RegionCounts([3, 9, 9, 6, 6], [2, 6, 6, 4, 4])
    assert told(made, counts)[3] == {
        "compare": pytest.approx(6 * 0.9),
        "integer": pytest.approx(6 * 0.1),
        "buffer": (2 * 6 + 4) * 2.0,  # coordinate and value
        "channel": 24.0,
    }


def test_a_product_of_tiles_multiplies_and_adds() -> None:
    params = {"fn": "mul", "tile": "ik,kj->ij", "block": 4}
    load = {"block": 4, "tensor": "A"}
    made = graph(
        Node(0, "source", (), (0,), {"kind": "ref"}),
        Node(1, "source", (), (1,), {"kind": "ref"}),
        Node(2, "array", (0,), (2,), {**load, "tile": "ik"}),
        Node(3, "array", (1,), (3,), {**load, "tile": "kj"}),
        Node(4, "binary", (2, 3), (4,), params),
        Node(5, "sink", (4,), ()),
        kinds=(REF, REF, VAL, VAL, VAL),
    )
    assert words_of_streams(made) == (1, 1, 16, 16, 16)
    counts = RegionCounts([4] * 5, [2] * 5)
    node = told(made, counts)[4]
    assert node["multiply"] == pytest.approx(2 * 64 * 3.7)
    assert node["add"] == pytest.approx(2 * 48 * 0.9)
    assert node["channel"] == (2 * 16 + 2) * 2 * 4.0  # tokens 16 times as large: 4 times as dear


def test_every_function_has_a_kind() -> None:
    compared = {"relu", "abs", "sign", "floor", "ceil", "trunc", "round"}
    for op in FUNCTIONS:
        kind = ActionKind.COMPARE if op.value in compared else ActionKind.SPECIAL
        assert function_kind(op.value) is kind
    assert function_kind("max") is ActionKind.COMPARE
    assert function_kind("elemmul") is ActionKind.MULTIPLY
    assert function_kind("of a later version") is ActionKind.SPECIAL


def test_counts_of_a_node() -> None:
    node = Node(0, "scan", (0,), (1, None), {"tensor": "A", "level": 0})
    assert NodeCounts.of(node, {0: 2, 1: 7}) == NodeCounts((2,), 7, 0)
    assert Action(ActionKind.ADD, 3, 0.5).joules == pytest.approx(1.5e-12)


def test_copies_of_tensors_take_energy() -> None:
    gcn, data = fl.load("gcn", "karate")
    compiled = fl.compile(gcn.program, gcn.presets["partial"])
    run = fl.simulate(compiled, data)
    for region in run.regions:
        assert bool(region.actions.copies) is bool(region.region.copies)
