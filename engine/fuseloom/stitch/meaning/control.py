"""Meanings of operations that call computations, and of tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import DenseValue, Meaning, Regions, attribute, fault

MOST_ITERATIONS = 100_000
"""Iterations of one loop."""


def _tuple(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    return tuple(operands)


def _element(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    (value,) = operands
    index = attribute(operation, "index")
    if not isinstance(value, tuple) or not 0 <= index < len(value):
        raise fault(operation, f"reads element {index} of what has none")
    return value[index]


def _barrier(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    return operands[0] if len(operands) == 1 else tuple(operands)


def _call(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    return regions.run(attribute(operation, "to_apply"), operands)


def _fusion(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    return regions.run(attribute(operation, "calls"), operands)


def _while(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    condition, body = attribute(operation, "condition"), attribute(operation, "body")
    state = list(operands)
    for _ in range(MOST_ITERATIONS):
        if not regions.run(condition, state):
            return state[0]
        state = [regions.run(body, state)]
    raise fault(
        operation,
        f"has not ended after {MOST_ITERATIONS:,} iterations",
        "loops end where their condition is false",
    )


def _conditional(
    operation: DenseOperation, operands: Sequence[DenseValue], regions: Regions
) -> DenseValue:
    choice, *rest = operands
    if choice.dtype.kind == "b" and "true_computation" in operation.attributes:
        branches = tuple(
            attribute(operation, name) for name in ("true_computation", "false_computation")
        )
    else:
        branches = attribute(operation, "branch_computations")
    if len(branches) != len(rest):
        raise fault(operation, f"has {len(branches)} branches and operands for {len(rest)}")
    index = int(not choice) if choice.dtype.kind == "b" else int(choice)
    index = index if 0 <= index < len(branches) else len(branches) - 1
    return regions.run(branches[index], [rest[index]])


MEANINGS: Mapping[str, Meaning] = {
    "tuple": _tuple,
    "get-tuple-element": _element,
    "opt-barrier": _barrier,
    "call": _call,
    "fusion": _fusion,
    "while": _while,
    "conditional": _conditional,
}
