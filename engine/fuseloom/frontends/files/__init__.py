"""Tensors and graphs from files, checked before anything is believed.

:func:`read_tensor` and :func:`read_graph` choose the reader by name and content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from fuseloom.errors import DataError
from fuseloom.frontends.files.arrays import arrays_graph, graph_from_arrays, read_arrays
from fuseloom.frontends.files.citation import citation_graph, is_citation, read_citation
from fuseloom.frontends.files.edge_list import read_edges
from fuseloom.frontends.files.edge_options import EdgeOptions
from fuseloom.frontends.files.frostt import read_frostt
from fuseloom.frontends.files.graph import GraphData, graph_of, undirected
from fuseloom.frontends.files.lines import HEAD, MARK
from fuseloom.frontends.files.matrix_market import is_banner, read_matrix_market
from fuseloom.frontends.files.npy import MAGIC, dense_tensor, read_npy
from fuseloom.frontends.files.npz import arrays_of, read_npz_tensor, read_scipy_npz
from fuseloom.frontends.files.ogb import raw_folder, read_ogb
from fuseloom.frontends.files.packed import content_name, unpacked
from fuseloom.frontends.files.parquet import PARQUET, read_parquet
from fuseloom.frontends.files.planetoid import planetoid_names, read_planetoid
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates
from fuseloom.program import regular_files

__all__ = [
    "CoordinateTensor",
    "Duplicates",
    "EdgeOptions",
    "GraphData",
    "dense_tensor",
    "graph_from_arrays",
    "graph_of",
    "is_edge_list",
    "read_arrays",
    "read_citation",
    "read_edges",
    "read_frostt",
    "read_graph",
    "read_matrix_market",
    "read_npy",
    "read_npz_tensor",
    "read_ogb",
    "read_parquet",
    "read_planetoid",
    "read_scipy_npz",
    "read_tensor",
    "undirected",
]

EDGE_LISTS = (".csv", ".tsv", ".txt", ".edges", ".el", ".edgelist")
TENSORS = (".mtx", ".tns", ".npy", ".npz", ".parquet", *EDGE_LISTS)
"""Ends of names that are known, before one that says how the file is packed."""


def read_tensor(path: str | Path, edges: EdgeOptions | None = None) -> CoordinateTensor:
    """The tensor in a file, by its first bytes, then by the end of its name.

    Matrix Market, ``.npy``, ``.npz`` (SciPy's matrices, or one array) and Parquet show what they
    are; ``.tns`` is FROSTT, and ``.csv``, ``.tsv``, ``.txt``, ``.edges``, ``.el``, ``.edgelist``
    or a name that begins with ``out.`` is a list of edges.  Text and ``.npy`` may be packed by
    gzip, bzip2 or zstd, or be the one table of a tar archive, as SuiteSparse and KONECT publish
    them.

    Parameters
    ----------
    edges : EdgeOptions, optional
        How a list of edges is read.

    Raises
    ------
    DataError
        If the file is none of these, breaks a rule of its format, or is no list of edges but has
        options of one.
    """
    path = Path(path)
    kind = _kind(path)
    if kind in (read_edges, read_parquet):
        chosen = edges or EdgeOptions()
        return kind(path, **{f.name: getattr(chosen, f.name) for f in fields(chosen)})
    if edges is not None:
        raise DataError(
            f"{path} is no list of edges",
            hint=f"choices about edges go with {', '.join(EDGE_LISTS)} and .parquet",
        )
    return kind(path)


def is_edge_list(path: str | Path) -> bool:
    """Return whether :func:`read_tensor` reads a file as a list of edges.

    Raises
    ------
    DataError
        If the file cannot be read, or its format is not known.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("1,2\\n")
    ...     is_edge_list(path)
    True
    """
    return _kind(Path(path)) in (read_edges, read_parquet)


def _kind(path: Path) -> Callable[..., CoordinateTensor]:
    """The reader of a file."""
    with unpacked(path) as content:
        start, name = content.start(HEAD), content.name
        packed = not content.plain
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if packed:
            raise DataError(
                f"{path} is a packed archive", hint="unpack it once: .npz packs by itself"
            )
        return read_npz_tensor
    if start.startswith(MAGIC):
        return read_npy
    if start.startswith(PARQUET):
        return read_parquet
    if any(is_banner(line) for line in start.removeprefix(MARK).split(b"\n", 20)[:20]):
        return read_matrix_market
    match Path(name).suffix.lower():
        case ".mtx":
            return read_matrix_market
        case ".tns":
            return read_frostt
        case ".npz":
            return read_npz_tensor
        case ".npy":
            return read_npy
        case ".parquet":
            return read_parquet
        case suffix if suffix in EDGE_LISTS or name.startswith("out."):
            return read_edges
    raise DataError(
        f"the format of {path} is not known",
        hint=f"known: {', '.join(TENSORS)}, also with .gz, .bz2 or .zst",
    )


def read_graph(path: str | Path, name: str | None = None) -> GraphData:
    """The graph in a file or folder.

    A folder holds Planetoid's ``ind.<name>.*`` or a benchmark's ``raw/edge.csv.gz``; a file
    ``.npz`` holds the arrays of CitationFull, ``edge_index``, or a matrix of SciPy; other files
    are read by :func:`read_tensor` and hold a square matrix.

    Parameters
    ----------
    name : str, optional
        Which graph of a Planetoid folder that holds several; otherwise what to call it.

    Raises
    ------
    DataError
        If there is no graph, or it breaks a rule of its format.
    """
    path = Path(path)
    if regular_files.is_folder(path):
        return _folder(path, name)
    called = name or _called(path)
    if content_name(path).lower().endswith(".npz"):
        arrays = arrays_of(path)
        if is_citation(arrays):
            return citation_graph(arrays, str(path), called)
        if "edge_index" in arrays:
            return arrays_graph(arrays, str(path), called)
    return graph_of(called, read_tensor(path))


def _folder(path: Path, name: str | None) -> GraphData:
    names = planetoid_names(path)
    if names:
        if name is None and len(names) > 1:
            raise DataError(
                f"{path} holds several graphs", hint=f"name one: {', '.join(names[:10])}"
            )
        return read_planetoid(path, name or names[0])
    if raw_folder(path) is not None:
        return read_ogb(path, name)
    raise DataError(
        f"{path} holds no graph that is known",
        hint="ind.<name>.* (Planetoid) or raw/edge.csv.gz (OGB)",
    )


def _called(path: Path) -> str:
    """Return the name of a file's graph: ``ca-GrQc`` for ``ca-GrQc.txt.gz`` and ``out.ca-GrQc``."""
    return path.name.removeprefix("out.").split(".")[0] or path.name
