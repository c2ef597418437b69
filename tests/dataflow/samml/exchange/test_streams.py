"""The properties of a wire that follow from the parts behind it."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.exchange.streams import (
    ancestors,
    levels_behind,
    maybe_empty,
    peel,
    raw,
    tensors_behind,
    wires_of,
)
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput, Wiring
from fuseloom.program import parse


def scanned(
    wiring: Wiring, tensor: str, root: DraftOutput, level: int = 0
) -> tuple[DraftOutput, DraftOutput]:
    crd, ref = wiring.add("scan", (root,), None, {"tensor": tensor, "level": level}, tensor)
    return crd, ref


def test_copies_and_droppers_are_peeled_off() -> None:
    wiring = Wiring()
    (root,) = wiring.add("root", ())
    outer, rows = scanned(wiring, "A", root)
    inner, _ = scanned(wiring, "A", rows, 1)
    one, two = wiring.add("broadcast", (outer,), 2)
    kept_inner, kept_outer = wiring.add("crddrop", (inner, two))
    assert peel(one) == outer
    assert peel(kept_inner) == inner
    assert peel(kept_outer) == kept_outer  # it may have lost coordinates
    assert raw(kept_outer) == outer
    assert levels_behind(kept_outer) == [outer, inner]
    assert len(ancestors(kept_inner)) == 5


def test_below_a_compressed_level_no_fiber_is_empty() -> None:
    wiring = Wiring()
    (root,) = wiring.add("root", ())
    outer, rows = scanned(wiring, "A", root)
    inner, _ = scanned(wiring, "A", rows, 1)
    assert maybe_empty(outer)
    assert not maybe_empty(outer, tensors=False)
    assert not maybe_empty(inner)
    dense, places = wiring.add("dense_scan", (root,), None, {"tensor": "B", "level": 0, "dim": 4})
    below, _ = scanned(wiring, "B", places, 1)
    assert not maybe_empty(dense)
    assert maybe_empty(below, tensors=False)


def test_values_know_the_tensors_they_are_made_of() -> None:
    compiled = compile_program(parse("A: 4x6 csr\nB: 6x5 csr\nC[i,j] = A[i,k] * B[k,j]"))
    graph = compiled.regions[0].graph
    wires = wires_of(graph)
    assert set(wires) == {stream.id for stream in graph.streams}
    for stream, wire in wires.items():
        assert wire.part.op == graph.nodes[graph.producer[stream]].op
    written = next(n for n in graph.nodes if n.op == "valwrite")
    found = {key.partition("@")[0] for key in tensors_behind(wires[written.inputs[0]])}
    assert found == {"A", "B"}


@pytest.mark.parametrize(("joiner", "empty"), [("union", False), ("intersect", True)])
def test_joined_fibers(joiner: str, empty: bool) -> None:
    """Of two levels without empty fibers the union has none; an intersection may."""
    wiring = Wiring()
    (root,) = wiring.add("root", ())
    operands: list[DraftOutput] = []
    for name in "AB":
        _, rows = scanned(wiring, name, root)
        operands += scanned(wiring, name, rows, 1)
    crd = wiring.add(joiner, operands, 3, {"gate": 0} if joiner == "union" else {})[0]
    assert maybe_empty(crd) is empty
