"""Tensors and graphs from files, checked before anything is believed.

:func:`read_tensor` and :func:`read_graph` choose the reader by name and content.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import DataError
from engine.frontends.files.arrays import arrays_graph, graph_from_arrays, read_arrays
from engine.frontends.files.citation import citation_graph, is_citation, read_citation
from engine.frontends.files.edge_list import read_edges
from engine.frontends.files.frostt import read_frostt
from engine.frontends.files.graph import GraphData, graph_of, undirected
from engine.frontends.files.lines import blocks
from engine.frontends.files.packed import size_of
from engine.frontends.files.matrix_market import BANNER, read_matrix_market
from engine.frontends.files.npz import arrays_of, read_scipy_npz
from engine.frontends.files.ogb import raw_folder, read_ogb
from engine.frontends.files.planetoid import planetoid_names, read_planetoid
from engine.frontends.files.tensor import CoordinateTensor, Duplicates
from engine.program import regular_files

__all__ = [
    "CoordinateTensor",
    "Duplicates",
    "GraphData",
    "graph_from_arrays",
    "graph_of",
    "read_arrays",
    "read_citation",
    "read_edges",
    "read_frostt",
    "read_graph",
    "read_matrix_market",
    "read_ogb",
    "read_planetoid",
    "read_scipy_npz",
    "read_tensor",
    "undirected",
]

EDGE_LISTS = (".csv", ".tsv", ".txt", ".edges", ".el")
TENSORS = (".mtx", ".tns", ".npz", *EDGE_LISTS)


def read_tensor(path: str | Path) -> CoordinateTensor:
    """The tensor in a file, by the end of its name (before ``.gz``) or by its first line.

    ``.mtx`` is Matrix Market, ``.tns`` FROSTT, ``.npz`` a matrix of SciPy, and ``.csv``,
    ``.tsv``, ``.txt``, ``.edges``, ``.el`` a list of edges.

    Raises
    ------
    DataError
        If the file is none of these, or breaks a rule of its format.
    """
    path = Path(path)
    match _suffix(path):
        case ".mtx":
            return read_matrix_market(path)
        case ".tns":
            return read_frostt(path)
        case ".npz":
            return read_scipy_npz(path)
        case suffix if suffix in EDGE_LISTS:
            return read_edges(path)
    size_of(path)
    with regular_files.opened(path) as file:
        packed = file.read(2) == b"PK"
    if packed:
        return read_scipy_npz(path)
    start = next(iter(blocks(path)), None)
    if start is not None and start.lines[0].lower().startswith(BANNER.lower().encode()):
        return read_matrix_market(path)
    raise DataError(
        f"the format of {path} is not known", hint=f"known: {', '.join(TENSORS)}, also with .gz"
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
    called = name or path.name.split(".")[0]
    if _suffix(path) == ".npz":
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


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
