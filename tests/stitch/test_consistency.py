"""Parts of operations in kernels: scheduled, inlined, or neither, with the reason."""

from __future__ import annotations

import pytest

from fuseloom.stitch import consistency
from fuseloom.stitch.consistency import (
    InconsistentPart,
    OperationPart,
    ScheduleConsistency,
    ScheduleTrial,
)
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.propagation import propagate
from fuseloom.stitch.schedules import BlockSchedule, SplitType

from .brute_force import shaped

ROWS = (64, 8)


def graph(*operations: DenseOperation) -> DenseComputation:
    x = DenseOperation("x", "parameter", shaped(*ROWS))
    zero = DenseOperation("zero", "constant", shaped())
    return DenseComputation("f", (x, zero, *operations), operations[-1].name)


def made(name: str, opcode: str, dims: tuple[int, ...], *operands: str, **attributes: object):
    return DenseOperation(name, opcode, shaped(*dims), operands, attributes)


SOFTMAX = graph(
    made("e", "exponential", ROWS, "x"),
    made("s", "reduce", (64,), "e", "zero", dimensions=(1,)),
    made("w", "broadcast", ROWS, "s", dimensions=(0,)),
    made("y", "divide", ROWS, "e", "w"),
)


def trial(checker: ScheduleConsistency, root: str, schedule: BlockSchedule) -> ScheduleTrial:
    return next(one for one in checker.trials((root,)) if one.schedule == schedule)


def grown(computation: DenseComputation, schedule: BlockSchedule, *names: str) -> list[object]:
    """The parts that operations get one after another, up to one that gets none."""
    checker = ScheduleConsistency(computation)
    own = trial(checker, computation.root, schedule)
    found: list[object] = []
    for name in names:
        part = checker.part(own, name, is_output=False)
        found.append(part)
        if isinstance(part, InconsistentPart):
            break
        own.parts[name] = part
    return found


def test_rows_of_softmax_fit_all_operations() -> None:
    half = BlockSchedule(0, 32)
    parts = grown(SOFTMAX, half, "w", "s", "e")
    assert parts == [OperationPart(half)] * 3


def test_halves_of_rows_do_not_fit_the_sum_that_is_broadcast_to_them() -> None:
    parts = grown(SOFTMAX, BlockSchedule(1, 2), "w", "s")
    assert parts[0] == OperationPart(BlockSchedule(1, 2))
    assert parts[1] == InconsistentPart("several blocks read the same elements", "w")


def test_columns_do_not_fit_the_sum_of_rows() -> None:
    columns = BlockSchedule(0, 1, SplitType.COLUMN)
    parts = grown(SOFTMAX, columns, "w", "s")
    assert isinstance(parts[-1], InconsistentPart)


def test_what_a_bypassed_operation_reads_is_inlined() -> None:
    turned = graph(
        made("n", "negate", ROWS, "x"),
        made("t", "transpose", (8, 64), "n", dimensions=(1, 0)),
        made("y", "abs", (8, 64), "t"),
    )
    own = BlockSchedule(1, 2)  # eight rows in two halves each: no columns of the operand
    assert grown(turned, own, "t", "n") == [OperationPart(own), OperationPart(None)]
    stored = ScheduleConsistency(turned)
    parts = trial(stored, "y", own)
    parts.parts["t"] = OperationPart(own)
    found = stored.part(parts, "n", is_output=True)
    assert isinstance(found, InconsistentPart)
    assert found.rule == "blocks of the operand are in another order, and others read it, too"
    assert found.dims == (0, 1)


def test_expensive_operations_are_not_computed_again() -> None:
    again = graph(
        made("e", "exponential", ROWS, "x"),
        made("t", "transpose", (8, 64), "e", dimensions=(1, 0)),
        made("r", "reshape", (8, 64), "e"),
        made("y", "add", (8, 64), "t", "r"),
    )
    found = grown(again, BlockSchedule(1, 2), "t", "r", "e")
    assert isinstance(found[-1], InconsistentPart)
    assert "too expensive" in found[-1].rule
    once = graph(*again.operations[2:4], made("y", "abs", (8, 64), "t"))
    assert grown(once, BlockSchedule(1, 2), "t", "e")[-1] == OperationPart(None)
    reused = graph(
        made("e", "exponential", ROWS, "x"),
        made("w", "broadcast", (*ROWS, 4), "e", dimensions=(0, 1)),
        made("y", "abs", (*ROWS, 4), "w"),
    )
    found = grown(reused, BlockSchedule(2, 2), "w", "e")
    assert isinstance(found[-1], InconsistentPart)
    small = graph(
        made("top", "reduce", (), "x", "zero", dimensions=(0, 1)),
        made("e", "exponential", (), "top"),
        made("w", "broadcast", ROWS, "e", dimensions=()),
        made("y", "abs", ROWS, "w"),
    )
    found = grown(small, BlockSchedule(0, 2), "w", "e", "top")
    assert found[1] == OperationPart(None, reused=True)
    assert found[2] == InconsistentPart("its reader is inlined", "e")


def test_copies_of_inlined_operations_are_counted() -> None:
    operations = [made("v0", "negate", (8, 64), "v")]
    for number in range(4):
        last = f"v{number}"
        operations.append(made(f"v{number + 1}", "add", (8, 64), last, last))
    computation = graph(
        made("v", "transpose", (8, 64), "x", dimensions=(1, 0)),
        *operations,
        made("t", "transpose", ROWS, "v4", dimensions=(1, 0)),
        made("y", "abs", ROWS, "t"),
    )
    found = grown(computation, BlockSchedule(1, 2), "t", "v4", "v3", "v2", "v1", "v0", "v")
    counted = [part.copies for part in found if isinstance(part, OperationPart)]
    assert counted == [1, 1, 2, 4, 8]
    assert isinstance(found[-1], InconsistentPart)
    assert found[-1].rule.endswith("it would be computed 16 times")


def test_operands_of_dots_are_never_inlined() -> None:
    batch = {"lhs_batch_dims": (0,), "rhs_batch_dims": (0,), "lhs_contracting_dims": (2,),
             "rhs_contracting_dims": (1,)}  # fmt: skip
    product = graph(
        made("v", "reshape", (8, 8, 8), "x"),
        made("n", "negate", (8, 8, 8), "v"),
        made("y", "dot", (8, 8, 8), "n", "v", **batch),
    )
    assert grown(product, BlockSchedule(0, 4), "n", "v") == [OperationPart(BlockSchedule(0, 4))] * 2
    (found,) = grown(product, BlockSchedule(1, 2), "n")
    assert found == InconsistentPart("a dimension that is no batch dimension is split", "y", (1, 2))


@pytest.mark.parametrize(("name", "expected"), [("s", 8), ("e", 0)])
def test_reductions_and_dots_take_shared_memory(name: str, expected: int) -> None:
    checker = ScheduleConsistency(SOFTMAX)
    assert checker.direct_bytes(SOFTMAX.by_name[name], 32) == expected
    assert checker.work["s"] == 512


def test_operations_that_are_alike_are_propagated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(operation, shapes, schedule):
        asked.append(operation.name)
        return propagate(operation, shapes, schedule)

    monkeypatch.setattr(consistency, "propagate", counted)
    names = [f"n{number}" for number in range(50)]
    turned = [
        made(name, "reverse", ROWS, read, dimensions=[0] if name == "n7" else (0,))
        for name, read in zip(names, ["x", *names], strict=False)
    ]
    parts = grown(graph(*turned), BlockSchedule(0, 1), *reversed(names[:-1]))
    assert parts == [OperationPart(BlockSchedule(0, 1))] * 49
    assert asked == ["n49", "n7"]  # an operation whose attributes have no hash is alone


def test_an_operand_that_is_read_twice_is_asked_for_twice() -> None:
    computation = graph(
        made("a", "exponential", ROWS, "x"),
        made("both", "concatenate", (64, 16), "a", "a", dimensions=(1,)),
    )
    checker = ScheduleConsistency(computation)
    halves = trial(checker, "both", BlockSchedule(1, 2))
    assert checker.part(halves, "a", is_output=False) == InconsistentPart(
        "a dimension that is cut, moved or turned is split, and it is too expensive to compute "
        "again", "both", (1,)
    )  # fmt: skip
