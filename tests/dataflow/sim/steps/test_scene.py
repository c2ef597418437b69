"""Words for tokens, and the scenes that words are made of."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Stream, StreamKind
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.steps import record
from fuseloom.dataflow.sim.steps.scene import closes, listed, named, number, ordinal, scenes, short
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, REPEAT, Stop

F32 = np.float32
TILE = np.zeros((2, 3), F32)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (3, "3"),
        (F32(-0.5), "−0.5"),
        (Stop(1), "S1"),
        (EMPTY, "N"),
        (REPEAT, "R"),
        (TILE, "2×3 tile"),
    ],
)
def test_a_token_on_an_edge(token: object, text: str) -> None:
    assert short(token) == text


def test_numbers_in_words() -> None:
    assert number(F32(1 / 3)) == "0.33333"
    assert number(F32(-2)) == "−2"
    assert number(TILE) == "a tile of 2 × 3"


def test_names_say_what_a_number_is() -> None:
    assert named(3, Stream(0, StreamKind.CRD, 1, indices=("i", "k"))) == "k = 3"
    assert named(3, Stream(0, StreamKind.CRD, 1)) == "coordinate 3"
    assert named(3, Stream(0, StreamKind.REF, 1, indices=("i",))) == "reference 3"
    assert named(F32(2.5), Stream(0, StreamKind.VAL, 1)) == "value 2.5"
    assert named(DONE, Stream(0, StreamKind.VAL, 1)) == "D"
    assert named(3, None) == "3"
    assert named(1122, Stream(0, StreamKind.REF, 1)) == "reference 1,122"


def test_lists_and_ordinals() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdef")) == "a, b, c and 3 more"
    assert [ordinal(0), ordinal(8)] == ["first", "9th"]
    assert closes(Stop(2)) == "ends the fiber and 2 around it"


def test_scenes_pair_what_comes_in_different_cycles() -> None:
    bound = bench_graph("binary", "2@1 S0@2 D@3", "3@5 S0@6 D@7", params={"fn": "mul"})
    recording = record(bound, Machine.default())
    pairs = [(scene.cycle, list(scene.rounds())) for scene in scenes(recording, 0)]
    assert pairs[:3] == [(1, []), (5, [(2, 3)]), (6, [(Stop(0), Stop(0))])]


def test_heads_are_tokens_that_have_arrived() -> None:
    bound = bench_graph(
        "intersect", "0@1 S0@2 D@3", "0@1 S0@2 D@3", "4@1 S0@8 D@9", "0@1 S0@8 D@9", outputs=3
    )
    recording = record(bound, Machine.default())
    first = next(iter(scenes(recording, 0)))
    assert first.taken[0] == (0,)
    assert first.heads == (None, None, 4, 0)
