"""Tables and trees as kinds of data: parts, and what is refused."""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.packed_tree import PackedTree
from fuseloom.calls.stored_kinds import DatabaseRows, TileDbMatrix, TreeLeaves
from fuseloom.errors import DataError, ProgramError


def table(rows: list[tuple[Any, ...]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE "my ""table" ("the id" INTEGER, x, y)')
    connection.executemany('INSERT INTO "my ""table" VALUES (?, ?, ?)', rows)
    return connection


ROWS = DatabaseRows('my "table', ("y", "x"), "the id")


def test_rows_of_tables_come_in_order() -> None:
    connection = table([(2, 5, 6), (0, 1, 2), (1, 3, 4)])
    assert ROWS.whole(connection) == {"start": 0, "len": 3}
    assert ROWS.query(connection, {"start": 1, "len": 2}).tolist() == [[4, 3], [6, 5]]
    assert ROWS.query(connection, {"start": 1, "len": 0}).shape == (0, 2)
    with pytest.raises(ProgramError, match="input"):
        ROWS.allocate({"start": 0, "len": 1})


@pytest.mark.parametrize(
    ("rows", "fields", "words"),
    [
        ([(0, 1, 2)], {"start": 0, "len": 2}, "1 rows where 2 are read from 0"),
        ([(0, 1, 2), (2, 1, 2)], {"start": 0, "len": 2}, "1 rows where 2"),
        ([(-1, 1, 2)], {"start": -1, "len": 1}, "from -1 on"),
        ([(0, "one", 2)], {"start": 0, "len": 1}, "no number"),
    ],
)
def test_bad_rows_of_tables(
    rows: list[tuple[Any, ...]], fields: dict[str, int], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        ROWS.query(table(rows), fields)


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"other is not read: no such table"):
        DatabaseRows("other", ("x",), "id").whole(table([]))


def test_names_of_tables_are_no_statements() -> None:
    connection = table([(0, 1, 2)])
    bad = DatabaseRows('my "table" WHERE 0; DROP TABLE "x', ("x",), "the id")
    with pytest.raises(DataError, match="no such table"):
        bad.query(connection, {"start": 0, "len": 1})
    assert ROWS.whole(connection)["len"] == 1


def test_a_list_is_no_table() -> None:
    with pytest.raises(DataError, match="connection of sqlite3, not a list"):
        ROWS.whole([1])


def tree() -> PackedTree:
    corners = np.random.default_rng(3).uniform(0, 10, (50, 2))
    return PackedTree(np.hstack([corners, corners + 1]), capacity=4)


def test_parts_of_trees_are_leaves() -> None:
    made = tree()
    assert TreeLeaves().whole(made) == {"node": 0, "nodes": 13}
    part = TreeLeaves().query(made, {"node": 11, "nodes": 2})
    assert np.array_equal(part.numbers, made.numbers[11:])
    assert TreeLeaves().elements({"node": 11, "nodes": 2}) == 2


@pytest.mark.parametrize("fields", [{"node": 13, "nodes": 1}, {"node": -1, "nodes": 1}])
def test_leaves_outside_are_refused(fields: dict[str, int]) -> None:
    with pytest.raises(DataError, match="outside 13 leaves"):
        TreeLeaves().query(tree(), fields)


def test_trees_are_inputs() -> None:
    with pytest.raises(ProgramError, match="input"):
        TreeLeaves().allocate({"node": 0, "nodes": 1})
    with pytest.raises(ProgramError, match="input"):
        TreeLeaves().insert(tree(), {"node": 0, "nodes": 1}, None)
    with pytest.raises(DataError, match="a PackedTree, not a list"):
        TreeLeaves().whole([])


@pytest.mark.parametrize("tile", [1, 3, 13])
def test_leaves_are_searched_tile_by_tile(tile: int) -> None:
    made, window = tree(), (2.0, 3.0, 7.5, 6.0)
    handles = DataHandle("tree", TreeLeaves()), DataHandle("found", Matrix(np.bool_))
    row = LIBRARY["boxes_that_meet"]
    fused = FusedFunction([row.annotated(handles[0], window, 4, handles[1])])
    found = np.zeros(made.numbers.shape, np.bool_)
    fused(tree=made, found=found, n=tile)
    assert sorted(made.numbers[found]) == made.search(window).tolist()
    assert 0 < found.sum() < 50


def test_what_is_no_array_of_tiledb(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(6.0).reshape(2, 3)
    kind = TileDbMatrix()
    part = kind.query(values, {"row": 1, "col": 0, "rows": 1, "cols": 2})
    assert np.shares_memory(part, values), "intermediates are NumPy arrays"
    kind.insert(values, {"row": 0, "col": 2, "rows": 2, "cols": 1}, np.full((2, 1), 9.0))
    assert values.tolist() == [[0, 1, 9], [3, 4, 9]]
    assert kind.whole(values) == {"row": 0, "col": 0, "rows": 2, "cols": 3}
    assert kind.allocate({"rows": 2, "cols": 5}).shape == (2, 5)
    assert (kind, hash(kind)) == (TileDbMatrix(np.float64), hash(TileDbMatrix(np.float64)))
    assert kind != TileDbMatrix(np.float32)
    assert repr(kind) == "TileDbMatrix(float64)"
    monkeypatch.setitem(sys.modules, "tiledb", None)
    with pytest.raises(ProgramError, match="not installed") as told:
        kind.whole("mem://array")
    assert told.value.hint == "pip install 'fuseloom[calls]'"
