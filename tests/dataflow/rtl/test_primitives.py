"""Every primitive's hardware does what its golden model does, on streams of random graphs."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.registry import BUILDERS
from fuseloom.dataflow.samml.graph import Node, Stream, StreamKind
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, Token
from fuseloom.errors import GraphError
from tests.dataflow.rtl.compared import cycles_of, difference, golden_run, hardware_runs
from tests.dataflow.rtl.nested_streams import accumulator_cases, searcher_cases
from tests.dataflow.rtl.streams import PrimitiveCases, random_cases

pytestmark = pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")

SEED = 20_260_000
FEW, MANY = 60, 48_000
"""Random graphs; as many as it takes for 500 streams of each primitive."""
MACHINE = replace(Machine.preset("rtl"), load_latency=3)
ONCE = {"root", "source", "sink"}
"""Ends of test benches, which every case has, and the root, which has one behaviour."""


def _check(cases: PrimitiveCases, count: int, capacity: int, pauses: int, folder: Path) -> int:
    """Compare all cases of a node; return how many took the same cycles."""
    joined, stride = cases.padded(count)
    runs = len(cases.inputs[:count])
    whole = cases.graph(joined, capacity, stride=stride)
    nodes = tuple(
        replace(node, params={"pauses": pauses}) if node.op == "sink" else node
        for node in whole.graph.nodes
    )
    whole = replace(whole, graph=replace(whole.graph, nodes=nodes))
    done = hardware_runs(whole, MACHINE, folder, runs)
    assert len(done) == runs
    same = 0
    for given, one in zip(cases.inputs, done, strict=False):
        bound = cases.graph([list(tokens) for tokens in given], capacity)
        golden = golden_run(bound, MACHINE)
        assert not (problem := difference(bound, golden, one)), f"{cases.name}: {given}: {problem}"
        same += not isinstance(golden, Exception) and golden.cycles == cycles_of(bound, one)
    return same


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.fuzz)])
def test_streams_of_random_graphs(count: int, tmp_path: Path) -> None:
    """With sinks that always take, and with sinks that stand still at random.

    Searchers and accumulators of order 2 have streams of their own below.
    """
    ops = set(BUILDERS) - ONCE
    most = 5 if count == FEW else 500
    seen: Counter[str] = Counter()
    for number, cases in enumerate(random_cases(range(SEED, SEED + count), ops, most)):
        capacity = (2, 1, 3, 16)[number % 4]
        try:
            same = _check(cases, most, capacity, 0, tmp_path / f"{number}")
            _check(cases, most, capacity, 5, tmp_path / f"{number} pauses")
        except GraphError:  # a function or a row that has no hardware
            continue
        seen[cases.node.op] += len(cases.inputs)
        if cases.node.op not in ("broadcast", "spacc1", "spacc2", "crddrop"):
            assert same == len(cases.inputs), cases.name
    if count > FEW:
        assert not {op: seen[op] for op in ops - {"search", "spacc2"} if seen[op] < most}


@pytest.mark.parametrize("capacity", [1, pytest.param(2, marks=pytest.mark.fuzz), 16])
@pytest.mark.parametrize("count", [8, pytest.param(500, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("draw", [searcher_cases, accumulator_cases])
def test_random_nested_streams(
    draw: Callable[[int, int], PrimitiveCases], count: int, capacity: int, tmp_path: Path
) -> None:
    """Of primitives that random graphs seldom have; a searcher takes the simulator's cycles."""
    cases = draw(count, SEED + capacity)
    same = _check(cases, count, capacity, 0, tmp_path / "steady")
    _check(cases, count, capacity, 5, tmp_path / "pauses")
    if draw is searcher_cases:
        golden = [
            golden_run(cases.graph([list(tokens) for tokens in given], capacity), MACHINE)
            for given in cases.inputs
        ]
        assert same == sum(not isinstance(one, Exception) for one in golden)


@pytest.mark.parametrize(("value", "right"), [(EMPTY, 1), (np.float32(0.5), 0)])
def test_only_a_value_has_a_coordinate_within_the_row(
    value: Token, right: int, tmp_path: Path
) -> None:
    """An empty value makes no element, whatever its coordinate; any other one is a fault."""
    node = Node(0, "spacc1", (0, 1, 2), (3, 4), {"fn": "max", "dim": 70}, "spacc1")
    kinds = (StreamKind.CRD, StreamKind.CRD, StreamKind.VAL, StreamKind.CRD, StreamKind.VAL)
    cases = PrimitiveCases(node, tuple(Stream(k, kind, 0, "", 2) for k, kind in enumerate(kinds)))
    values = (np.float32(-0.59), value, Stop(1), DONE)
    cases.inputs.append(((30, Stop(0), DONE), (38, 70, Stop(1), DONE), values))
    assert _check(cases, 1, 2, 0, tmp_path) == right


@pytest.mark.parametrize(("row", "column"), [(2, 9), (5, 1)])
def test_an_empty_value_may_lie_outside_the_matrix(row: int, column: int, tmp_path: Path) -> None:
    """It makes no element of an accumulator of order 2 either."""
    params = {"fn": "add", "dim1": 5, "dim": 9}
    node = Node(0, "spacc2", (0, 1, 2, 3), (4, 5, 6), params, "spacc2")
    crd, val = StreamKind.CRD, StreamKind.VAL
    kinds = (crd, crd, crd, val, crd, crd, val)
    cases = PrimitiveCases(node, tuple(Stream(k, kind, 0, "", 2) for k, kind in enumerate(kinds)))
    cases.inputs.append((
        (30, Stop(0), DONE), (1, row, Stop(1), DONE), (3, Stop(0), column, Stop(2), DONE),
        (np.float32(1.5), Stop(0), EMPTY, Stop(2), DONE),
    ))  # fmt: skip
    assert _check(cases, 1, 2, 0, tmp_path) == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"fn": "add"}, "has known numbers of coordinates"),
        ({"fn": "add", "dim1": 2, "dim": 5000}, "5,000 coordinates have no hardware"),
    ],
)
def test_accumulators_without_hardware_are_refused(params: dict[str, Any], message: str) -> None:
    bound = accumulator_cases(1, SEED).graph([[DONE]] * 4, 2)
    first, *others = bound.graph.nodes
    nodes = (replace(first, params=params), *others)
    with pytest.raises(GraphError, match=message) as raised:
        HardwareGraph(replace(bound, graph=replace(bound.graph, nodes=nodes)), MACHINE)
    assert raised.value.hint
