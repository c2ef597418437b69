"""Which operands a result cannot do without."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.operands import required_operands
from fuseloom.dataflow.sim.conformance.bench import bench


@pytest.mark.parametrize(
    ("params", "needed"),
    [
        ({"fn": "mul"}, "ab"),
        ({"fn": "elemmul"}, "ab"),
        ({"fn": "div"}, "ab"),
        ({"fn": "add"}, ""),
        ({"fn": "sub"}, ""),
        ({"fn": "add", "needs": "a"}, "a"),
        ({"fn": "mul", "needs": "a"}, "ab"),
    ],
)
def test_products_need_both_and_sums_what_is_there(params: dict, needed: str) -> None:
    assert required_operands(Node(0, "binary", (), (), params)) == needed


def test_the_alu_leaves_out_what_lacks_a_needed_operand() -> None:
    a, b = "1 N N S0 D", "2 2 N S0 D"
    assert bench("binary", a, b, params={"fn": "add"}).tokens == ("3 2 N S0 D",)
    assert bench("binary", a, b, params={"fn": "mul"}).tokens == ("2 N N S0 D",)
    assert bench("binary", a, b, params={"fn": "add", "needs": "a"}).tokens == ("3 N N S0 D",)
