"""Parts of outputs: all of them, drawn ones, and the parts that they consume."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.annotated import annotate
from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.language.annotation import Annotation
from fuseloom.calls.language.reader import read_annotation
from fuseloom.calls.polynomials import DataField, Symbol
from fuseloom.calls.sampled_parts import (
    drawn_parts,
    environment,
    every_part,
    extents,
    loop_ranges,
    size_choices,
)

TILES = """n: Symbolic m: Symbolic
for i in [0, out.rows, n] { for j in [0, out.cols, m] {
  produces { out { row: i, col: j, rows: n, cols: m } }
  when consumes { a { row: i, col: j, rows: n + 2, cols: m + taps - 1 } }
}}"""
KNOWN = {DataField("out", "rows"): 7, DataField("out", "cols"): 5, Symbol("taps"): 3}
KINDS = {"a": Matrix(), "out": Matrix()}


def tiles() -> Annotation:
    return read_annotation(TILES)


@pytest.mark.parametrize("rows", range(1, 9))
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 11])
def test_all_parts_are_all_of_the_output_once(rows: int, columns: int) -> None:
    times = np.zeros((7, 5), int)
    for part in every_part(tiles(), KINDS, KNOWN, {"n": rows, "m": columns}):
        row, col, height, width = part.produced.values()
        assert part.consumed["a"] == {"row": row, "col": col, "rows": height + 2, "cols": width + 2}
        times[row : row + height, col : col + width] += 1
    assert (times == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_drawn_parts_are_whole_small_last_and_clipped(seed: int) -> None:
    drawn = list(drawn_parts(tiles(), KINDS, KNOWN, 40, np.random.default_rng(seed)))
    found = [tuple(part.produced.values()) for part in drawn]
    assert found[:3] == [(0, 0, 7, 5), (0, 0, 1, 1), (6, 4, 1, 1)]
    for row, col, height, width in found:
        assert 0 <= row < row + height <= 7
        assert 0 <= col < col + width <= 5
    assert len(set(found)) > 20
    assert {row % 2 for row, _, height, _ in found if height == 2} == {0, 1}, "parts begin anywhere"
    assert {height for _, _, height, _ in found} >= {1, 7}


def test_a_step_that_is_a_number_gives_its_own_places() -> None:
    read = read_annotation(
        "for i in [1, 12, 4] { produces { out { start: i, len: 4 } } when consumes { } }"
    )
    parts = drawn_parts(read, {}, {}, 30, np.random.default_rng(0))
    assert {part.produced["start"] for part in parts} == {1, 5, 9}
    assert [part.produced["len"] for part in every_part(read, {}, {}, {})] == [4, 4, 4]


def test_an_input_that_is_named_twice_is_consumed_as_one_part() -> None:
    read = read_annotation(
        "produces { out { start: 0, len: 1 } } "
        "when consumes { a { start: 7, len: 2 }, a { start: 3, len: 1 } }"
    )
    (part,) = every_part(read, {"a": Vector()}, {}, {})
    assert part.consumed == {"a": {"start": 3, "len": 6}}


def test_what_is_known_is_of_whole_data_and_integers() -> None:
    function = annotate(lambda a, taps, word, out: None, TILES, name="f")
    data = {"a": np.zeros((9, 8)), "out": np.zeros((7, 6)), "taps": 3, "word": "x"}
    known = environment(function, KINDS, data)
    assert known[Symbol("taps")] == 3
    assert known[DataField("a", "cols")] == 8
    assert Symbol("word") not in known


def test_sizes_reach_to_the_ends_of_loops() -> None:
    assert extents(tiles(), KNOWN) == {"n": 7, "m": 5}
    sizes = size_choices(
        tiles(), {**KNOWN, DataField("out", "rows"): 9000}, np.random.default_rng()
    )
    assert sizes[0] == {"n": 9000, "m": 5}
    few = loop_ranges(tiles(), {**KNOWN, DataField("out", "rows"): 9000}, sizes[2])
    assert 5 < np.prod([len(range(x.start, x.end, x.step)) for x in few]) < 200
    assert 9000 % sizes[1]["n"] != 0


def test_a_part_is_printed_with_its_variables() -> None:
    part = next(every_part(tiles(), KINDS, KNOWN, {"n": 4, "m": 4}))
    assert str(part) == "{row: 0, col: 0, rows: 4, cols: 4} (n = 4, m = 4, i = 0, j = 0)"
