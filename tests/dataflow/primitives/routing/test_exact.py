"""Copies, and lanes dealt to and collected from."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.cost.exact.execution import (
    RULES,
    ElementBudget,
    ExecutionContext,
    TooLargeError,
)
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, StreamContents
from fuseloom.dataflow.samml.graph import Node
from tests.dataflow.cost.exact.examples import Levels, crds, done, levels, refs, vals


def test_copies_take_no_time() -> None:
    copied = done("broadcast", crds({0: [1], 1: [2]}), outputs=3)
    assert copied.outputs == ("1 S0 2 S1 D",) * 3
    assert copied.steps == 0


def test_leaves_are_dealt_across_fibers() -> None:
    dealt = done("fork", crds({0: [0, 1, 2], 4: [3]}), outputs=2)
    assert dealt.outputs == ("0 2 S0 S1 D", "1 S0 3 S1 D")
    assert dealt.made.work.per.tolist() == [4, 2]
    assert dealt.made.final == 1  # the end goes to every lane


def test_references_are_dealt_as_coordinates() -> None:
    fiber_tree = levels([4, 5, 6])[-1]
    dealt = done("fork", refs(fiber_tree, 7, -1, 9), outputs=2)
    assert [c.refs.tolist() for c in dealt.made.outputs if c.refs is not None] == [[7, 9], [-1]]


def test_rows_are_collected_in_turn() -> None:
    one, other = levels({0: [1], 2: [3]})[-1], levels({1: [2]})[-1]
    joined = done(
        "ordered_join", crds([0, 1, 2]), StreamContents(one), StreamContents(other), levels=1
    )
    assert joined.outputs == ("1 S0 2 S0 3 S1 D",)
    assert joined.steps == 6
    assert joined.made.outputs[0].fiber_tree.parent is not None
    assert joined.made.outputs[0].fiber_tree.parent.crd.tolist() == [0, 1, 2]


def test_leaves_are_collected_with_their_references() -> None:
    guide = crds({0: [0, 1, 2], 4: [3]})
    lanes = (levels({0: [0, 2], 4: []})[-1], levels({0: [1], 4: [3]})[-1])
    joined = done("ordered_join", guide, refs(lanes[0], 5, 6), refs(lanes[1], -1, 8), levels=0)
    assert joined.outputs == ("5 -1 6 S0 8 S1 D".replace("-1", "N"),)


def test_subtrees_of_any_length() -> None:
    """Empty rows, an empty outer fiber, a lane without a row of its own."""
    guide = crds({0: [0], 1: [], 2: [1, 2]})
    one = levels({0: {0: [5]}, 1: {}, 2: {2: []}})[-1]
    other = levels({0: {}, 1: {}, 2: {1: [6]}}, 3)[-1]
    joined = done("ordered_join", guide, StreamContents(one), StreamContents(other), levels=1)
    assert joined.outputs == ("5 S1 S1 6 S0 S2 D",)


def test_two_levels_below_the_guide() -> None:
    one, other = levels({0: {0: [5], 1: []}})[-1], levels({1: {0: [6, 7], 3: [8]}})[-1]
    joined = done(
        "ordered_join", crds([0, 1]), StreamContents(one), StreamContents(other), levels=2
    )
    assert joined.outputs == ("5 S0 S1 6 7 S0 8 S2 D",)


def test_empty_values_stay_empty() -> None:
    one, other = levels({0: [1, 4]})[-1], levels({1: [2]})[-1]
    lanes = (vals(one, "N *"), vals(other, "*"))
    joined = done("ordered_join", crds([0, 1]), *lanes, levels=1)
    assert joined.made.outputs[0].present is not None
    assert joined.made.outputs[0].present.tolist() == [False, True, True]


@pytest.mark.parametrize("op", ["fork", "shift", "crdwrite"])
def test_what_makes_coordinates_of_a_wide_level_asks_its_budget(op: str) -> None:
    wide = StreamContents(FiberLevel.of_full(levels([0])[-1], 10**12))
    node = Node(0, op, (0,), (1, 2), {"offset": 1})
    with pytest.raises(TooLargeError):
        RULES[op].execute(node, (wide,), ExecutionContext(Levels(), ElementBudget(1e6)))
