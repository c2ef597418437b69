"""Kinds of data structures that are stored otherwise than by NumPy: tables, trees, TileDB."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.calls.data_kinds import DataKind, FieldPair, Fields, Matrix
from fuseloom.calls.packed_tree import PackedTree, TreePart
from fuseloom.errors import DataError, ProgramError


class DatabaseRows(DataKind):
    """Rows of a query of a database of Python's ``sqlite3``: ``start``, ``len``.

    Parameters
    ----------
    columns : sequence of str
        Names of columns of numbers.
    table : str
    order : str
        The column that numbers the rows from 0 on.

    Notes
    -----
    Names are quoted, and a part is one statement with parameters.
    """

    name = "table"
    dimensions = (FieldPair("start", "len"),)

    def __init__(self, table: str, columns: Sequence[str], order: str) -> None:
        self.table, self.columns, self.order = table, tuple(columns), order

    def query(self, value: Any, fields: Fields) -> npt.NDArray[np.float64]:
        chosen = ", ".join(map(_quoted, self.columns))
        key = _quoted(self.order)
        statement = f"SELECT {chosen} FROM {_quoted(self.table)} WHERE {key} >= ? AND {key} < ? "
        start, length = fields["start"], fields["len"]
        rows = self._rows(value, f"{statement}ORDER BY {key}", (start, start + length))
        if start < 0 or len(rows) != length:
            raise DataError(
                f"{self.table} has {len(rows)} rows where {length} are read from {start} on",
                hint=f"{self.order} numbers the rows from 0 on, without gaps",
            )
        try:
            found = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise DataError(f"{self.table} has a value that is no number: {problem}") from None
        return found.reshape(length, len(self.columns))

    def allocate(self, fields: Fields) -> Any:
        raise ProgramError("a table is an input: nothing is written into it by rows")

    def whole(self, value: Any) -> Fields:
        ((count,),) = self._rows(value, f"SELECT COUNT(*) FROM {_quoted(self.table)}")
        return {"start": 0, "len": int(count)}

    def _rows(self, value: Any, statement: str, bounds: tuple[int, ...] = ()) -> list[Any]:
        if not isinstance(value, sqlite3.Connection):
            raise DataError(f"a table is in a connection of sqlite3, not a {type(value).__name__}")
        try:
            return value.execute(statement, bounds).fetchall()
        except sqlite3.Error as problem:
            raise DataError(f"{self.table} is not read: {problem}") from None


class TreeLeaves(DataKind):
    """A :class:`PackedTree` by leaves, in its order: ``node``, ``nodes``.

    Examples
    --------
    >>> tree = PackedTree(np.zeros((40, 4)), capacity=16)
    >>> TreeLeaves().whole(tree)
    {'node': 0, 'nodes': 3}
    >>> TreeLeaves().query(tree, {"node": 1, "nodes": 2}).boxes.shape
    (2, 16, 4)
    """

    name = "tree"
    dimensions = (FieldPair("node", "nodes"),)

    def query(self, value: Any, fields: Fields) -> TreePart:
        return self._tree(value).leaves(fields["node"], fields["nodes"])

    def insert(self, value: Any, fields: Fields, part: Any) -> None:
        raise ProgramError("a tree is an input: it is packed whole, and no leaf is put into it")

    def allocate(self, fields: Fields) -> Any:
        raise ProgramError("a tree is an input: nothing is written into it by leaves")

    def whole(self, value: Any) -> Fields:
        return {"node": 0, "nodes": self._tree(value).nodes}

    def _tree(self, value: Any) -> PackedTree:
        if not isinstance(value, PackedTree):
            raise DataError(f"a tree is a PackedTree, not a {type(value).__name__}")
        return value


class TileDbMatrix(DataKind):
    """A dense array of TileDB with two dimensions and one attribute, as a matrix.

    Its fields are ``row``, ``col``, ``rows``, ``cols``.

    Parameters
    ----------
    dtype : dtype
        Of the attribute.

    Notes
    -----
    A part of an array that is open for reading is read by one query.  A part of one that is open
    for writing is room, which is written by one query when it is put back.  Intermediates are NumPy
    arrays.

    Examples
    --------
    >>> with np.printoptions():  # TileDB changes how NumPy prints
    ...     import tiledb
    >>> array = tiledb.from_numpy("mem://example", np.arange(6.0).reshape(2, 3))
    >>> kind = TileDbMatrix()
    >>> kind.whole(array)
    {'row': 0, 'col': 0, 'rows': 2, 'cols': 3}
    """

    name = "TileDB matrix"
    dimensions = Matrix.dimensions

    def __init__(self, dtype: npt.DTypeLike = np.float64) -> None:
        self._room = Matrix(dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self._room.dtype

    def __repr__(self) -> str:
        return f"TileDbMatrix({self.dtype.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TileDbMatrix) and self._room == other._room

    def __hash__(self) -> int:
        return hash((TileDbMatrix, self._room))

    def query(self, value: Any, fields: Fields) -> npt.NDArray[Any]:
        if isinstance(value, np.ndarray):
            return self._room.query(value, fields)
        rows, columns = self._slab(value, fields)
        if value.mode == "w" or not (fields["rows"] and fields["cols"]):
            return self.allocate(fields)
        try:
            found = value[rows, columns]
        except _tiledb().TileDBError as problem:
            raise DataError(f"a part of the array is not read: {problem}") from None
        return np.asarray(found[value.attr(0).name] if isinstance(found, dict) else found)

    def insert(self, value: Any, fields: Fields, part: npt.NDArray[Any]) -> None:
        if isinstance(value, np.ndarray):
            self._room.query(value, fields)[...] = part
            return
        rows, columns = self._slab(value, fields)
        if value.mode != "w":
            raise DataError(
                "a part is put into an array that is not open for writing",
                hint="open it by tiledb.open(uri, 'w')",
            )
        if part.shape != (fields["rows"], fields["cols"]):
            raise DataError(
                f"values of the shape {part.shape} are put into a part of "
                f"{fields['rows']} × {fields['cols']}"
            )
        if not part.size:
            return
        try:
            value[rows, columns] = np.ascontiguousarray(part)
        except _tiledb().TileDBError as problem:
            raise DataError(f"a part of the array is not written: {problem}") from None

    def allocate(self, fields: Fields) -> npt.NDArray[Any]:
        return self._room.allocate(fields)

    def whole(self, value: Any) -> Fields:
        if isinstance(value, np.ndarray):
            return self._room.whole(value)
        rows, columns = self._extents(value)
        return {"row": 0, "col": 0, "rows": rows, "cols": columns}

    def _slab(self, value: Any, fields: Fields) -> tuple[slice, slice]:
        made = []
        for pair, extent in zip(self.dimensions, self._extents(value), strict=True):
            start, length = fields[pair.start], fields[pair.length]
            if not 0 <= start <= start + length <= extent:
                raise DataError(
                    f"{pair.start} {start} and {pair.length} {length} are outside an extent of "
                    f"{extent}"
                )
            made.append(slice(start, start + length))
        return made[0], made[1]

    def _extents(self, value: Any) -> tuple[int, int]:
        """Rows and columns of an array, which is one that has them."""
        tiledb = _tiledb()
        if not isinstance(value, tiledb.Array):
            raise DataError(f"an array of TileDB is wanted, not a {type(value).__name__}")
        if not value.isopen:
            raise DataError("the array of TileDB is closed", hint="open it by tiledb.open(uri)")
        schema = value.schema
        if schema.sparse:
            raise DataError("the array of TileDB is sparse, and a matrix is dense")
        if schema.nattr != 1:
            raise DataError(f"the array of TileDB has {schema.nattr} attributes, not one")
        attribute = schema.attr(0)
        if attribute.isvar or attribute.isnullable or attribute.dtype != self.dtype:
            raise DataError(
                f"the array of TileDB holds {attribute.dtype}, and {self.dtype.name} is declared",
                hint="values have one length each, and none is missing",
            )
        domain = schema.domain
        if domain.ndim != 2:
            raise DataError(f"the array of TileDB has {domain.ndim} dimensions, not two")
        sides = [domain.dim(number) for number in range(2)]
        for side in sides:
            if not np.issubdtype(side.dtype, np.integer) or side.domain[0] != 0:
                raise DataError(
                    f"a dimension of the array of TileDB has the domain {side.domain}, which is "
                    "none of integers from 0 on"
                )
        rows, columns = (int(side.domain[1]) + 1 for side in sides)
        return rows, columns


def _tiledb() -> Any:
    """TileDB's package; NumPy prints as it did before."""
    try:
        with np.printoptions():
            import tiledb
    except ImportError:
        raise ProgramError(
            "arrays of TileDB are read by its package, which is not installed",
            hint="pip install 'fuseloom[calls]'",
        ) from None
    return tiledb


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
