"""Primitives that stand still for the memory (docs/spec/comal.md §4): same tokens, more cycles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.tokens import DONE, Stop, encode

WITH, WITHOUT = Machine.comal(memory=True), replace(Machine.comal(), name="none")


def loading(count: int, machine: Machine) -> EngineResult:
    """So many references, one a cycle, and the values they load, written."""
    streams = (Stream(0, StreamKind.REF, 1), Stream(1, StreamKind.VAL, 1))
    nodes = (
        Node(0, "source", (), (0,), {"kind": "ref"}),
        Node(1, "array", (0,), (1,), {"tensor": "B"}),
        Node(2, "valwrite", (1,), (), {"tensor": "X"}),
    )
    arrays = {
        0: {"tokens": encode([*range(count), Stop(0), DONE])},
        1: {"vals": np.arange(64, dtype=np.float32)},
    }
    return run_graph(BoundGraph(Graph("loading", nodes, streams), arrays), machine, "interpreter")


@pytest.mark.parametrize("count", [1, BUNDLE - 1, BUNDLE, BUNDLE + 1, 3 * BUNDLE])
def test_loads_ask_once_for_eight_words(count: int) -> None:
    result = loading(count, WITH)
    assert result.outputs[2]["vals"].tolist() == list(range(count))
    assert result.memory is not None
    assert result.memory.reads == -(-count // BUNDLE)
    assert result.memory.writes == count  # values are written one at a time
    assert result.stall_memory[1] > 0
    assert result.stall_memory[2] > 0


def test_the_same_tokens_take_longer_with_a_memory() -> None:
    slow, fast = loading(20, WITH), loading(20, WITHOUT)
    np.testing.assert_array_equal(slow.outputs[2]["vals"], fast.outputs[2]["vals"])
    assert slow.cycles > fast.cycles
    assert fast.memory is None
    assert not fast.stall_memory.any()


def test_a_scanner_asks_for_ends_and_then_for_coordinates() -> None:
    streams = tuple(Stream(k, kind, 1) for k, kind in enumerate(
        (StreamKind.REF, StreamKind.CRD, StreamKind.REF)))  # fmt: skip
    nodes = (
        Node(0, "root", (), (0,)),
        Node(1, "scan", (0,), (1, 2), {"tensor": "B", "level": 0}),
        Node(2, "crdwrite", (1,), (), {"tensor": "X", "level": 0}),
        Node(3, "sink", (2,), (), {}),
    )
    count = 2 * BUNDLE + 1
    arrays = {1: {"seg": np.array([0, count]), "crd": np.arange(count)}}
    bound = BoundGraph(Graph("scanning", nodes, streams), arrays)
    result = run_graph(bound, WITH, "interpreter")
    assert result.outputs[2]["crd"].tolist() == list(range(count))
    assert result.memory is not None
    assert result.memory.reads == 1 + 3  # two segment ends; 8, 8 and 1 coordinates
    assert result.memory.writes == 3 + 1  # the same coordinates; the end of the one fiber
