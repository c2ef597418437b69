"""Coordinates that are changed."""

from __future__ import annotations

from tests.dataflow.cost.exact.examples import crds, done


def test_an_operand_of_a_concat_is_shifted() -> None:
    shifted = done("shift", crds({0: [1, 4], 2: []}), offset=10)
    assert shifted.outputs == ("11 14 S0 S1 D",)
    assert shifted.made.work.per.tolist() == [3, 1]
