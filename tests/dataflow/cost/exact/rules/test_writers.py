"""The cost of writing: tokens that leave no trace are free."""

from __future__ import annotations

from tests.dataflow.cost.exact.examples import crds, done, levels, vals


def test_only_fibers_with_coordinates_are_recorded() -> None:
    written = done("crdwrite", crds({0: [1, 2], 1: [], 4: [3]}))
    assert written.steps == 3 + 2
    assert written.made.work.per.tolist() == [3, 0, 2]
    assert done("crdwrite", crds([])).steps == 0


def test_stops_and_empty_values_cost_nothing_and_the_end_one() -> None:
    fiber_tree = levels({0: [1, 2], 4: [3]})[-1]
    written = done("valwrite", vals(fiber_tree, "* N *"))
    assert written.steps == 2 + 1
    assert written.made.work.per.tolist() == [1, 1]
