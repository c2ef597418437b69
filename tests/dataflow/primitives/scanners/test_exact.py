"""Scans and look-ups on the worked examples of docs/spec/machine.md §3."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.cost.exact.execution import (
    RULES,
    ElementBudget,
    ExecutionContext,
    TooLargeError,
)
from fuseloom.dataflow.cost.exact.fiber_levels import ROOT, StreamContents
from fuseloom.dataflow.samml.graph import Node
from tests.dataflow.cost.exact.examples import Levels, done, levels, refs

LEVEL = Levels((0, 2, 2, 5), (3, 7, 1, 4, 6))


def test_a_scan_puts_fibers_for_references() -> None:
    rows = levels({0: [0, 1], 1: [2]})[-1]
    scan = done("scan", refs(rows, 0, 1, 2), level=LEVEL)
    assert scan.outputs == ("3 7 S0 S1 1 4 6 S2 D", "0 1 S0 S1 2 3 4 S2 D")
    # The stop of each fiber is that of the coordinate that opened it, the closing one too.
    assert scan.made.work.per.tolist() == [4, 4]
    assert scan.made.work.behind == 0


def test_references_may_come_out_of_order_and_more_than_once() -> None:
    rows = levels([0, 1, 2])[-1]
    scan = done("scan", refs(rows, 2, 0, 2), level=LEVEL)
    assert scan.outputs[1] == "2 3 4 S0 0 1 S0 2 3 4 S1 D"


def test_nothing_is_under_the_empty_token() -> None:
    rows = levels([0, 1])[-1]
    assert done("scan", refs(rows, -1, 0), level=LEVEL).outputs[0] == "S0 3 7 S1 D"
    dense = done("dense_scan", refs(rows, -1, 1), dim=2)
    assert dense.outputs == ("S0 0 1 S1 D", "S0 2 3 S1 D")
    assert dense.made.outputs[0].fiber_tree.full == 0


def test_an_empty_fiber_of_references_stays_empty() -> None:
    rows = levels({0: [], 1: [0]})[-1]
    assert done("scan", refs(rows, 2), level=LEVEL).outputs[0] == "S1 1 4 6 S2 D"
    none = levels([])[-1]
    assert done("scan", refs(none), level=LEVEL).outputs[0] == "S1 D"


def test_the_outermost_level_hangs_at_the_root() -> None:
    scan = done("scan", refs(ROOT, 2), level=LEVEL)
    assert scan.outputs[0] == "1 4 6 S0 D"
    assert (scan.made.work.per.tolist(), scan.made.work.behind) == ([1, 1, 1], 1)


def test_a_dense_scan_puts_every_coordinate() -> None:
    rows = levels([5, 9])[-1]
    scan = done("dense_scan", refs(rows, 0, 2), dim=2)
    assert scan.outputs == ("0 1 S0 0 1 S1 D", "0 1 S0 4 5 S1 D")
    assert scan.made.outputs[0].fiber_tree.full == 2


def test_a_budget_is_asked_before_anything_is_made() -> None:
    node = Node(0, "dense_scan", (0,), (1, 2), {"dim": 10**12})
    rows = levels([0, 1])[-1]
    for given in (refs(ROOT, 0), refs(rows, 0, -1)):
        with pytest.raises(TooLargeError):
            RULES["dense_scan"].execute(node, (given,), ExecutionContext(LEVEL, ElementBudget(1e6)))


def test_locate_computes_where_an_element_lies() -> None:
    columns = levels([1, 2])[-1]
    both = (refs(columns, 1, 2), refs(columns, 0, 3))
    assert done("locate", *both, dim=10).outputs == ("1 32 S0 D",)
    absent = (refs(columns, 1, 2), refs(columns, -1, 3))
    assert done("locate", *absent, dim=10).outputs == ("N 32 S0 D",)


def test_search_keeps_what_is_stored() -> None:
    rows = levels({0: [3, 5, 7], 1: [1, 4], 2: []})
    search = done("search", refs(rows[0], 0, 2, 1), StreamContents(rows[1]), level=LEVEL)
    assert search.outputs == ("3 7 S0 1 4 S0 S1 D", "0 1 S0 2 3 S0 S1 D")
    assert search.made.work.per.tolist() == [4, 3, 1]
    absent = done("search", refs(rows[0], -1, 2, 1), StreamContents(rows[1]), level=LEVEL)
    assert absent.outputs[0] == "S0 1 4 S0 S1 D"


def test_a_level_with_all_coordinates_is_counted_and_not_made() -> None:
    """Compressed or dense; only at the outermost level is there something per coordinate."""

    class Full(Levels):
        def full(self, key: str, level: int) -> int:
            return 10**12

    rows = levels([5, 9])[-1]
    scan = RULES["scan"].execute(
        Node(0, "scan", (0,), (1, 2), {"tensor": "A", "level": 1}),
        (refs(rows, 0, 1),),
        ExecutionContext(Full(), ElementBudget(10)),
    )
    assert scan.work.per.tolist() == [10**12 + 1] * 2
    assert scan.outputs[1].base is not None
    assert scan.outputs[1].base.tolist() == [0, 10**12]
