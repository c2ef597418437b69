"""Attributes: values, their text, and windows."""

from __future__ import annotations

from typing import Any

import pytest

from fuseloom.errors import ParseError
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.hlo.attributes import (
    WindowDimension,
    called,
    print_attribute,
    read_attribute,
)
from fuseloom.stitch.hlo.scanner import HloScanner
from fuseloom.stitch.shapes import TensorShape

W = WindowDimension


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("dimensions", "{0,2}", (0, 2)), ("dimensions", "{}", ()), ("index", "3", 3),
        ("is_stable", "true", True), ("largest", "false", False), ("direction", "LT", "LT"),
        ("epsilon", "0.001", 0.001), ("to_apply", "region_0.1", "region_0.1"),
        ("branch_computations", "{a.1, b-2}", ("a.1", "b-2")), ("calls", "{}", ()),
        ("slice", "{[0:4], [2:8:2]}", ((0, 4, 1), (2, 8, 2))), ("slice", "{}", ()),
        ("padding", "0_1x-2_2_1", ((0, 1, 0), (-2, 2, 1))),
        ("window", "{}", ()), ("window", "{size=3x1}", (W(3), W(1))),
        ("window", "{size=3x2 stride=2x1 pad=1_0x0_-1 lhs_dilate=1x2 rhs_dilate=3x1 "
                   "rhs_reversal=1x0}",
         (W(3, 2, 1, 0, 1, 3, 1), W(2, 1, 0, -1, 2, 1, 0))),
        ("dim_labels", "b01f_01io->b01f", "b01f_01io->b01f"), ("exponent_bits", "5", 5),
        ("custom_call_target", '"Sharding"', "Sharding"), ("slice_sizes", "{1,6}", (1, 6)),
        ("backend_config", '{"a":["2"]}', '{"a":["2"]}'), ("sharding", "{replicated}",
                                                          "{replicated}"),
        ("replica_groups", "[2,4]<=[8]", "[2,4]<=[8]"), ("opaque", '"a\\""', 'a\\"'),
    ],
)  # fmt: skip
def test_text_and_values(name: str, text: str, value: Any) -> None:
    assert read_attribute(HloScanner(text), name) == value
    assert print_attribute(name, value) == f"{name}={text}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("to_apply", "%region_0.1", "region_0.1"), ("branch_computations", "{%a,%b}", ("a", "b")),
        ("dimensions", "{ 0, /*index=1*/ 2 }", (0, 2)), ("slice", "{[0:4:1]}", ((0, 4, 1),)),
        ("epsilon", "1e-05", 1e-5),
    ],
)  # fmt: skip
def test_other_texts_of_the_same_values(name: str, text: str, value: Any) -> None:
    assert read_attribute(HloScanner(text), name) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dimensions", "0"), ("dimensions", "{a}"), ("dimensions", "{0,}"), ("index", "{0}"),
        ("index", "9" * 19), ("is_stable", "yes"), ("slice", "{[4:0]}"), ("slice", "{[0:4:0]}"),
        ("slice", "{[0:1:2:3]}"), ("slice", "{0:4}"), ("padding", "0_1_-1"), ("padding", "{0}"),
        ("window", "{size=3x3 pad=1_1}"), ("window", "{stride=2}"), ("window", "{size=3 stride=0}"),
        ("window", "{size=3 more=1}"), ("window", "{size=x}"), ("dim_labels", "bf"),
        ("to_apply", "{a"), ("epsilon", "much"), ("direction", "{LT}"), ("calls", "a b"),
    ],
)  # fmt: skip
def test_texts_that_are_no_values(name: str, text: str) -> None:
    scanner = HloScanner(f"\n {text}")
    with pytest.raises(ParseError) as caught:
        read_attribute(scanner, name)
    assert (caught.value.line, caught.value.column) == (2, 2)


@pytest.mark.parametrize(
    ("window", "extent"),
    [
        (W(3), 8), (W(3, 2, 1, 1), 8), (W(2, 1, 0, 0, 3), 5), (W(3, 1, 0, 0, 1, 2), 8), (W(9), 8),
        (W(3, 2, -1, 0), 8), (W(1), 0), (W(3, 1, 2, 2), 0), (W(0), 4),
    ],
)  # fmt: skip
def test_places_of_windows_are_counted(window: W, extent: int) -> None:
    base = max(extent + (extent - 1) * (window.base_dilation - 1), 0) + window.low + window.high
    places = [
        start
        for start in range(0, base, window.stride)
        if start + (window.size - 1) * window.window_dilation < base
    ]
    assert window.outputs(extent) == (len(places) if window.size else 0)


def test_called_computations_in_order() -> None:
    shape = TensorShape("f32", ())
    attributes = {"branch_computations": ("a", "b", "a"), "to_apply": "c", "dimensions": (0,)}
    assert called(DenseOperation("x", "what", shape, (), attributes)) == ("c", "a", "b")
