"""Lists, tables and trees."""

from __future__ import annotations

import math

from fuseloom.calls.library.records import ROWS
from tests.calls.library.computed import close, computed


def test_lists_of_texts() -> None:
    out, arguments = computed("upper_case", 0)
    assert out == [text.upper() for text in arguments["a"]]
    assert out != arguments["a"]
    out, arguments = computed("lengths", 0)
    assert out.tolist() == [len(text) for text in arguments["a"]]


def test_a_table() -> None:
    row = next(row for row in ROWS if row.name == "sigmoid_of_table")
    arguments = row.example(0)
    part = row.kinds["a"].query(arguments["a"], {"start": 1, "len": 4})
    row.function(part, 2, arguments["out"][1:5])
    asked = "SELECT x, y FROM measured WHERE number BETWEEN 1 AND 4 ORDER BY number"
    wanted = [[1 / (1 + math.exp(-x)) for x in pair] for pair in arguments["a"].execute(asked)]
    assert close(arguments["out"][1:5], wanted)
    assert not arguments["out"][5:].any()


def test_boxes_of_a_tree() -> None:
    out, arguments = computed("boxes_that_meet", 0)
    tree = arguments["tree"]
    assert sorted(tree.numbers[out]) == tree.search(arguments["window"]).tolist()
    assert 0 < out.sum() < (tree.numbers >= 0).sum()
