"""Latency and interval of loads and arithmetic: the tables of docs/spec/machine.md §5.5."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import (
    Timing,
    binary_timing,
    latencies,
    load_timing,
    unary_timing,
    value_interval,
    value_latency,
)
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind

OURS = Machine.default()
SLOW = replace(OURS, alu_latency=3, alu_interval=2, load_latency=5)


def node(op: str, **params: Any) -> Node:
    return Node(0, op, (), (), params)


def test_numbers_take_what_the_machine_says() -> None:
    assert load_timing(node("array"), SLOW) == Timing(5, 1)
    assert binary_timing(node("binary", fn="mul"), SLOW) == Timing(3, 2)
    assert unary_timing(node("unary", fn="exp"), SLOW) == Timing(3, 2)


def test_blocks_stream_in_element_by_element() -> None:
    assert load_timing(node("array", block=4), OURS).latency == 16
    assert load_timing(node("array", block=4), SLOW).latency == 5 * 16
    assert unary_timing(node("unary", fn="exp", block=4), OURS).latency == 4


@pytest.mark.parametrize("fn", ["mul", "div", "add", "elemmul"])
def test_only_products_hold_up_the_next_block(fn: str) -> None:
    timing = binary_timing(node("binary", fn=fn, block=4), OURS)
    assert timing == {"mul": Timing(16, 4), "div": Timing(1, 1)}.get(fn, Timing(16, 1))


def test_tiles_are_timed_by_what_happens_inside() -> None:
    product = binary_timing(node("binary", fn="mul", block=4, tile="ik,kj->ij"), OURS)
    assert product == Timing(2 * 4 - 1, 4)  # a systolic array, and b³ sums at b² a cycle
    sums = binary_timing(node("binary", fn="add", block=4, tile="ij,ij->ij"), OURS)
    assert sums == Timing(16, 1)


def test_parameters_of_a_node_override_all() -> None:
    said = {"latency": 9, "ii": 7}
    for timing in (
        load_timing(node("array", block=4, **said), SLOW),
        binary_timing(node("binary", fn="mul", block=4, **said), SLOW),
        unary_timing(node("unary", fn="exp", **said), SLOW),
    ):
        assert timing == Timing(9, 7)


def test_what_computes_nothing_takes_a_cycle() -> None:
    for op in ("scan", "broadcast", "repeat", "crdwrite"):
        assert value_latency(node(op), SLOW) == 1
        assert value_interval(node(op), SLOW) == 1


def test_folding_tiles_is_arithmetic_and_folding_tokens_is_not() -> None:
    tokens = node("reduce", fn="add", block=2, tile="ij")
    inside = node("tilefold", fn="add", block=2, tile="ij->i")
    assert value_latency(tokens, SLOW) == 4
    assert value_latency(inside, SLOW) == 4 * SLOW.alu_latency
    assert value_latency(node("reduce", fn="add"), SLOW) == 1


def test_a_stream_has_the_latency_of_its_producer() -> None:
    graph = Graph(
        "test",
        (
            Node(0, "array", (0,), (1,), {"tensor": "A"}),
            Node(1, "unary", (1,), (2,), {"fn": "exp"}),
            Node(2, "source", (), (0,), {"kind": "ref"}),
            Node(3, "sink", (2,), ()),
        ),
        tuple(Stream(k, kind, 1) for k, kind in enumerate((StreamKind.REF, *[StreamKind.VAL] * 2))),
    )
    assert latencies(graph, SLOW) == [1, 5, 3]
