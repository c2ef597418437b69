"""Units of SAM graphs that were written for chips: functions, constants, bits of numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from tests.dataflow.samml.exchange.sam_texts import (
    POWER,
    POWER_EDGES,
    SUM,
    agrees,
    common,
    on_vector,
    rules,
    run_text,
    where,
)


@pytest.mark.parametrize(
    ("unit", "function"),
    [
        ("relu", lambda b: np.maximum(b, 0)),
        ("max", lambda b: np.maximum(b, 0)),
        ("smax const0=0", lambda b: np.maximum(b, 0)),
        ("fp_max const0=-1.5", lambda b: np.maximum(b, -1.5)),
        ("smin const0=2", lambda b: np.minimum(b, 2)),
        ("fp_mul rb_const=0.2", lambda b: np.float32(0.2) * b),
        ("mul in2=-3", lambda b: -3 * b),
        ("fp_add rb_const=.5", lambda b: b + 0.5),
        ("add sub=1 rb_const=2", lambda b: b - 2),
        ("fp_sub rb_const=1e1", lambda b: b - 10),
        ("fp_div rb_const=4", lambda b: b / 4),
        ("exp", np.exp),
        ("fp_exp", np.exp),
        ("abs", np.abs),
        ("neg", np.negative),
        ("tanh", np.tanh),
        ("leakyrelu", lambda b: np.maximum(b, np.float32(0.01) * b)),
        ("leakyrelu alpha=0.2", lambda b: np.maximum(b, np.float32(0.2) * b)),
        ("leakyrelu alpha=2", lambda b: np.where(b < 0, 2 * b, b)),
    ],
)
def test_units_of_one_operand(unit: str, function: Callable[[np.ndarray], np.ndarray]) -> None:
    text = on_vector(f"4 {unit}", "2>4 val", "4")
    imported = agrees(text, {"b": (9,)}, lambda a: where(a["b"] != 0, function(a["b"])))
    assert ("R7" in rules(imported)) == unit.startswith("fp_")
    assert ("R11" in rules(imported)) == (unit == "max")


@pytest.mark.parametrize(
    ("unit", "function"),
    [
        ("fp_mul", np.multiply),
        ("fp_add", np.add),
        ("fp_sub", np.subtract),
        ("fp_div", np.divide),
        ("max", np.maximum),
        ("smax", np.maximum),
        ("min", np.minimum),
    ],
)
def test_units_of_two_operands(unit: str, function: Callable[..., np.ndarray]) -> None:
    text = common("intersect", f"4 {unit}", "5>4 val\n6>4 val\n4>0 val")

    def meaning(a: dict[str, np.ndarray]) -> np.ndarray:
        both = (a["b"] != 0) & (a["c"] != 0)
        return where(both, function(a["b"], np.where(both, a["c"], 1)))

    imported = agrees(text, {"b": (9,), "c": (9,)}, meaning)
    assert ("R5" in rules(imported)) == (unit in ("fp_sub", "fp_div"))


def test_ports_say_which_operand_is_divided() -> None:
    text = common("intersect", "4 fp_div", "5>4 val in1\n6>4 val in0\n4>0 val")

    def meaning(a: dict[str, np.ndarray]) -> np.ndarray:
        both = (a["b"] != 0) & (a["c"] != 0)
        return where(both, a["c"] / np.where(both, a["b"], 1))

    assert "R5" not in rules(agrees(text, {"b": (9,), "c": (9,)}, meaning))


def stored(a: dict[str, np.ndarray]) -> np.ndarray:
    return (a["b"] != 0) | (a["c"] != 0)


def leaky(a: dict[str, np.ndarray]) -> np.ndarray:
    total = a["b"] + a["c"]
    return np.maximum(total, np.float32(0.25) * total)


def test_a_sum_through_leaky_units_and_an_exponential() -> None:
    """Both operands of the maximum are absent together, that is: never."""
    units = "4 add sub=0\n10 broadcast\n11 mul in2=0.25\n12 max\n13 exp"
    edges = SUM + "4>10 val\n10>11 val\n11>12 val\n10>12 val\n12>13 val\n13>0 val"
    agrees(
        common("union", units, edges),
        {"b": (9,), "c": (9,)},
        lambda a: where(stored(a), np.exp(leaky(a))),
    )


def test_a_power_of_two_by_a_table_of_fractions() -> None:
    text = common("union", "4 fp_add\n" + POWER, SUM + "4>14 val\n" + POWER_EDGES)
    meaning = agrees(
        text, {"b": (9,), "c": (9,)}, lambda a: where(stored(a), np.exp(a["b"] + a["c"]))
    )
    assert {"R7", "R10"} <= rules(meaning)
    assert {repair.heading for repair in meaning.repairs} == {"read"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rb_const=255", "rb_const=15", "and 18 works on the bits of bfloat16 numbers"),
        ("17>18 val", "14>18 val", "and 18 works on the bits of bfloat16 numbers"),
        ("16>20 val exp", "14>20 val exp", "faddiexp 20 works on the bits of bfloat16 numbers"),
        ("20>0 val", "16>0 val", "edge 16 -> 0 carries the bits of a part of a bfloat16 number"),
    ],
)
def test_bits_of_numbers_are_refused(old: str, new: str, message: str) -> None:
    units, edges = POWER.replace(old, new), POWER_EDGES.replace(old, new)
    text = common("union", "4 fp_add\n" + units, SUM + "4>14 val\n" + edges)
    with pytest.raises(FuseloomError) as caught:
        run_text(text, {"b": np.ones(9), "c": np.ones(9)})
    assert message in str(caught.value)
    assert "a node of type exp" in str(caught.value)  # the way out is a test above


@pytest.mark.parametrize(
    ("units", "edges", "message"),
    [
        ("4 exp\n10 add sub=0", "5>4 val\n4>10 val\n6>10 val\n10>0 val", "exp of an operand"),
        ("4 max", SUM + "4>0 val", "max of an operand of a union"),
        ("4 fp_div", SUM + "4>0 val", "div of an operand of a union"),
        ("4 add rb_const=x", "5>4 val\n4>0 val", "rb_const is 'x', no number in float32"),
        ("4 add rb_const=1e39", "5>4 val\n4>0 val", "no number in float32"),
        ("4 add rb_const=3.4028236e38", "5>4 val\n4>0 val", "no number in float32"),
        ("4 fp_div const0=2", "5>4 val\n4>0 val", "does not say which of its operands"),
        ("4 exp in2=3", "5>4 val\n4>0 val", "takes no constant, it has 3"),
        ("4 add in2=3 rb_const=4", "5>4 val\n4>0 val", "has the constants rb_const and in2"),
        ("4 mul rb_const=4", SUM + "4>0 val", "it has 2 and the constant 4"),
        ("4 mul", "5>4 val\n4>0 val", "takes two or more value streams, it has 1"),
        ("4 sub\n10 arrayvals tensor=b", SUM + "7>10 ref out-b\n10>4 val\n4>0 val",
         "sub 4 takes two value streams, it has 3"),
    ],
)  # fmt: skip
def test_units_that_are_refused(units: str, edges: str, message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        run_text(common("union", units, edges), {"b": np.ones(9), "c": np.ones(9)})
    assert message in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("number", ["3.4028234e38", "3.40282347e+38", "-3.4028235e38"])
def test_constants_up_to_the_largest_number_of_float32(number: str) -> None:
    """A decimal that rounds to it is accepted: with eight digits it is printed above itself."""
    text = common("union", f"4 mul rb_const={number}", "5>4 val\n4>0 val")
    run_text(text, {"b": np.ones(9), "c": np.ones(9)})


def test_products_of_a_union_are_dropped_where_an_operand_is_absent() -> None:
    text = common("union", "4 mul", SUM + "4>0 val")
    imported = agrees(text, {"b": (9,), "c": (9,)}, lambda a: a["b"] * a["c"])
    assert "R12" in rules(imported)
