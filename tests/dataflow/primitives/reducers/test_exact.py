"""Sums of fibers, and accumulators by coordinate."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.fiber_levels import StreamContents
from tests.dataflow.cost.exact.examples import done, levels, vals

ADD = {"fn": "add"}


def test_a_value_per_fiber() -> None:
    outer, inner = levels({0: [1, 2], 3: [], 4: [5]})
    reduced = done("reduce", vals(inner, "* * *"), StreamContents(outer), **ADD)
    assert reduced.outputs == ("* N * S0 D",)
    assert reduced.steps == 6
    assert reduced.made.flushes is not None


def test_empty_values_take_nothing() -> None:
    outer, inner = levels({0: [1, 2], 3: [4]})
    reduced = done("reduce", vals(inner, "N * N"), StreamContents(outer), **ADD)
    assert reduced.outputs == ("* N S0 D",)
    assert reduced.steps == 1 + 2
    assert done(
        "reduce", vals(inner, "N * N"), StreamContents(outer), **ADD, empty_is_zero=True
    ).outputs == ("* * S0 D",)


def test_the_first_sum_comes_behind_its_values() -> None:
    """2 values in the first fiber of 0; of 1 the stop of an empty fiber is first; none is in 2."""
    tree = {0: {1: [2, 3], 2: [4]}, 1: {}, 2: {5: [], 6: [7]}}
    outer, inner = levels(tree)[-2:]
    reduced = done("reduce", vals(inner, "* * * *"), StreamContents(outer), **ADD)
    assert reduced.made.lead is not None
    assert reduced.made.lead.per.tolist() == [2, 0, 0]
    fewer = done("reduce", vals(inner, "N * * *"), StreamContents(outer), **ADD)
    assert fewer.made.lead is not None
    assert fewer.made.lead.per.tolist() == [1, 0, 0]


def test_an_empty_outer_fiber_has_no_value() -> None:
    outer, inner = levels({0: {1: [2]}, 1: {}})[-2:]
    reduced = done("reduce", vals(inner, "*"), StreamContents(outer), **ADD)
    assert reduced.outputs == ("* S0 S1 D",)


def test_a_sum_of_all_flushes_once() -> None:
    fiber = levels([1, 2])[-1]
    reduced = done("reduce", vals(fiber, "* *"), **ADD)
    assert reduced.outputs == ("* D",)
    assert reduced.made.flushes is not None
    assert reduced.made.flushes.top is None  # of no coordinate, but when all have come


def test_rows_are_accumulated_by_coordinate() -> None:
    """Two rows of two fibers each: a step per value, per fiber, and per row."""
    _, outer, inner = levels({0: {0: [2, 5], 1: [1, 2]}, 1: {3: [4]}})
    summed = done(
        "spacc1", StreamContents(outer), StreamContents(inner), vals(inner, "* * * * *"), **ADD
    )
    assert summed.outputs == ("1 2 5 S0 4 S1 D", "* * * S0 * S1 D")
    assert summed.made.work.per.tolist() == [4 + 2 + 1, 1 + 1 + 1]
    assert summed.made.flushes is not None
    assert summed.made.flushes.per.tolist() == [1, 1]
    assert summed.made.lead is not None
    assert summed.made.lead.per.tolist() == [4 + 2, 1 + 1]


def test_empty_values_make_no_coordinate() -> None:
    _, outer, inner = levels({0: {0: [2, 5]}})
    summed = done("spacc1", StreamContents(outer), StreamContents(inner), vals(inner, "N *"), **ADD)
    assert summed.outputs == ("5 S1 D", "* S1 D")


def test_the_stop_of_an_empty_row_costs_nothing_of_its_own() -> None:
    _, outer, inner = levels({0: {}, 1: {0: [3]}, 2: {}})
    summed = done("spacc1", StreamContents(outer), StreamContents(inner), vals(inner, "*"), **ADD)
    assert summed.outputs[0] == "S0 3 S0 S1 D"
    assert summed.steps == 1 + 1 + 3


def test_what_closes_the_outermost_index_flushes_once() -> None:
    outer, inner = levels({0: [4, 6], 2: [4]})
    summed = done(
        "spacc1", StreamContents(outer), StreamContents(inner), vals(inner, "* * *"), **ADD
    )
    assert summed.outputs == ("4 6 S0 D", "* * S0 D")
    assert summed.steps == 3 + 2 + 1
    assert (summed.made.work.per.tolist(), summed.made.work.behind) == ([3, 2], 1)
    # Its outputs begin an axis of their own.
    assert summed.made.outputs[0].fiber_tree.top is summed.made.outputs[0].fiber_tree


def test_trees_are_accumulated_by_all_coordinates() -> None:
    """Order 2: a step per value and per stop of the values, and one for the flush."""
    k, i, j = levels({0: {1: [2, 3], 5: [2]}, 4: {1: [3, 9]}})
    summed = done(
        "spacc2",
        StreamContents(k),
        StreamContents(i),
        StreamContents(j),
        vals(j, "* * * * *"),
        **ADD,
    )
    assert summed.outputs == ("1 5 S0 D", "2 3 9 S0 2 S1 D", "* * * S0 * S1 D")
    assert summed.steps == 5 + 3 + 1
    assert summed.made.outputs[1].fiber_tree is summed.made.outputs[2].fiber_tree


def test_an_empty_tree_leaves_only_stops() -> None:
    k, i, j = levels({0: {}, 4: {1: []}}, 3)
    summed = done(
        "spacc2", StreamContents(k), StreamContents(i), StreamContents(j), StreamContents(j), **ADD
    )
    assert summed.outputs == ("S0 D", "S1 D", "S1 D")


def test_a_tree_per_outer_coordinate() -> None:
    """The first of 0 comes behind 3 values and 2 stops; two more follow, one of them of nothing."""
    tree = {0: {0: {1: {2: [5, 6], 3: [7]}}}, 9: {1: {}, 2: {0: {1: [4]}}}}
    _, base, k, i, j = levels(tree)
    summed = done(
        "spacc2", StreamContents(k), StreamContents(i), StreamContents(j), StreamContents(j), **ADD
    )
    assert base.n == 3
    assert summed.made.flushes is not None
    assert summed.made.flushes.per.tolist() == [1, 2]
    assert summed.made.lead is not None
    assert summed.made.lead.per.tolist() == [5, 0]


def test_order_three() -> None:
    chain = levels({0: {1: {2: [3, 4]}}, 1: {1: {2: [3], 6: [7]}}})
    streams = [StreamContents(fiber_tree) for fiber_tree in chain]
    summed = done("spacc3", *streams, StreamContents(chain[-1]), **ADD)
    assert summed.outputs[:3] == ("1 S0 D", "2 6 S1 D", "3 4 S0 7 S2 D")
    assert summed.steps == 4 + 3 + 1
