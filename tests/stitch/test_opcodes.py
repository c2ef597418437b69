"""Classes of opcodes, and what they say about operations."""

from __future__ import annotations

import pytest

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import (
    ELEMENTWISE,
    OPCODES,
    OperationClass,
    ProductFusion,
    class_of,
    has_no_elements,
    is_barrier,
    is_batched,
    is_bitcast,
    is_launched,
    is_library_call,
    is_light,
    operation_class,
    reuses_operands,
    work_of,
)
from fuseloom.stitch.shapes import TensorShape, TupleShape


def shaped(*dims: int) -> TensorShape:
    return TensorShape("f32", dims)


def read(opcode: str, result: TensorShape, source: TensorShape, **attributes: object):
    x = DenseOperation("x", "parameter", source)
    y = DenseOperation("y", opcode, result, ("x",), attributes)
    return DenseComputation("f", (x, y), "y"), y


@pytest.mark.parametrize(
    ("opcode", "expected"),
    [
        ("add", OperationClass.CHEAP), ("select", OperationClass.CHEAP),
        ("divide", OperationClass.EXPENSIVE), ("erf", OperationClass.EXPENSIVE),
        ("atan2", OperationClass.EXPENSIVE), ("convert", OperationClass.MODULATION),
        ("iota", OperationClass.MODULATION), ("dynamic-slice", OperationClass.INDEXED),
        ("reduce", OperationClass.REDUCE), ("dot", OperationClass.PRODUCT),
        ("convolution", OperationClass.CALL), ("sort", OperationClass.CALL),
        ("reduce-window", OperationClass.SEPARATE), ("rng", OperationClass.SEPARATE),
        ("tuple", OperationClass.VALUE), ("while", OperationClass.CONTROL),
        ("all-reduce", OperationClass.OPAQUE), ("", OperationClass.OPAQUE),
    ],
)  # fmt: skip
def test_classes(opcode: str, expected: OperationClass) -> None:
    assert class_of(opcode) is expected


def test_elementwise_opcodes_are_of_classes_whose_elements_are_independent() -> None:
    assert {OPCODES[opcode] for opcode in ELEMENTWISE} == {
        OperationClass.CHEAP, OperationClass.EXPENSIVE, OperationClass.MODULATION
    }  # fmt: skip


def test_reductions_of_two_arrays_at_once_are_kernels_of_their_own() -> None:
    pair = TupleShape((shaped(4), shaped(4)))
    both = DenseOperation("y", "reduce", pair, (), {"dimensions": (0,)})
    assert operation_class(both) is OperationClass.SEPARATE
    assert operation_class(DenseOperation("y", "while", pair)) is OperationClass.CONTROL


def test_the_user_chooses_which_dots_are_calls() -> None:
    plain = DenseOperation("y", "dot", shaped(4, 4), ("a", "b"))
    batched = DenseOperation("y", "dot", shaped(8, 4, 4), ("a", "b"), {"lhs_batch_dims": (0,)})
    assert is_batched(batched)
    assert not is_batched(plain)
    calls = {one: (is_library_call(plain, one), is_library_call(batched, one))
             for one in ProductFusion}  # fmt: skip
    assert calls == {
        ProductFusion.NEVER: (True, True), ProductFusion.BATCHED: (True, False),
        ProductFusion.ALL: (False, False),
    }  # fmt: skip
    assert is_barrier(plain)
    assert not is_barrier(plain, ProductFusion.ALL)
    assert is_barrier(DenseOperation("y", "never-seen", shaped(4)))
    assert not is_barrier(DenseOperation("y", "rng", shaped(4)))


@pytest.mark.parametrize(
    ("source", "order", "expected"),
    [((1, 4, 3), (1, 0, 2), True), ((2, 4, 3), (1, 0, 2), False), ((2, 3), (0, 1), True),
     ((4, 1, 1), (2, 1, 0), True), ((1, 1, 1), (2, 0, 1), True), ((1, 4, 3), (2, 0, 1), False)],
)  # fmt: skip
def test_transpositions_of_single_elements_are_bitcasts(
    source: tuple[int, ...], order: tuple[int, ...], expected: bool
) -> None:
    result = shaped(*(source[old] for old in order))
    graph, y = read("transpose", result, shaped(*source), dimensions=order)
    assert is_bitcast(graph, y) is expected
    assert is_launched(graph, y) is not expected
    assert is_light(graph, y) is expected


def test_bitcasts_values_and_what_makes_no_elements_take_no_kernel() -> None:
    graph, y = read("reshape", shaped(4, 2), shaped(8))
    assert not is_launched(graph, y)
    graph, y = read("slice", shaped(0), shaped(8), slice=((0, 0, 1),))
    assert has_no_elements(y)
    assert not is_launched(graph, y)
    graph, y = read("copy", shaped(8), shaped(8))
    assert is_launched(graph, y)
    assert not is_light(graph, y)


def test_reuse_and_work() -> None:
    graph, y = read("broadcast", shaped(3, 4), shaped(4), dimensions=(1,))
    assert reuses_operands(graph, y)
    assert work_of(graph, y) == 12
    graph, y = read("broadcast", shaped(1, 4), shaped(4), dimensions=(1,))
    assert not reuses_operands(graph, y)
    graph, y = read("reduce", shaped(4), shaped(3, 4), dimensions=(0,))
    assert not reuses_operands(graph, y)
    assert work_of(graph, y) == 12
    graph, y = read("dot", shaped(3, 3), shaped(3, 5), lhs_contracting_dims=(1,))
    assert reuses_operands(graph, y)
    assert work_of(graph, y) == 45
    graph, y = read("tuple", TupleShape((shaped(3, 5),)), shaped(3, 5))
    assert work_of(graph, y) == 0
