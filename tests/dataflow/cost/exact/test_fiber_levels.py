"""Trees of coordinates, and how many tokens lie at each outer coordinate."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.cost.exact.fiber_levels import (
    ROOT,
    FiberLevel,
    Profile,
    Standing,
    StreamContents,
    below,
    kept,
)
from fuseloom.dataflow.samml.graph import StreamKind
from tests.dataflow.cost.exact.examples import Tree, crds, ints, levels, refs, tokens, vals

TREE = {0: {1: [5, 6], 2: []}, 3: {}, 4: {0: [7]}}


def test_levels_know_what_is_above_them() -> None:
    outer, middle, inner = levels(TREE)
    assert [fiber_tree.depth for fiber_tree in (ROOT, outer, middle, inner)] == [0, 1, 2, 3]
    assert (ROOT.top, inner.top) == (None, outer)
    assert middle.up.tolist() == [0, 0, 2]
    assert inner.up.tolist() == [0, 0, 2]
    # Coordinate 0 has the elements 0 and 1 of the innermost level, 3 has none, 4 the last.
    assert inner.ends.tolist() == [0, 2, 2, 3]
    assert inner.bare.tolist() == [False, True, False]


def test_elements_stops_and_filled_fibers_per_outer_coordinate() -> None:
    """``5 6 S0 S1 S1 7 S2 D``: two values and two stops, one stop, a value and a stop."""
    inner = levels(TREE)[-1]
    assert tokens(StreamContents(inner), StreamKind.CRD) == "5 6 S0 S1 S1 7 S2 D"
    assert inner.elements.per.tolist() == [2, 0, 1]
    assert inner.hollow.per.tolist() == [1, 1, 0]  # under 2, and under 3
    assert inner.stops.per.tolist() == [2, 1, 1]
    assert inner.tokens.per.tolist() == [4, 1, 2]
    assert inner.tokens.behind == 0
    assert inner.filled.per.tolist() == [1, 0, 1]


def test_the_outermost_level_is_closed_behind_its_coordinates() -> None:
    outer = levels(TREE)[0]
    assert (outer.tokens.per.tolist(), outer.tokens.behind) == ([1, 1, 1], 1)
    assert (outer.filled.per.tolist(), outer.filled.behind) == ([0, 0, 0], 1)


@pytest.mark.parametrize(
    ("tree", "depth"),
    [(TREE, 3), ({0: {}, 1: {}}, 3), ({}, 1), ({}, 3), ({2: []}, 2), ({2: {3: []}, 4: {}}, 4)],
)
def test_stops_that_follow_each_other_are_one_token(tree: Tree, depth: int) -> None:
    stream = crds(tree, depth)
    assert stream.tokens.total + 1 == len(tokens(stream, StreamKind.CRD).split())


def test_random_trees_have_the_tokens_that_are_counted() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        fiber_tree = ROOT
        for _ in range(rng.integers(1, 5)):
            lengths = rng.integers(0, 4, fiber_tree.n)
            seg = np.concatenate(([0], np.cumsum(lengths)))
            fiber_tree = FiberLevel(
                fiber_tree, seg, np.concatenate([np.arange(k) for k in [*lengths, 0]])
            )
        text = tokens(StreamContents(fiber_tree), StreamKind.CRD).split()
        assert fiber_tree.tokens.total + 1 == len(text)
        assert fiber_tree.stops.total == sum(t[0] == "S" for t in text)
        assert fiber_tree.elements.total == fiber_tree.n


def test_a_scalar_lies_behind_all_coordinates() -> None:
    scalar = refs(ROOT, 0)
    assert (scalar.tokens.top, scalar.tokens.total) == (None, 1)
    assert ROOT.filled.total == 1


def test_profiles_add_where_their_coordinates_are_the_same() -> None:
    outer = levels([2, 5])[-1]
    one, other = Profile(outer, np.array([1.0, 2.0]), 3.0), Profile(outer, np.array([4.0, 0.0]))
    total = one + other
    assert (total.per.tolist(), total.behind, total.total) == ([5, 2], 3, 10)
    assert (total - other).per.tolist() == one.per.tolist()
    behind = Profile(None, np.zeros(0), 4.0)
    assert (behind + one).per.tolist() == (one + behind).per.tolist() == [1, 2]
    assert (behind + one).behind == 7


def test_levels_made_below_others_and_with_elements_left_out() -> None:
    outer, inner = levels({0: [1, 2], 4: [], 5: [3]})
    again = below(outer, ints(0, 0, 2), ints(1, 2, 3))
    assert again.seg.tolist() == inner.seg.tolist()
    fewer = kept(inner, np.array([False, True, False]))
    assert (fewer.seg.tolist(), fewer.crd.tolist()) == ([0, 1, 1, 1], [2])
    assert fewer.parent is outer


def test_the_empty_token_is_no_value() -> None:
    fiber_tree = levels({0: [1, 2], 3: [4]})[-1]
    assert refs(fiber_tree, 0, -1, 7).values.per.tolist() == [1, 1]
    assert vals(fiber_tree, "N N *").values.per.tolist() == [0, 1]
    assert refs(fiber_tree, 0, 1, 2).here is None
    assert (
        StreamContents(fiber_tree).values.total == StreamContents(fiber_tree).tokens.total - 2 == 3
    )


def test_full_levels_are_counted_and_not_made() -> None:
    """Two rows of a trillion coordinates, of which only the first is asked for its place."""
    outer = levels([3, 7])[-1]
    wide = FiberLevel.of_full(outer, 10**12)
    assert wide.n == 2 * 10**12
    assert wide.tokens.per.tolist() == [10**12 + 1] * 2
    stream = StreamContents(wide, base=ints(0, 5 * 10**12))
    assert stream.here is None
    at = stream.at(ints(7, 10**12 + 7))
    assert at is not None
    assert at.tolist() == [7, 5 * 10**12 + 7]
    small = FiberLevel.of_full(outer, 3)
    assert small.crd.tolist() == [0, 1, 2, 0, 1, 2]
    refs_of = StreamContents(small, base=ints(6, 0)).refs
    assert refs_of is not None
    assert refs_of.tolist() == [6, 7, 8, 0, 1, 2]


def test_sampled_levels_count_what_their_elements_stand_for() -> None:
    """Not at the outermost level, which whoever times weighs."""
    by = Standing(np.array([0.0, 2.0, 0.0, 5.0]))
    outer = levels([0, 3])[-1]
    middle = below(outer, ints(0, 0, 1), ints(1, 3, 3), by)
    inner = below(middle, ints(0, 1, 1, 2), ints(7, 8, 9, 9))
    assert outer.weights is None
    assert middle.elements.per.tolist() == [7, 5]
    assert inner.elements.per.tolist() == [2 + 5 + 5, 5]
    assert inner.where(np.array([True, False, True, False])).per.tolist() == [2 + 5, 0]
    assert inner.tokens.per.tolist() == [12 + 7, 5 + 5]
    assert FiberLevel.of_full(middle, 10**12).elements.per.tolist() == [7e12, 5e12]
    assert kept(middle, np.array([True, False, True])).elements.per.tolist() == [2, 5]
    under = inner.between(ints(1), ints(3), ints(1), middle)
    assert under.tolist() == [2]


def test_lanes_get_a_part_of_what_stands_for_several() -> None:
    """And what stands for itself goes to the lane whose turn it is."""
    by = Standing(np.array([1.0, 3.0, 0.0, 1.0, 1.0]))
    crd = ints(0, 1, 3, 4)
    (first, mine), (second, _) = by.dealt(crd, 2, outermost=False)
    assert first.tolist() == [True, True, True, False]  # places 0, 1 to 3, 4 and 5
    assert second.tolist() == [False, True, False, True]
    outer = FiberLevel(ROOT, ints(0, 3), crd[first], by=mine)
    assert outer.elements.per.tolist() == [1, 0.5, 1]
    inner = below(outer, ints(0, 1, 1), ints(7, 8, 9))
    assert inner.elements.per.tolist() == [1, 1, 0]
    (_, again), _ = mine.dealt(crd, 2, outermost=False)
    assert again.share is not None
    assert again.share[1] == 0.25


def test_lanes_get_the_part_of_the_work_that_is_at_their_coordinates() -> None:
    """Even coordinates have three times as much as odd ones: lane 0 gets three quarters of it."""
    per, work = np.array([1.0, 0.0, 0.0, 3.0, 0.0, 1.0]), np.array([9.0, 1.0, 3.0, 0.5, 0.0, 9.0])
    crd = ints(0, 3, 5)
    (first, even), (second, odd) = Standing(per, work=work).dealt(crd, 2, outermost=True)
    assert first.tolist() == [True, True, False]
    assert second.tolist() == [False, True, True]
    assert even.share is not None
    assert odd.share is not None
    assert even.share.tolist() == [1, 1, 1, 3 / 4.5, 1, 1]
    assert odd.share.tolist() == [1, 1, 1, 1.5 / 4.5, 1, 1]
    # In a lane, they are dealt by their places there: 0 and 3 to 4.
    (first, _), (second, _) = even.dealt(ints(0, 3), 2, outermost=True)
    assert first.tolist() == [True, True]
    assert second.tolist() == [False, True]
    # Many fibers, as long together as the index, have no numbers of their own.
    (first, inner), _ = Standing(per, work=work).dealt(ints(0, 5, 0, 5, 0, 5), 2, outermost=False)
    assert first.tolist() == [True, False] * 3
    assert inner.share is not None
    assert inner.share[3] == 0.5
    # Of a compressed level, in which the coordinate 4 is not stored, 5 is the fifth.
    (first, _), (second, _) = Standing(per, work=work).dealt(ints(0, 5), 2, outermost=True)
    assert first.tolist() == [True, True]
    assert second.tolist() == [False, False]
