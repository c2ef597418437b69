"""The sources of streams."""

from __future__ import annotations

from tests.dataflow.cost.exact.examples import done


def test_a_root_puts_one_reference() -> None:
    """``0 D``, a step each; neither belongs to a coordinate."""
    root = done("root")
    assert root.outputs == ("0 D",)
    assert root.steps == 2
    assert root.made.work.top is None
