"""Blocked indices in a table: axes of values, extents in blocks, and work inside tiles."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.table import tile_axes
from fuseloom.dataflow.table.tile_axes import Tiles
from fuseloom.program import block_program, parse
from tests.dataflow.samml.passes import indices


def test_a_product_factor_by_factor_keeps_what_later_ones_need() -> None:
    assert tile_axes.chain_of(["ik", "kj"], "ij") == ("ik,kj->ij",)
    assert tile_axes.chain_of(["ik", "kl", "lj"], "ij") == ("ik,kl->il", "il,lj->ij")
    assert tile_axes.chain_of(["ik", "kj", "k"], "ij") == ("ik,kj->ikj", "ikj,k->ij")
    assert tile_axes.chain_of(["", "j"], "j") == (",j->j",)


def test_letters_are_an_index_own_where_free() -> None:
    assert tile_axes.letters_of(("i", "j")) == {"i": "i", "j": "j"}
    assert tile_axes.letters_of(("i1", "i2", "i3")) == {"i1": "i", "i2": "I", "i3": "a"}
    many = [f"x{k}" for k in range(20)]
    assert len(set(tile_axes.letters_of(many).values())) == 20


def test_nothing_is_done_where_there_are_no_axes() -> None:
    assert tile_axes.step_of(["", ""], "") == ""
    assert tile_axes.step_of(["i", ""], "") == "i,->"


@pytest.mark.parametrize("edge", [1, 2])
def test_a_table_counts_blocked_indices_in_blocks(edge: int) -> None:
    program = parse("A: 4x4 csr\nX: 4x4 dense\nT[i,j] = A[i,k] * X[k,j]")
    if edge > 1:
        program = block_program(program, edge)
    assert Tiles(program).edge == edge
    assert Tiles(program).extents([], {"i": 4}) == {"i": 4}
    graph = compile_program(program).regions[0].graph
    tiles = {n.op: n.params.get("tile") for n in graph.nodes if n.op in ("array", "binary")}
    assert set(indices(graph)) == {"i", "k", "j"}
    dims = {n.params["dim"] for n in graph.nodes if "dim" in n.params}
    assert dims == {4 // edge}
    assert tiles["binary"] == (None if edge == 1 else "ik,kj->ij")
