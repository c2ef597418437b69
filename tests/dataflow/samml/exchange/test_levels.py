"""The origin of coordinates: a stream's scanner, names of indices, sizes of outputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.exchange.levels import (
    accumulator_order,
    dense_levels,
    guessed_tensor,
    index_names,
    origin,
    tensors_of,
    written_tensor,
)
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.program import parse
from fuseloom.program.formats import LevelFormat

TEXT = "A: 4x6 csr\nB: 6x5 csr\nC[i,j] = A[i,k] * B[k,j]"
COMPILED = compile_program(parse(TEXT))
GRAPH, NAMED = COMPILED.regions[0].graph, COMPILED.program.by_name


def writers(graph: Graph) -> dict[int, Node]:
    return {int(n.params["level"]): n for n in graph.nodes if n.op == "crdwrite"}


def test_written_coordinates_lead_back_to_the_scanner_that_made_them() -> None:
    """Through copies, droppers and the accumulator."""
    for level, (tensor, number) in {0: ("A", 0), 1: ("B", 1)}.items():
        home = origin(GRAPH, writers(GRAPH)[level].inputs[0])
        assert home is not None
        assert home.node.params["tensor"].partition("@")[0] == tensor
        assert home.node.params["level"] == number
        assert home.size(NAMED) == {0: 4, 1: 5}[level]
    assert origin(GRAPH, next(n for n in GRAPH.nodes if n.op == "array").outputs[0]) is None


def test_the_order_of_an_accumulator_is_in_its_name() -> None:
    assert [accumulator_order(op) for op in ("spacc1", "spacc6", "reduce", "spacc", "spacc12")] == [
        1, 6, 0, 0, 0,
    ]  # fmt: skip


def test_streams_of_one_index_share_its_name() -> None:
    names = index_names(GRAPH)
    assert set(names.values()) == {"i", "k", "j"}
    assert names[writers(GRAPH)[0].inputs[0]] == "i"
    assert names[writers(GRAPH)[1].inputs[0]] == "j"


def test_joined_levels_have_one_name_and_nameless_ones_a_new_one() -> None:
    both = compile_program(parse("A: 5 dcsr\nB: 5 dcsr\nC[i] = A[i] * B[i]".replace("dcsr", "dc")
                                 .replace("5 dc", "5 compressed")))  # fmt: skip
    graph = both.regions[0].graph
    bare = replace(graph, nodes=tuple(replace(n, origin="") for n in graph.nodes))
    assert len(set(index_names(bare).values())) == 1
    assert set(index_names(bare).values()) <= set("ijklmnpqrstuv")


def test_what_a_graph_reads_and_writes() -> None:
    reads, writes = tensors_of(GRAPH)
    assert [key.partition("@")[0] for key in reads] == ["A", "B"]
    assert writes == ("C",)


def test_outputs_are_as_large_as_what_they_are_made_of() -> None:
    assert written_tensor(GRAPH, "C", NAMED, ()).shape == (4, 5)
    assert written_tensor(GRAPH, "C", NAMED, (1, 0)).shape == (5, 4)
    unknown = written_tensor(GRAPH, "C", {}, ())
    assert unknown.shape[1] == 2**31 - 1  # nobody says how large B is


@pytest.mark.parametrize(("name", "shape"), [("A", (4, 6)), ("B", (6, 5))])
def test_formats_are_guessed_from_the_nodes(name: str, shape: tuple[int, int]) -> None:
    guessed = guessed_tensor(GRAPH, name, shape)
    assert guessed.shape == shape
    assert guessed.format.levels == (LevelFormat.DENSE, LevelFormat.COMPRESSED)


def test_what_only_values_are_read_of_is_dense() -> None:
    assert guessed_tensor(GRAPH, "Z", (3,)).format.all_dense


LAYER = "A: 6x5 dcsr\nB: 5x4 dense\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])"


def test_levels_without_a_writer_are_dense() -> None:
    made = compile_program(
        parse(LAYER),
        "store T compressed,dense",
    )
    first, second = (region.graph for region in made.regions)
    assert dense_levels(first, "T", made.program.by_name) == (1,)
    assert dense_levels(second, "Y", made.program.by_name) == ()
    assert dense_levels(first, "T", {}) == ()
