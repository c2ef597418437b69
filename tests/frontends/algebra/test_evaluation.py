"""Trees of positions, numbers and elements, evaluated by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.frontends.algebra.conditions import combined, compared, not_, selected
from fuseloom.frontends.algebra.evaluation import as_places, evaluate, is_mask, keeps_zero
from fuseloom.frontends.algebra.expressions import (
    FULL,
    Arg,
    Index,
    Node,
    Num,
    Unsupported,
    made,
    raw,
)
from fuseloom.frontends.algebra.functions import gelu, silu, softplus
from fuseloom.program.functions import Op

ROW, COLUMN = np.arange(3.0)[:, None], np.arange(4.0)[None, :]
ACROSS, ALONG = Index(0), Index(1)
BELOW = compared("sgt", ACROSS, ALONG, whole=True)
TREES: dict[str, tuple[Node, Any]] = {
    "a sum": (ACROSS * 2.0 + ALONG - 1.0, 2 * ROW + COLUMN - 1),
    "a condition": (BELOW, ROW > COLUMN),
    "what it is not": (not_(BELOW), ROW <= COLUMN),
    "two of them": (combined("and", BELOW, compared("ne", ACROSS, Num(2.0), whole=True)),
                    (ROW > COLUMN) & (ROW != 2)),
    "a choice": (selected(BELOW, ACROSS, ALONG * 3.0), np.where(ROW > COLUMN, ROW, 3 * COLUMN)),
    "a quotient": (raw("divide", ACROSS - 5.0, Num(2.0)), np.trunc((ROW - 5) / 2) + 0 * COLUMN),
    "a remainder": (raw("remainder", ACROSS - 5.0, Num(2.0)), np.fmod(ROW - 5, 2)),
    "a number everywhere": (raw(FULL, Num(7.0), ACROSS, ALONG), np.full((3, 4), 7.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_trees_of_positions(name: str) -> None:
    tree, wanted = TREES[name]
    found = np.broadcast_to(evaluate(tree, {0: ROW, 1: COLUMN}), (3, 4))
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, (3, 4)))


def test_elements_are_given_or_refused() -> None:
    tree = made(Op.MAXIMUM, Arg(0), Arg(1) * 2.0)
    elements = {0: np.array([1.0, 5.0]), 1: np.array([2.0, 2.0])}
    np.testing.assert_array_equal(evaluate(tree, {}, elements), [4.0, 5.0])
    with pytest.raises(Unsupported, match="an operand of an index"):
        evaluate(tree, {}, {0: elements[0]})


def test_sums_of_positions_are_known() -> None:
    assert as_places(ACROSS * 2.0 - ALONG + 3.0) == (((2, 0), (-1, 1)), 3)
    assert as_places(ACROSS * 0.5) is None
    assert as_places(Arg(0) + 1.0) is None


def test_masks_are_zero_at_many_places() -> None:
    assert is_mask(BELOW * (ACROSS + 1.0))
    assert is_mask(BELOW * 2.0)
    assert not is_mask(ACROSS + 1.0)


def test_what_is_zero_at_zero() -> None:
    assert [keeps_zero(f(Arg(0))) for f in (gelu, silu, softplus)] == [True, True, False]
    assert not keeps_zero(made(Op.LOG, Arg(0)))
    assert keeps_zero(Arg(0) * Arg(1))
