"""Helpers that rules share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.cost.exact.execution import ElementBudget, ExecutionContext, TooLargeError
from fuseloom.dataflow.cost.exact.fiber_levels import ROOT, FiberLevel, Standing, StreamContents
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.cost.exact.steps import (
    bundles,
    innermost,
    keyed,
    lead,
    once,
    places_of,
    references,
    segments,
    spread,
    taken_at,
)
from fuseloom.program import parse
from tests.dataflow.cost.exact.examples import ints, levels, refs, vals


def test_runs_lie_one_behind_the_other() -> None:
    assert spread(ints(7, 2, 5), ints(2, 0, 3)).tolist() == [7, 8, 5, 6, 7]
    assert spread(ints(), ints()).tolist() == []
    assert segments(ints(2, 0, 3)).tolist() == [0, 2, 2, 5]


def test_leaves_are_taken_with_what_they_carry() -> None:
    fiber_tree, other = levels([1, 2, 3])[-1], levels([5, 6])[-1]
    assert taken_at(refs(fiber_tree, 4, -1, 6), ints(2, 1), other).values.total == 1
    assert taken_at(vals(fiber_tree, "* N *"), ints(1, 1), other).values.total == 0


def test_the_innermost_levels_outermost_first() -> None:
    chain = levels({0: {1: [2]}})
    assert innermost(chain[-1], 2) == chain[1:]
    assert innermost(chain[-1], 0) == []


def test_keys_tell_elements_apart_across_fibers() -> None:
    inner = levels({0: [1, 4], 2: [1]})[-1]
    assert keyed(inner, 5).tolist() == [1, 4, 6]


def test_where_keys_stand() -> None:
    inner = levels({0: [1, 4], 2: [1]})[-1]
    among = keyed(inner, 5)
    assert places_of(ints(1, 2, 4, 6, 9), inner, among, 5).tolist() == [0, -1, 1, 2, -1]
    empty = levels({0: []})[-1]
    assert places_of(ints(1, 2), empty, keyed(empty, 5), 5).tolist() == [-1, -1]


def test_where_keys_stand_in_a_level_with_all_coordinates() -> None:
    """No table is asked: 3 per fiber, so that coordinate 1 of the second is the fifth."""
    outer = levels([0, 9])[-1]
    full = FiberLevel(outer, ints(0, 3, 6), np.tile(np.arange(3), 2), 3)
    assert places_of(ints(0, 5 + 1, 4), full, None, 5).tolist() == [0, 4, -1]


def test_what_comes_before_the_first_token() -> None:
    """Of 4 the first thing is the stop of an empty fiber, whatever comes behind it."""
    middle = levels({1: {2: [5], 3: [6]}, 4: {}, 7: {8: []}})[1]
    found = lead(middle, lambda fiber: 10 + fiber)
    assert found is not None
    assert found.top is middle.top
    assert found.per.tolist() == [10, 0, 12]
    deeper = levels({1: {2: {}, 3: {4: []}}}, 3)[-1]
    behind = lead(deeper, lambda fiber: 10 + fiber)
    assert behind is not None
    assert behind.per.tolist() == [0]


def test_nothing_comes_before_where_there_are_no_coordinates() -> None:
    assert lead(ROOT, lambda fiber: fiber) is None
    assert lead(levels([])[-1], lambda fiber: fiber) is None


def test_once_is_behind_all_coordinates() -> None:
    assert (once().top, once().total) == (None, 1)


def test_references_that_only_follow_from_others_ask_the_budget() -> None:
    """A level of a million coordinates under each of a million is counted, never made."""
    million = 1_000_000
    outer = FiberLevel.of_full(ROOT, million)
    inner = FiberLevel.of_full(outer, million)
    carried = StreamContents(inner, base=np.zeros(million, dtype=np.int64))
    assert carried.values.total == million**2
    with pytest.raises(TooLargeError):
        references(carried, ExecutionContext(NOWHERE, ElementBudget(1e6)))


NOWHERE = Patterns(parse("a: 1 dense\nb[i] = relu(a[i])"), {})


def test_bundles_of_each_fiber() -> None:
    """Words of different fibers are not asked for together; those of a single one in turn."""
    tree = levels({0: list(range(17)), 1: [], 2: [5]})[-1]
    assert bundles(StreamContents(tree)).per.tolist() == [3, 0, 1]
    nine = " ".join(["*"] * 9 + ["N"] * 8 + ["*"])
    assert bundles(vals(tree, nine)).per.tolist() == [2, 0, 1]
    assert bundles(StreamContents(levels([3, 4])[-1])).per.tolist() == [1 / 8, 1 / 8]
    by = Standing(np.array([10.0] * 20))
    assert bundles(StreamContents(replace(tree, by=by))).per.tolist() == [22, 0, 2]
