"""Lists of edges in Parquet files, which PyArrow reads where it is installed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files.edge_head import EdgeFields, Head, fields_of, no_edges
from fuseloom.frontends.files.edge_list import adjacency
from fuseloom.frontends.files.edge_rows import Edges
from fuseloom.frontends.files.limits import FREE_UNPACKING, MAX_ENTRIES
from fuseloom.frontends.files.packed import size_of
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates
from fuseloom.program.limits import MAX_RATIO
from fuseloom.wording import counted

PARQUET = b"PAR1"


def read_parquet(
    path: str | Path,
    nodes: int | None = None,
    *,
    duplicates: Duplicates = Duplicates.FIRST,
    symmetric: bool | None = None,
    weighted: bool = True,
    base: int | None = None,
    named: bool | None = None,
) -> CoordinateTensor:
    """The adjacency matrix of a table of edges; see :func:`read_edges`.

    Columns are told by their names, such as ``source``, ``target`` and ``weight``, or else by
    their order.  Errors name the row, counted from 1.

    Raises
    ------
    DataError
        If PyArrow is not installed, or the table is no list of edges.
    """
    size = size_of(Path(path))
    try:
        library: Any = importlib.import_module("pyarrow.parquet")
        damage: Any = importlib.import_module("pyarrow").ArrowException
    except ImportError:
        raise DataError(
            "Parquet files need pyarrow, which is not installed",
            hint="pip install 'fuseloom[parquet]', or write .csv",
        ) from None
    try:
        with library.ParquetFile(path) as file:
            count, names = int(file.metadata.num_rows), [*file.schema_arrow.names]
            most = min(MAX_ENTRIES, max(FREE_UNPACKING, MAX_RATIO * size) // 8)
            if not 0 <= count <= most:
                raise DataError(
                    f"{path} lists {counted(count, 'edge')} in {counted(size, 'byte')}",
                    hint=f"the limit is {most:,} for a file of its size; write .csv",
                )
            fields = fields_of(names)
            if fields is None:
                raise DataError(
                    f"{path} has the columns {', '.join(names[:8]) or 'none'}",
                    hint="from, to and maybe a weight; name them source, target and weight",
                )
            used = [*fields.ends]
            if weighted and fields.weight is not None:
                used.append(fields.weight)
            wanted = [names[k] for k in used]
            table = file.read(columns=wanted)
            columns = [table.column(name).to_numpy() for name in wanted]
    except DataError:
        raise
    except (damage, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError,
            MemoryError, NotImplementedError) as problem:  # fmt: skip
        raise DataError(
            f"cannot read {path}: {str(problem)[:200]}", hint="the file may be damaged"
        ) from None
    if not count:
        raise no_edges(path)
    edges = _edges(str(path), columns, fields, wanted, named)
    head = Head(fields=fields, named=isinstance(edges.ends[0], list))
    return adjacency(edges, head, nodes, duplicates, symmetric, weighted, base)


def _edges(
    path: str, columns: list[Any], fields: EdgeFields, names: list[str], named: bool | None
) -> Edges:
    lines = np.arange(1, len(columns[0]) + 1, dtype=np.int64)
    edges = Edges(path, ([], []), None, lines)
    texts = [
        n for n, column in zip(names, columns[:2], strict=False) if column.dtype.kind not in "iuf"
    ]
    if texts and named is False:
        raise DataError(
            f"{path}: column {texts[0]} holds names, not numbers of nodes",
            hint="number the nodes, or have them read as names",
        )
    if named or texts:
        for name, column in zip(names, columns[:2], strict=False):
            odd = [k for k, given in enumerate(column.tolist()) if not isinstance(given, str | int)]
            if odd:
                raise edges.error(
                    odd[0],
                    f"column {name} holds a node that is neither a number nor a name",
                    "leave out empty rows, and write nodes as integers or texts",
                )
        ends: Any = tuple([str(given) for given in column.tolist()] for column in columns[:2])
    else:
        ends = tuple(_nodes(edges, c, n) for c, n in zip(columns[:2], names, strict=False))
    weights = None
    if len(columns) == 3:
        if columns[2].dtype.kind not in "biuf":
            raise DataError(
                f"{path}: column {names[2]} holds {columns[2].dtype}, not numbers",
                hint=f"leave it out, or name it other than {names[2]}: read_parquet(path, "
                "weighted=False) does not read weights",
            )
        weights = columns[2].astype(np.float64)
    return Edges(path, ends, weights, lines)


def _nodes(edges: Edges, column: Any, name: str) -> Any:
    bad = np.flatnonzero(~((column >= 0) & (column < 2**63) & (column == np.floor(column))))
    if len(bad):
        raise edges.error(
            int(bad[0]),
            f"column {name}, a node, is {column[bad[0]]}, not an integer from 0",
            "number the nodes, or write their names as texts",
        )
    return column.astype(np.int64)
