"""The on-chip storage of a graph: the largest rows and trees of folds, and sizes of channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.cost.on_chip import NOT_KNOWN, OnChip, value_bytes
from fuseloom.dataflow.samml.graph import StreamKind

RNG = np.random.default_rng(0)
A, B = (RNG.random((30, 30)) * (RNG.random((30, 30)) < 0.15) for _ in "AB")
PRODUCT = "A: 30x30 csr\nB: 30x30 csr\nT[i,j] = A[i,k] * B[k,j]"


def on_chip(text: str, schedule: str, data: dict[str, object], **options: Any) -> OnChip:
    compiled = fl.compile(fl.parse(text), schedule)
    (region,) = fl.estimate(compiled, data, **options).regions
    return region.on_chip


def test_an_accumulator_of_rows_holds_the_longest_row() -> None:
    longest = int((A @ B != 0).sum(axis=1).max())
    found = on_chip(PRODUCT, "order T: i,k,j", {"A": A, "B": B})
    assert found == OnChip(8.0 * longest, None)  # a coordinate and a value, 4 bytes each


def test_an_accumulator_of_matrices_holds_all_of_them() -> None:
    product = A @ B != 0
    csc = PRODUCT.replace("A: 30x30 csr", "A: 30x30 csc")
    found = on_chip(csc, "order T: k,i,j", {"A": A, "B": B})
    held = 4 * int(product.any(axis=1).sum()) + 8 * int(product.sum())
    assert found.held == held


def test_a_reducer_holds_nothing() -> None:
    csc = PRODUCT.replace("B: 30x30 csr", "B: 30x30 csc")
    assert on_chip(csc, "order T: i,j,k", {"A": A, "B": B}).held == 0.0


def test_tiles_are_held_whole() -> None:
    data = {"A": RNG.random((32, 32)), "B": RNG.random((32, 32))}
    text = PRODUCT.replace("30x30", "32x32")
    found = on_chip(text, "order T: i,k,j; block 16", data)
    assert found.held == 2 * (4 + 4 * 256)  # two tiles in a row, each with a coordinate


def test_channels_have_the_room_that_they_are_given() -> None:
    compiled = fl.compile(fl.parse(PRODUCT), "order T: i,k,j")
    graph = compiled.regions[0].graph
    machine = fl.Machine(channel_capacity=5)
    (region,) = fl.estimate(compiled, {"A": A, "B": B}, machine=machine).regions
    assert region.on_chip.channels == 5 * 4 * len(graph.streams)
    assert region.on_chip.total == region.on_chip.channels + (region.on_chip.held or 0)
    sized = compiled.sized(3)
    (region,) = fl.estimate(sized, {"A": A, "B": B}).regions
    room = sum(s.capacity or 0 for s in sized.regions[0].graph.streams)
    assert region.on_chip.channels == 4 * room


def test_tokens_of_blocked_graphs_are_tiles() -> None:
    text = PRODUCT.replace("30x30", "32x32")
    graph = fl.compile(fl.parse(text), "block 16").regions[0].graph
    sizes = value_bytes(graph)
    values = {sizes[s.id] for s in graph.streams if s.kind is StreamKind.VAL}
    assert values == {4 * 256}
    assert {sizes[s.id] for s in graph.streams if s.kind is not StreamKind.VAL} == {4}


def test_nothing_is_known_from_statistics() -> None:
    assert on_chip(PRODUCT, "", {"A": A, "B": B}, mode="metadata") == NOT_KNOWN
    assert NOT_KNOWN.total is None


def test_what_a_node_holds_is_explained() -> None:
    compiled = fl.compile(fl.parse(PRODUCT), "order T: i,k,j")
    estimate = fl.estimate(compiled, {"A": A, "B": B})
    node = next(n for n in estimate.regions[0].nodes if n.held)
    assert "held on chip" in str(estimate.why("T", node.node))
    assert sum(n.held for n in estimate.regions[0].nodes) == pytest.approx(
        estimate.regions[0].on_chip.held
    )
