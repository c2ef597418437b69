"""Functions of lists, of tables of databases, and of trees of boxes, by ranges of their rows."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from fuseloom.calls.data_kinds import Items, Matrix, Vector
from fuseloom.calls.library.library_call import VECTORISED, Array, LibraryCall
from fuseloom.calls.packed_tree import PackedTree, TreePart, Window, boxes_meet
from fuseloom.calls.stored_kinds import DatabaseRows, TreeLeaves

ITEMS = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { a { start: i, len: n } }
}"""
TABLE = """
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: width } }
  when consumes { a { start: i, len: n } }
}"""
LEAVES = """
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: capacity } }
  when consumes { tree { node: i, nodes: n } }
}"""


def upper_case(a: list[str], out: list[str]) -> None:
    """Each text in upper case."""
    for number, text in enumerate(a):
        out[number] = text.upper()


def lengths(a: list[str], out: Array) -> None:
    """The length of each text."""
    out[...] = [len(text) for text in a]


def sigmoid_of_table(a: Array, width: int, out: Array) -> None:
    """The logistic function of each number of a table."""
    np.divide(1.0, 1.0 + np.exp(-a), out=out)


def boxes_that_meet(tree: TreePart, window: Window, capacity: int, out: Array) -> None:
    """True for each box of a tree's leaves that meets a window."""
    near = boxes_meet(tree.bounds, window)
    out[...] = False
    out[near] = boxes_meet(tree.boxes[near], window)


def _texts(rng: np.random.Generator) -> list[str]:
    count = int(rng.integers(7, 20))
    return ["".join(rng.choice(list("abcdefgh"), rng.integers(3, 9))) for _ in range(count)]


def _upper(rng: np.random.Generator) -> dict[str, Any]:
    texts = _texts(rng)
    return {"a": texts, "out": [""] * len(texts)}


def _lengths(rng: np.random.Generator) -> dict[str, Any]:
    texts = ["x" * int(n) for n in rng.permutation(40)[: len(_texts(rng))]]
    return {"a": texts, "out": np.zeros(len(texts), np.int64)}


def _table(rng: np.random.Generator) -> dict[str, Any]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE measured (number INTEGER PRIMARY KEY, x REAL, y REAL)")
    values = rng.normal(size=(int(rng.integers(7, 20)), 2))
    rows = [(number, float(x), float(y)) for number, (x, y) in enumerate(values)]
    connection.executemany("INSERT INTO measured VALUES (?, ?, ?)", rows)
    return {"a": connection, "width": 2, "out": np.zeros(values.shape)}


def _tree(rng: np.random.Generator) -> dict[str, Any]:
    corners = rng.uniform(0, 10, (int(rng.integers(40, 60)), 2))
    boxes = np.hstack([corners, corners + rng.uniform(0, 2, corners.shape)])
    tree = PackedTree(boxes, capacity=3)
    out = np.zeros(tree.numbers.shape, np.bool_)
    return {"tree": tree, "window": (3.0, 2.0, 8.0, 7.0), "capacity": 3, "out": out}


ROWS = (
    LibraryCall(
        "upper_case", "Each text of a list in upper case.", upper_case, ITEMS, ("a", "out"),
        {"a": Items(), "out": Items()}, _upper,
    ),
    LibraryCall(
        "lengths", "The length of each text of a list.", lengths, ITEMS, ("a", "out"),
        {"a": Items(), "out": Vector(np.int64)}, _lengths,
    ),
    LibraryCall(
        "sigmoid_of_table", "The logistic function of each number of a table of SQLite.",
        sigmoid_of_table, TABLE, ("a", "width", "out"),
        {"a": DatabaseRows("measured", ("x", "y"), "number"), "out": Matrix()}, _table, VECTORISED,
    ),
    LibraryCall(
        "boxes_that_meet", "True for each box of a tree's leaves that meets a window.",
        boxes_that_meet, LEAVES, ("tree", "window", "capacity", "out"),
        {"tree": TreeLeaves(), "out": Matrix(np.bool_)}, _tree,
    ),
)  # fmt: skip
"""The rows of this subject."""
