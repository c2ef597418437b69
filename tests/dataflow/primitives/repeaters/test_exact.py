"""Repeats, and the examples of replay (``docs/spec/machine.md`` §4.3)."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.cost.exact.fiber_levels import ROOT, StreamContents
from tests.dataflow.cost.exact.examples import Tree, crds, done, levels, refs


def test_a_signal_has_a_token_for_every_token() -> None:
    signal = done("repsig", crds({0: [1, 2], 5: [], 6: [3]}))
    assert signal.outputs == ("R R S S R S D",)
    assert signal.made.work.per.tolist() == [3, 1, 2]


def test_a_token_is_held_for_a_fiber() -> None:
    outer, inner = levels({4: [1, 2], 5: [], 6: [3]})
    held = done("repeat", refs(outer, 7, 8, -1), StreamContents(inner))
    assert held.outputs == ("7 7 S0 S0 N S1 D",)
    assert held.steps == 6


def test_a_scalar_is_held_for_all() -> None:
    held = done("repeat", refs(ROOT, 0), crds([2, 3]))
    assert held.outputs == ("0 0 S0 D",)


@pytest.mark.parametrize(
    ("levels_in", "tree", "driver", "expected"),
    [
        (1, [5, 7], [0, 1, 2], "5 7 S0 5 7 S0 5 7 S1 D"),
        (1, {0: [5], 1: [], 2: [7]}, {0: [0], 1: [], 2: [1, 2]}, "5 S1 S1 7 S0 7 S2 D"),
        (2, {0: [5], 1: [6, 7]}, [0, 1], "5 S0 6 7 S1 5 S0 6 7 S2 D"),
    ],
)
def test_a_subtree_is_put_once_per_coordinate(
    levels_in: int, tree: Tree, driver: Tree, expected: str
) -> None:
    replayed = done("replay", crds(tree), crds(driver), levels=levels_in)
    assert replayed.outputs == (expected,)


def test_a_subtree_for_nothing_is_taken_and_dropped() -> None:
    """Of ``5 6 S0`` the two coordinates take a step each; its stop goes with the driver's."""
    replayed = done("replay", crds({0: [5, 6], 1: [7]}), crds({0: [], 1: [1]}), levels=1)
    assert replayed.outputs == ("S1 7 S2 D",)
    assert replayed.steps == 2 + 1 + 2
    assert replayed.made.work.per.tolist() == [3, 2]


def test_a_deep_subtree_for_nothing() -> None:
    """``5 S0 6 7`` takes four steps, the stop that ends it none of its own."""
    tree = {0: {1: [5], 2: [6, 7]}, 1: {3: [8]}}
    replayed = done("replay", crds(tree), crds({0: [], 1: [1]}), levels=2)
    assert replayed.outputs == ("S2 8 S3 D",)
    assert replayed.steps == 4 + 1 + 2
