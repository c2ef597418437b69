"""Work from counts of tokens, and what tiles and singleton levels make of it."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.work import node_bytes, node_flops


def node(op: str, **params: Any) -> Node:
    return Node(0, op, (), (), params)


def test_a_value_of_a_tile_is_many_numbers() -> None:
    number, tile = node("array"), node("array", tile="ij", block=4)
    assert node_bytes(number, [10], 10, 0) == 40
    assert node_bytes(tile, [10], 10, 0) == 16 * 40
    product = node("binary", fn="mul", tile="ik,kj->ij", block=4)
    assert node_flops(node("binary", fn="mul"), [5, 5], 5) == 5
    assert node_flops(product, [5, 5], 5) == 5 * (2 * 64 - 16)


def test_scanners_read_segments_unless_their_level_has_none() -> None:
    assert node_bytes(node("scan"), [3], 7, 0) == 4 * 7 + 8 * 3
    assert node_bytes(node("scan", singleton=True), [3], 7, 0) == 4 * 7


def test_writers_write_what_they_take_and_the_ends_of_fibers() -> None:
    assert node_bytes(node("crdwrite"), [7], 0, 3) == 4 * 7 + 4 * (3 + 1)
    assert node_bytes(node("valwrite"), [7], 0, 0) == 28
    assert node_flops(node("valwrite"), [7], 0) == 0
