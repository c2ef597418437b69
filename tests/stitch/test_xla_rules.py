"""The baseline's rules, one by one, and properties of random graphs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.stitch.contracted import ContractedGraph, acyclic
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import is_launched
from fuseloom.stitch.shapes import TupleShape
from fuseloom.stitch.xla_rules import XlaFusion, XlaRules, is_row_reduce, xla_fusion
from tests.tiers import counts

from .brute_force import shaped
from .figure3 import figure3
from .random_graphs import computed_value, evaluated, random_computation

ROWS = (8, 4)


def made(name: str, opcode: str, dims: tuple[int, ...], *operands: str, **attributes: object):
    return DenseOperation(name, opcode, shaped(*dims), operands, attributes)


def fused(*operations: DenseOperation, rules: XlaRules | None = None) -> XlaFusion:
    x = DenseOperation("x", "parameter", shaped(*ROWS))
    zero = DenseOperation("zero", "constant", shaped())
    ends = operations[-1].name
    return xla_fusion(DenseComputation("f", (x, zero, *operations), ends), rules)


def groups(fusion: XlaFusion) -> list[tuple[str, ...]]:
    return [kernel.operations for kernel in fusion.kernels]


def pair(*names: str) -> DenseOperation:
    return DenseOperation("out", "tuple", TupleShape((shaped(*ROWS),) * len(names)), names)


def test_a_chain_of_elementwise_operations_is_a_kernel() -> None:
    found = fused(made("a", "exponential", ROWS, "x"), made("b", "tanh", ROWS, "a"))
    assert groups(found) == [("a", "b")]
    assert found.refused == ()


def test_an_expensive_producer_of_several_users_is_not_computed_again() -> None:
    found = fused(
        made("a", "exponential", ROWS, "x"), made("b", "negate", ROWS, "a"),
        made("c", "abs", ROWS, "a"), pair("b", "c"),
    )  # fmt: skip
    assert groups(found) == [("a",), ("b", "c")]  # siblings, which read one array
    rules = {one.rule for one in found.reasons["a"]}
    assert rules == {"it is expensive, and would be computed for each of its users"}


def test_an_expensive_producer_is_not_broadcast() -> None:
    found = fused(
        made("a", "exponential", ROWS, "x"),
        made("b", "broadcast", (2, *ROWS), "a", dimensions=(1, 2)),
    )
    assert groups(found) == [("a",), ("b",)]
    assert found.reasons["a"][0].rule == "it is expensive, and a broadcast reuses its elements"


def test_a_cheap_producer_is_computed_for_each_user() -> None:
    found = fused(
        made("a", "negate", ROWS, "x"), made("b", "abs", ROWS, "a"),
        made("t", "transpose", (4, 8), "b", dimensions=(1, 0)), made("c", "sign", ROWS, "a"),
        DenseOperation("out", "tuple", TupleShape((shaped(4, 8), shaped(*ROWS))), ("t", "c")),
        rules=XlaRules(multi_output=False),
    )  # fmt: skip
    assert groups(found) == [("a", "b"), ("t",), ("a", "c")]


def test_a_producer_of_two_arrays_is_fused_into_all_users_or_none() -> None:
    operations = (
        made("a", "add", ROWS, "x", "n"), made("b", "abs", ROWS, "a"),
        made("t", "transpose", (4, 8), "a", dimensions=(1, 0)),
        DenseOperation("out", "tuple", TupleShape((shaped(*ROWS), shaped(4, 8))), ("b", "t")),
    )  # fmt: skip
    n = DenseOperation("n", "parameter", shaped(*ROWS))
    found = fused(n, *operations)
    assert groups(found) == [("a",), ("b",), ("t",)]
    assert {one.rule for one in found.reasons["a"]} == {
        "t does not take it in, and would read it", "nothing is fused into a transpose"
    }  # fmt: skip
    loose = fused(n, *operations, rules=XlaRules(transposes=True))
    assert groups(loose) == [("a", "b"), ("a", "t")]


@pytest.mark.parametrize(
    ("reduced", "result", "expected"),
    [((1,), (8,), [("a", "s"), ("y",)]), ((0,), (4,), [("a",), ("s",), ("y",)])],
)
def test_rows_are_reduced_with_what_they_are_made_of_and_columns_alone(
    reduced: tuple[int, ...], result: tuple[int, ...], expected: list[tuple[str, ...]]
) -> None:
    operations = (
        made("a", "exponential", ROWS, "x"),
        made("s", "reduce", result, "a", "zero", dimensions=reduced),
        made("y", "negate", result, "s"),
    )
    assert groups(fused(*operations)) == expected
    loose = fused(*operations, rules=XlaRules(column_reduces=True))
    assert groups(loose) == [("a", "s"), ("y",)]


@pytest.mark.parametrize(
    ("dims", "reduced", "expected"),
    [((8, 4), (1,), True), ((8, 4), (0,), False), ((8, 4), (0, 1), True), ((8, 1), (0,), True),
     ((1, 4), (0,), True), ((2, 3, 4), (1,), False), ((2, 3, 4), (1, 2), True),
     ((2, 3, 4), (0, 2), False), ((2, 3, 1), (1,), True)],
)  # fmt: skip
def test_rows_are_last_dimensions(
    dims: tuple[int, ...], reduced: tuple[int, ...], expected: bool
) -> None:
    x = DenseOperation("x", "parameter", shaped(*dims))
    zero = DenseOperation("zero", "constant", shaped())
    left = tuple(extent for dim, extent in enumerate(dims) if dim not in reduced)
    total = made("y", "reduce", left, "x", "zero", dimensions=reduced)
    assert is_row_reduce(DenseComputation("f", (x, zero, total), "y"), total) is expected


def test_sibling_reductions_of_one_array_are_joined_unless_one_needs_the_other() -> None:
    low = made("low", "reduce", (8,), "x", "zero", dimensions=(1,))
    high = made("high", "reduce", (8,), "x", "zero", dimensions=(1,))
    both = DenseOperation("out", "tuple", TupleShape((shaped(8),) * 2), ("low", "high"))
    (kernel,) = fused(low, high, both).kernels
    assert kernel.roots == ("low", "high")
    assert len(fused(low, high, both, rules=XlaRules(multi_output=False)).kernels) == 2
    chained = (
        low,
        made("wide", "broadcast", ROWS, "low", dimensions=(0,)),
        made("less", "subtract", ROWS, "x", "wide"),
        made("high", "reduce", (8,), "less", "zero", dimensions=(1,)),
        both,
    )
    assert groups(fused(*chained)) == [("low",), ("wide", "less", "high")]


def test_bitcasts_are_no_kernels_and_hide_no_producer() -> None:
    found = fused(
        made("a", "negate", ROWS, "x"), made("v", "reshape", (32,), "a"),
        made("d", "dot", (), "v", "v", lhs_contracting_dims=(0,), rhs_contracting_dims=(0,)),
    )  # fmt: skip
    assert groups(found) == [("a",), ("d",)]
    assert found.kernels[1].is_call
    assert found.count == 1
    assert groups(fused(made("v", "reshape", (32,), "x"))) == []
    through = fused(
        made("a", "negate", ROWS, "x"), made("v", "reshape", (32,), "a"),
        made("y", "abs", (32,), "v"),
    )  # fmt: skip
    assert groups(through) == [("a", "v", "y")]


def test_what_is_unknown_is_a_kernel_of_its_own() -> None:
    found = fused(
        made("a", "negate", ROWS, "x"), made("o", "odd", ROWS, "a"), made("y", "abs", ROWS, "o")
    )
    assert groups(found) == [("a",), ("o",), ("y",)]
    assert found.reasons["o"][0].rule == "an odd is a kernel of its own"
    assert found.reasons["a"][0].rule == "nothing is fused into an odd"


def test_figure_3_takes_four_kernels_and_a_call() -> None:
    found = xla_fusion(figure3())
    assert groups(found) == [
        ("Reduce.1",),
        ("Broadcast.1", "Subtract.1", "Exponential.1"),
        ("Reduce.2",),
        ("Broadcast.2", "Divide.1", "Bitcast.1")[:2],
        ("Dot.1",),
    ]


@counts(small=100, deep=2_000)
def test_random_graphs(count: int) -> None:
    """No cycle; each kernel computes its root of roots alone; what is launched is in a kernel."""
    draw = random.Random(17)
    for _ in range(count):
        graph = random_computation(draw, draw.randint(4, 30))
        found = xla_fusion(graph, XlaRules(draw.random() < 0.5, draw.random() < 0.5))
        assert acyclic(graph, found.kernels)
        inside = {name for kernel in found.kernels for name in kernel.operations}
        roots = {root for kernel in found.kernels for root in kernel.roots}
        expected = evaluated(graph)
        for operation in graph.operations:
            if is_launched(graph, operation):
                assert operation.name in inside
        for kernel in found.kernels:
            values = {}
            for name in kernel.operations:
                one = graph.by_name[name]
                for operand in one.operands:
                    if operand not in values:
                        require_stored(graph, operand, roots)
                values[name] = computed_value(
                    one, {x: values.get(x, expected[x]) for x in one.operands}
                )
                assert np.array_equal(values[name], expected[name])
        for name in graph.outputs:
            require_stored(graph, name, roots)


def require_stored(graph: DenseComputation, name: str, roots: set[str]) -> None:
    operation = graph.by_name[name]
    if name in roots or operation.opcode in ("parameter", "constant"):
        return
    assert not is_launched(graph, operation), name
    for operand in operation.operands:
        require_stored(graph, operand, roots)


def test_only_kernels_that_read_a_common_array_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str]] = []

    def counted(graph: ContractedGraph, first: str, second: str) -> bool:
        asked.append((first, second))
        return reaches(graph, first, second)

    reaches = ContractedGraph.reaches
    monkeypatch.setattr(ContractedGraph, "reaches", counted)
    parameters = [made(f"p{n}", "parameter", ROWS) for n in range(40)]
    ends = [f"{kind}{n}" for n in range(40) for kind in "ab"]
    found = fused(
        *parameters, *(made(name, "negate", ROWS, f"p{name[1:]}") for name in ends), pair(*ends)
    )  # fmt: skip
    assert {*groups(found)} == {(f"a{n}", f"b{n}") for n in range(40)}
    assert len(asked) == 80
