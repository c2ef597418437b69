"""The parameters of tiles: shape, operations, cycles, and axes along a graph."""

from __future__ import annotations

from typing import Any

import pytest

from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.tile_values import (
    TileSpec,
    axes_of_streams,
    elements_per_value,
    flops_per_value,
    interval,
    is_tiled,
    latency,
    node_bytes,
    node_flops,
    tile_of,
    with_tiles,
)


def node(op: str, **params: Any) -> Node:
    return Node(0, op, (), (), params)


PRODUCT = node("binary", fn="mul", tile="ik,kj->ij", block=4)


def test_the_parameter_is_read_as_einsum_writes_it() -> None:
    assert tile_of(PRODUCT) == TileSpec(("ik", "kj"), "ij", 4)
    assert tile_of(node("array", tile="ij", block=2)) == TileSpec(("ij",), "ij", 2)
    assert tile_of(node("array", block=2)) is None
    assert tile_of(node("tilefold", tile="ij->", block=2)) == TileSpec(("ij",), "", 2)


@pytest.mark.parametrize(
    ("spec", "contracts", "shape", "elements", "points"),
    [
        (TileSpec(("ik", "kj"), "ij", 4), True, (4, 4), 16, 64),
        (TileSpec(("ij", "ij"), "ij", 4), False, (4, 4), 16, 16),
        (TileSpec(("ij", "i"), "ij", 3), False, (3, 3), 9, 9),
        (TileSpec(("ij",), "", 5), True, (), 1, 25),
    ],
)
def test_sizes(spec: TileSpec, contracts: bool, shape: tuple, elements: int, points: int) -> None:
    assert (spec.contracts, spec.shape, spec.elements, spec.points) == (
        contracts, shape, elements, points,
    )  # fmt: skip


def test_operations_and_elements_of_a_value() -> None:
    assert flops_per_value(PRODUCT) == 2 * 64 - 16
    assert flops_per_value(node("binary", fn="add", tile="ij,ij->ij", block=4)) == 16
    assert flops_per_value(node("tilefold", fn="add", tile="ij->i", block=4)) == 12
    assert flops_per_value(node("binary", fn="mul")) == 1
    assert elements_per_value(node("array", tile="i", block=8)) == 8
    assert elements_per_value(node("array")) == 1


def test_cycles_of_a_value_and_between_two() -> None:
    assert (latency(PRODUCT), interval(PRODUCT)) == (7, 4)
    assert latency(node("unary", fn="exp", tile="ij", block=4)) == 4
    assert latency(node("array", tile="ij", block=4)) == 16
    assert latency(node("repeat", tile="ij", block=4)) == 1
    assert interval(node("tilefold", fn="add", tile="ij->i", block=4)) == 1
    assert (latency(node("array")), interval(node("array"))) == (1, 1)


def graph(tiled: bool) -> Graph:
    tile: dict[str, Any] = {"tile": "ij", "block": 2} if tiled else {}
    kinds = [StreamKind.REF, StreamKind.VAL, StreamKind.VAL, StreamKind.VAL]
    nodes = (
        Node(0, "source", (), (0,), {"kind": "ref"}),
        Node(1, "array", (0,), (1,), {"tensor": "A", **tile}),
        Node(2, "stopdrop", (1,), (2,)),
        Node(3, "reduce", (2,), (3,), {"fn": "add"}),
        Node(4, "valwrite", (3,), (), {"tensor": "X"}),
    )
    return Graph("small", nodes, tuple(Stream(k, kind, 1) for k, kind in enumerate(kinds)))


def test_what_folds_and_writes_learns_its_size_from_what_comes() -> None:
    plain, tiled = graph(False), graph(True)
    assert (is_tiled(plain), is_tiled(tiled)) == (False, True)
    assert axes_of_streams(tiled) == ("", "ij", "ij", "ij")
    assert axes_of_streams(plain) == ("",) * 4
    assert with_tiles(plain) is plain
    said = with_tiles(tiled)
    assert [node.params.get("tile") for node in said.nodes] == [None, "ij", None, "ij", "ij"]
    assert said.nodes[4].params["block"] == 2
    assert with_tiles(said) == said


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
