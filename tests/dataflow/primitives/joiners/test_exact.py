"""Intersections and unions: what comes out, and a step for every coordinate that any has."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.fiber_levels import StreamContents
from tests.dataflow.cost.exact.examples import Tree, crds, done, levels, refs, vals


def side(tree: Tree, *numbers: int) -> tuple[StreamContents, StreamContents]:
    """Coordinates of an operand, and references beside them."""
    fiber_tree = levels(tree, 1)[-1]
    return StreamContents(fiber_tree), refs(fiber_tree, *numbers)


def two_rows(one: Tree, other: Tree) -> tuple[StreamContents, StreamContents]:
    """Two operands with the same rows."""
    (outer, left), (_, right) = levels(one), levels(other)
    right = type(right)(outer, right.seg, right.crd)
    return StreamContents(left), StreamContents(right)


def test_what_both_have() -> None:
    """1 3 4 5 and the stop are five steps; only 3 comes out."""
    met = done("intersect", *side([1, 3, 5], 10, 11, 12), *side([3, 4], 20, 21))
    assert met.outputs == ("3 S0 D", "11 S0 D", "20 S0 D")
    assert met.steps == 5
    assert met.made.work.top is not None
    assert met.made.work.top.crd.tolist() == [1, 3, 4, 5]


def test_steps_in_rows() -> None:
    left, right = two_rows({0: [1, 2], 1: [], 2: [7]}, {0: [2, 3], 1: [4], 2: []})
    met = done("intersect", left, left, right, right)
    assert met.outputs[0] == "2 S0 S0 S1 D"
    assert met.made.work.per.tolist() == [4, 2, 2]
    # 1 goes before 2 is met; a row in which nothing meets is walked before its stop comes.
    assert met.made.lead is not None
    assert met.made.lead.per.tolist() == [1, 1, 1]


def test_a_row_whose_first_coordinates_do_not_meet() -> None:
    left, right = two_rows({0: [0, 1, 2, 9], 1: [3, 8]}, {0: [4, 9], 1: [3, 5]})
    met = done("intersect", left, left, right, right)
    assert met.made.lead is not None
    assert met.made.lead.per.tolist() == [4, 0]
    # Of three operands, what one of them walks at least.
    three = done("intersect", left, left, right, right, right, right, outputs=4)
    assert three.made.lead is not None
    assert three.made.lead.per.tolist() == [3, 0]


def test_three_operands() -> None:
    """The least coordinate goes alone if any two differ: 1, 2, 3, 4, 6 and the stop."""
    operands = [side(c, *c) for c in ([1, 2, 6], [2, 3, 6], [2, 4, 6])]
    met = done("intersect", *(stream for pair in operands for stream in pair), outputs=4)
    assert met.outputs == ("2 6 S0 D",) * 4
    assert met.steps == 6


def test_equal_operands_are_walked_together() -> None:
    crd, ref = side([1, 3], 0, 1)
    met = done("intersect", crd, ref, crd, ref)
    assert met.outputs[0] == "1 3 S0 D"
    assert met.steps == 3
    assert met.made.outputs[0].fiber_tree is crd.fiber_tree


def test_what_either_has() -> None:
    joined = done("union", *side([1, 3], 10, 11), *side([3, 4], 20, 21))
    assert joined.outputs == ("1 3 4 S0 D", "10 11 N S0 D", "N 20 21 S0 D")
    assert joined.steps == 4


def test_a_value_that_an_operand_lacks_is_empty() -> None:
    one, other = levels([1, 3])[-1], levels([3])[-1]
    joined = done(
        "union", StreamContents(one), vals(one, "* N"), StreamContents(other), vals(other, "*")
    )
    assert joined.outputs == ("1 3 S0 D", "1 N S0 D", "N 3 S0 D")
    assert [c.values.total for c in joined.made.outputs] == [2, 1, 1]


def test_a_gate_lets_nothing_by_where_its_operands_are_empty() -> None:
    """Row 1 of the first is empty: 4 and 5 are walked, and nothing comes out."""
    left, right = two_rows({0: [1], 1: []}, {0: [2], 1: [4, 5]})
    joined = done("union", left, left, right, right, gate=1)
    assert joined.outputs[0] == "1 2 S0 S1 D"
    assert joined.made.work.per.tolist() == [3, 3]
    assert done("union", left, left, right, right).outputs[0] == "1 2 S0 4 5 S1 D"


def test_no_coordinates_at_all() -> None:
    nothing = crds([])
    for op in ("intersect", "union"):
        joined = done(op, nothing, nothing, nothing, nothing)
        assert joined.outputs == ("S0 D",) * 3
        assert joined.steps == 1
