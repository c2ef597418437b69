"""Notebook 15: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.comparison.rows import FusionSystem
from fuseloom_workbench.notebook.course.five_ways import (
    EXERCISES,
    FIGURE_PAIRS,
    GOALS,
    SPARSE_STATEMENTS,
    UNSETTLED,
    compared,
    counted_assignments,
    dense_refusal_of,
    kernels_of,
    nest_of,
    row_of,
    simulated_multiplications,
    stored_elements,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

CHOSEN = {
    "a": ("dataflow", "full"),
    "b": ("stitch", "stitched"),
    "c": ("calls", "fused"),
    "d": ("contraction", "fused"),
}
ANSWERS: dict[str, tuple[Any, Any]] = {
    "15.1": (
        "dataflow, access, calls, stitch",
        [("dataflow, contraction", "contraction is not among them"),
         ("dataflow, stitch", "2 more are missing"), (4, "is no set of names")],
    ),
    "15.2": (
        "b, e, m",
        [("e, m", "1 more is missing"), ("b, e, m, r", "r is not among them"),
         ("b, e, m, s", "s is not among them")],
    ),
    "15.3": (
        np.ones((8, 8)),
        [(np.tril(np.ones((8, 8))), "x has no dense meaning: a maximum skips elements"),
         (np.ones((4, 4)), "M has shape 8x8"), ("ones", "this is no array")],
    ),
    "15.4": (
        "S R",
        [("S, C, R", "C is not among them"), ("S, R, O", "O is not among them"),
         ("R", "1 more is missing")],
    ),
    "15.5": (
        12_544,
        [(16_640, "16640 bytes are too many"), (12_288, "12288 bytes are too few"),
         (8_192, "too few")],
    ),
    "15.6": (
        4_624,
        [(14_688, "14688 multiplications are too many"), (2_976, "too few"), (9_248, "too many")],
    ),
    "15.7": (3.18, [(0.31, "too few"), (6.35, "too many"), (3.1, "3.1 times is too few")]),
    "15.8": (
        np.int64(18_032),
        [(2_254, "too few"), (21_008, "too many"), (4_624, "4624 times is too few")],
    ),
    "15.9": (4.54, [(3.9, "too few"), (1, "1 time is too few"), (5.54, "too many")]),
    "15.10": (5, [(4, "4 times is too few"), (4.25, "too few"), (34, "too many")]),
    "15.11": (320, [(16, "too few"), (2_560, "too many"), ("20,480", "is no number")]),
    "15.12": (
        "a, d, f",
        [("a, b, d, f", "b is not among them"), ("a, d, f, g", "g is not among them"),
         ("a", "2 more are missing")],
    ),
    "15.13": (
        CHOSEN,
        [({**CHOSEN, "a": ("stitch", "stitched")},
          "goal a: stitch, stitched has 3 kernels, and another row has fewer"),
         ({**CHOSEN, "b": ("dataflow", "full")}, "dataflow, full is of the dataflow machine"),
         ({**CHOSEN, "d": ("dataflow", "full")}, "goal d: dataflow, full computes 4.54 times")],
    ),
}  # fmt: skip


test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


@pytest.mark.parametrize(
    ("key", "answer", "said"),
    [
        ("15.3", [[1.0]], "this is no array"),
        ("15.3", np.zeros((8, 8)), "x has no dense meaning"),
        ("15.13", "dataflow, full", "this is no dict"),
        ("15.13", {"a": ("dataflow", "full"), "b": ...}, "goal b has no row yet"),
        ("15.13", {**CHOSEN, "a": ("dataflow", "found")}, "depends on a time limit"),
        ("15.13", {**CHOSEN, "a": "dataflow"}, "dataflow is no row: write (system, way)"),
        (
            "15.13",
            {**CHOSEN, "b": ("contraction", "fused")},
            "does not apply: C[i,j] is made",
        ),
        ("15.13", {**CHOSEN, "c": ("stitch", "stitched")}, "8,192 bytes, and another row"),
        ("15.13", {**CHOSEN, "d": ("access", "mapped")}, "does not say what it computes again"),
        ("15.13", {**CHOSEN, "d": ["dataflow", ["full"]]}, "is no row"),
    ],
)
def test_other_answers_are_refused_in_words(key: str, answer: object, said: str) -> None:
    verdict = check(key, answer)
    assert not verdict.ok
    assert said in verdict.problem


def test_other_right_answers_are_accepted() -> None:
    assert check("15.1", ["stitch", "calls", "access", "dataflow"]).ok
    assert check("15.3", np.full((8, 8), -2.0)).ok
    assert check("15.7", 29_376 / 9_248).ok
    assert check("15.13", {letter: list(row) for letter, row in CHOSEN.items()}).ok


def test_numbers_of_the_text() -> None:
    """Numbers that the notebook states, each derived by hand."""
    assert simulated_multiplications("gcn_layer") == 206 * 8 + 372 * 8
    assert counted_assignments("gcn_layer") == {"T": 206 * 8, "Y": 372 * 8}
    assert sum(counted_assignments("gcn_layer", "n-ary").values()) == 18_032
    assert row_of("gcn_layer", "dataflow", "full").recompute == (18_032 + 2_976) / 4_624
    rules, stitched = (row_of("attention_block", "stitch", x) for x in ("XLA's rules", "stitched"))
    assert rules.flops is not None
    assert stitched.flops is not None
    assert rules.flops - stitched.flops == 32 * 32
    assert row_of("attention_block", "calls", "fused").bytes_between == 4_160
    assert row_of("mttkrp", "contraction", "fused").bytes_between == 8 * 8
    assert "B: " in stored_elements("mttkrp")


def test_what_is_printed_is_what_the_systems_do() -> None:
    assert [row.system for row in compared("gcn_layer").rows if row.way in UNSETTLED] == [
        FusionSystem.DATAFLOW, FusionSystem.CALLS,
    ]  # fmt: skip
    assert kernels_of("attention_block")["XLA's rules"] == [
        ["S"], ["C", "x"], ["C", "d", "e"], ["s"], ["R"], ["O"],
    ]  # fmt: skip
    assert str(nest_of("mttkrp", "fused")).count("where") == 1
    assert dense_refusal_of(SPARSE_STATEMENTS["p"]) == ""
    assert "exp is applied" in dense_refusal_of(SPARSE_STATEMENTS["e"])


def test_pairs_and_goals_are_of_rows_that_there_are() -> None:
    for pair in FIGURE_PAIRS.values():
        for one in pair:
            row = row_of(one.program, one.system, one.way)
            assert getattr(row, one.column) is not None
    assert str(FIGURE_PAIRS["f"][0]) == "gcn_layer by calls, unfused: measured"
    assert str(GOALS["a"]) == "attention_block: the fewest kernels"
