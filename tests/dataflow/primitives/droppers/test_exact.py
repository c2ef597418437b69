"""Primitives that drop tokens, or align subtrees with the coordinates of a join."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.fiber_levels import StreamContents
from tests.dataflow.cost.exact.examples import crds, done, levels, vals


def test_empty_rows_are_dropped_and_their_stops_stay() -> None:
    outer, inner = levels({0: [1], 2: [], 5: [3, 4]})
    dropped = done("crddrop", StreamContents(inner), StreamContents(outer))
    assert dropped.outputs == ("1 S0 S0 3 4 S1 D", "0 5 S0 D")
    # A row passes in one step, however long it is.
    assert dropped.steps == 4


def test_rows_of_an_empty_outer_fiber() -> None:
    outer, inner = levels({0: {1: [7]}, 1: {}, 2: {3: []}})[-2:]
    dropped = done("crddrop", StreamContents(inner), StreamContents(outer))
    assert dropped.outputs == ("7 S1 S1 S2 D", "1 S0 S0 S1 D")


def test_where_nothing_is_empty_nothing_changes() -> None:
    outer, inner = levels({0: [1], 2: [3]})
    dropped = done("crddrop", StreamContents(inner), StreamContents(outer))
    assert [c.fiber_tree for c in dropped.made.outputs] == [inner, outer]


def test_empty_values_go_with_their_coordinates() -> None:
    inner = levels({0: [1, 2], 1: [4]})[-1]
    dropped = done("valdrop", vals(inner, "* N N"), StreamContents(inner))
    assert dropped.outputs == ("* S0 S1 D", "1 S0 S1 D")
    assert dropped.made.work.per.tolist() == [3, 2]
    assert dropped.made.lead is not None
    assert dropped.made.lead.per.tolist() == [0, 1]  # the second row's stop comes behind a step
    assert (
        done("valdrop", vals(inner, "* * *"), StreamContents(inner)).outputs[1] == "1 2 S0 4 S1 D"
    )


def test_a_subtree_per_coordinate_behind_a_join() -> None:
    """That of 0 is dropped, that of 2 passes, 3 gets an empty one, and 5's is empty already.

    A step for each token of the stream (0: 7 and its stop, 2: 8 9 and a stop, 5: its stop and the
    one that closes all) and one for the subtree that is put in for 3.
    """
    before, stream = levels({0: [7], 2: [8, 9], 5: []})
    aligned = done(
        "fiber_align", StreamContents(before), crds([2, 3, 5]), StreamContents(stream), levels=1
    )
    assert aligned.outputs == ("8 9 S0 S0 S1 D",)
    assert aligned.steps == 2 + 3 + 1 + 1 + 1


def test_align_where_the_outermost_levels_differ() -> None:
    """Steps of what is dropped lie at coordinates that only the level before has."""
    before, stream = levels({0: [7], 2: [8]})
    aligned = done(
        "fiber_align", StreamContents(before), crds([2, 9]), StreamContents(stream), levels=1
    )
    top = aligned.made.work.top
    assert top is not None
    assert top.crd.tolist() == [0, 2, 9]
    assert aligned.made.work.per.tolist() == [2, 2, 1]
    assert aligned.outputs == ("8 S0 S1 D",)


def test_align_in_rows() -> None:
    outer, before, stream = levels({0: {1: [5], 2: [6]}, 1: {4: [7]}})
    after = type(before)(outer, levels({0: [2, 3], 1: []})[-1].seg, levels([2, 3])[-1].crd)
    aligned = done(
        "fiber_align",
        StreamContents(before),
        StreamContents(after),
        StreamContents(stream),
        levels=1,
    )
    assert aligned.outputs == ("6 S0 S1 S2 D",)
