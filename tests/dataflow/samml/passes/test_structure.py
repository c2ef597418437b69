"""The number of tokens of an element of an outer level."""

from __future__ import annotations

from fuseloom.dataflow.samml.passes.slack import element_tokens


def test_tokens_of_an_element() -> None:
    assert element_tokens([]) == 2  # a leaf and a stop after it
    assert element_tokens([7]) == 8
    assert element_tokens([3, 7]) == 3 * 7 + 3
    assert element_tokens([2, 3, 7]) == 2 * 3 * 7 + 2 * 3
