"""Trees of operations element by element: they mean what the operations do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.frontends.algebra.conditions import lowered
from fuseloom.frontends.algebra.evaluation import evaluate
from fuseloom.frontends.algebra.expressions import Arg, Node, Raw
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.graph_elements import COMBINED, TREES, why_refused
from fuseloom.stitch.meaning.elementwise import BINARY, UNARY
from fuseloom.stitch.shapes import TensorShape

TRUTHS = ("and", "or", "xor", "not")
DOMAINS = {"acosh": (1.0, 3.0), "atanh": (-0.9, 0.9)}
"""Domains of functions that are undefined on part of 0.2 to 3, which the others are tried on."""


def value(node: Node, arrays: list[Any]) -> Any:
    if isinstance(node, Raw) and (simpler := lowered(node)) is not None:
        return value(simpler, arrays)
    return np.asarray(evaluate(node, {}, dict(enumerate(arrays))))


@pytest.mark.parametrize("opcode", [x for x in TREES if x in {*UNARY, *BINARY}])
def test_operations_of_one_and_two_elements(opcode: str) -> None:
    meaning = UNARY.get(opcode) or BINARY[opcode]
    rng = np.random.default_rng(0)
    low, high = DOMAINS.get(opcode, (0.2, 3.0))
    arrays: list[Any] = [rng.uniform(low, high, 50) for _ in range(1 + (opcode in BINARY))]
    if opcode in TRUTHS:
        arrays = [x > 1.5 for x in arrays]
    operation = DenseOperation("z", opcode, TensorShape("f64", (50,)))
    tree = TREES[opcode](operation)(*map(Arg, range(len(arrays))))
    made = value(tree, [x.astype(float) for x in arrays])
    np.testing.assert_allclose(made, np.asarray(meaning(*arrays), float), rtol=1e-12)


@pytest.mark.parametrize("opcode", COMBINED)
def test_reductions_take_their_start_in(opcode: str) -> None:
    meaning = {"or": np.maximum, "and": np.minimum}.get(opcode) or BINARY[opcode]
    a, b = np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])
    tree = COMBINED[opcode][2](Arg(0), Arg(1))
    np.testing.assert_array_equal(value(tree, [a, b]), meaning(a, b))


def test_refusals_say_why() -> None:
    assert why_refused("while")[0] == "programs have no loops and no branches"
    assert why_refused("anything") == (
        "no statement computes it", "compute it before or after the program"
    )  # fmt: skip
