"""Copies of light operations: each reader has its own, and values stay."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.stitch import copies
from fuseloom.stitch.copies import with_copies
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import ProductFusion, is_light
from fuseloom.stitch.shapes import TensorShape, TupleShape
from tests.tiers import counts

from .brute_force import shaped
from .random_graphs import evaluated, random_computation

WIDE = DenseOperation("wide", "broadcast", shaped(8, 4), ("x",), {"dimensions": (1,)})
X = DenseOperation("x", "parameter", shaped(4))


def made(*operations: DenseOperation) -> DenseComputation:
    return DenseComputation("f", (X, WIDE, *operations), operations[-1].name)


def test_what_a_call_reads_stays() -> None:
    y = DenseOperation("y", "negate", shaped(8, 4), ("wide",))
    dot = DenseOperation("d", "dot", shaped(8, 8), ("wide", "y"))
    graph = with_copies(made(y, dot)).computation
    assert graph.by_name["d"].operands == ("wide", "y")
    assert graph.by_name["y"].operands == ("wide.copy1",)
    graph = with_copies(made(y, dot), ProductFusion.ALL).computation
    assert graph.by_name["d"].operands == ("wide.copy1", "y")
    assert graph.by_name["y"].operands == ("wide",)


def test_results_and_operations_with_one_reader_stay() -> None:
    y = DenseOperation("y", "add", shaped(8, 4), ("wide", "wide"))
    assert with_copies(made(y)).originals == {}
    out = DenseOperation("out", "tuple", TupleShape((shaped(8, 4),) * 2), ("wide", "y"))
    graph = with_copies(made(y, out))
    assert graph.computation.by_name["out"].operands == ("wide", "y")
    assert graph.computation.by_name["y"].operands == ("wide.copy1", "wide.copy1")


def test_a_chain_is_copied_whole_under_names_that_are_free() -> None:
    view = DenseOperation("view", "reshape", shaped(32), ("wide",))
    taken = DenseOperation("wide.copy1", "negate", shaped(32), ("view",))
    last = DenseOperation("y", "add", shaped(32), ("wide.copy1", "view"))
    graph = with_copies(made(view, taken, last))
    assert graph.originals == {"view.copy1": "view", "wide.copy2": "wide"}
    assert graph.computation.by_name["view.copy1"].operands == ("wide.copy2",)


def test_an_operation_with_very_many_readers_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(copies, "MOST_COPIES", 3)
    readers = [DenseOperation(f"y{n}", "negate", shaped(8, 4), ("wide",)) for n in range(4)]
    assert with_copies(made(*readers)).originals == {}
    assert len(with_copies(made(*readers[1:])).originals) == 2


@counts(small=60, deep=1_000)
def test_values_of_random_graphs_stay_and_light_operations_have_one_reader(count: int) -> None:
    draw = random.Random(3)
    for _ in range(count):
        graph = random_computation(draw, 20)
        found = with_copies(graph)
        expected = evaluated(graph)
        values = evaluated(found.computation)
        assert found.computation.outputs == graph.outputs
        for name, value in values.items():
            assert np.array_equal(value, expected[found.originals.get(name, name)])
        calls = ("dot", "tuple")
        for operation in found.computation.operations:
            if is_light(found.computation, operation):
                users = found.computation.users[operation.name]
                own = [one for one in users if found.computation.by_name[one].opcode not in calls]
                assert len(own) <= 1
        assert isinstance(found.computation.operations[0].shape, TensorShape)
