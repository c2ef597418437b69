"""Loads and arithmetic: a step per token, and which results are empty; sources and writers."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.cost.exact.fiber_levels import StreamContents
from tests.dataflow.cost.exact.examples import crds, done, levels, refs, vals

ROW = levels([1, 2, 5, 6])[-1]


def test_an_empty_reference_loads_nothing() -> None:
    loaded = done("array", refs(ROW, 4, -1, 0, 4))
    assert loaded.outputs == ("* N * * S0 D",)
    assert loaded.steps == 5


@pytest.mark.parametrize(
    ("fn", "needs", "expected"),
    [
        ("mul", None, "* N N N S0 D"),
        ("div", None, "* N N N S0 D"),
        ("add", None, "* * * N S0 D"),
        ("sub", None, "* * * N S0 D"),
        ("add", "a", "* * N N S0 D"),
        ("sub", "b", "* N * N S0 D"),
        ("mul", "a", "* N N N S0 D"),
    ],
)
def test_what_an_absent_operand_means(fn: str, needs: str | None, expected: str) -> None:
    params = {"fn": fn} | ({} if needs is None else {"needs": needs})
    combined = done("binary", vals(ROW, "* * N N"), vals(ROW, "* N * N"), **params)
    assert combined.outputs == (expected,)
    assert combined.steps == 5


@pytest.mark.parametrize("fn", ["mul", "add"])
def test_where_one_operand_is_never_absent(fn: str) -> None:
    combined = done("binary", vals(ROW, "* N * N"), StreamContents(ROW), fn=fn)
    assert combined.outputs == ("* N * N S0 D" if fn == "mul" else "* * * * S0 D",)


def test_functions_leave_the_empty_token_alone() -> None:
    assert done("unary", vals(ROW, "* N * *"), fn="relu").outputs == ("* N * * S0 D",)


def test_a_root_puts_one_reference() -> None:
    """``0 D``, a step each; neither belongs to a coordinate."""
    root = done("root")
    assert root.outputs == ("0 D",)
    assert root.steps == 2
    assert root.made.work.top is None


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
