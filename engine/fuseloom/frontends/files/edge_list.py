"""Graphs as lists of edges, as spreadsheets, SNAP, KONECT and NetworkX write them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files.edge_head import Head, no_edges, read_head
from fuseloom.frontends.files.edge_rows import Edges, read_edge_rows
from fuseloom.frontends.files.limits import MAX_NODES
from fuseloom.frontends.files.lines import Lines
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates, Floats
from fuseloom.program.levels import Ints, sorting
from fuseloom.wording import counted


def read_edges(
    path: str | Path,
    nodes: int | None = None,
    *,
    duplicates: Duplicates = Duplicates.FIRST,
    symmetric: bool | None = None,
    weighted: bool = True,
    base: int | None = None,
    named: bool | None = None,
) -> CoordinateTensor:
    """The adjacency matrix of a list of edges: row *from*, column *to*.

    A line has from and to, then maybe a weight and a time (which is not read), or the fields that
    a heading names; between them are commas, tabs, semicolons or white space.  Lines that start
    with ``#`` or ``%`` are comments; those of SNAP and KONECT say how many nodes there are and
    whether the graph is directed.  The matrix of a bipartite graph of KONECT has a row per node
    of the first kind and a column per node of the second.  What is decided is in the notes.

    Parameters
    ----------
    nodes : int, optional
        By default what a comment says, or as many as the edges name.
    duplicates : Duplicates
        What becomes of an edge that is listed twice.
    symmetric : bool, optional
        Whether the opposite of every edge is an edge; by default only where the file says that
        it is undirected.
    weighted : bool
        Whether weights count; without them every edge weighs 1.
    base : int, optional
        What nodes count from, 0 or 1; by default 0 if there is a node 0, else 1.
    named : bool, optional
        Whether nodes have names, which are numbered in the order in which they appear; by default
        if those of the first edge are no numbers.  Numbers beyond the limit of nodes are names.

    Raises
    ------
    DataError
        Names the line: a node that is neither, a weight that is not finite, another number of
        fields.
    """
    if nodes is not None and not 1 <= nodes <= MAX_NODES:
        raise DataError(
            f"{path}: a graph of {counted(nodes, 'node')}", hint=f"1..{MAX_NODES:,} are"
        )
    lines = Lines(Path(path))
    head = read_head(lines, named)
    if head.fields is None:
        if nodes is None:
            raise no_edges(path)
        empty = np.zeros((0, 2), dtype=np.int64)
        return CoordinateTensor.of(empty, np.zeros(0), (nodes, nodes), str(path))
    edges = read_edge_rows(lines.path, chain(head.blocks, lines.rest()), head, weighted)
    if head.named and _recurs(edges, head):
        lines = Lines(Path(path))
        head = read_head(lines, named, headed=False)
        edges = read_edge_rows(lines.path, chain(head.blocks, lines.rest()), head, weighted)
    return adjacency(edges, head, nodes, duplicates, symmetric, weighted, base)


def adjacency(
    edges: Edges,
    head: Head,
    nodes: int | None,
    duplicates: Duplicates,
    symmetric: bool | None,
    weighted: bool,
    base: int | None,
) -> CoordinateTensor:
    """The matrix of edges; see :func:`read_edges`."""
    notes = [] if head.fields is None else [*head.fields.notes(edges.weights)]
    if head.edges not in (None, len(edges)):
        notes.append(f"the file lists {counted(len(edges), 'edge')}, a comment says {head.edges:,}")
    if head.heading and head.named:
        notes.append("the first line names the fields, it is no edge")
    bipartite = head.konect == "bip"
    if bipartite and nodes is not None:
        raise DataError(
            f"{edges.source} is a bipartite graph: {counted(nodes, 'node')} of which kind?",
            hint="leave the number of nodes out",
        )
    if head.konect and base is None:
        base = 1
    if bipartite:
        sides = [
            _numbered(edges, [edges.ends[k]], base, None, head.sizes[k : k + 1]) for k in (0, 1)
        ]
        (rows,), (columns,) = sides[0][0], sides[1][0]
        shape = sides[0][1], sides[1][1]
        told = {*sides[0][2], *sides[1][2]}
        notes += [
            *sorted(told),
            f"bipartite: {counted(shape[0], 'row')}, {counted(shape[1], 'column')}",
        ]
        symmetric = False
    else:
        (rows, columns), count, told_of = _numbered(edges, edges.ends, base, nodes, head.sizes[:1])
        shape = count, count
        notes += told_of
        if symmetric is None:
            symmetric = head.directed is False
            notes.append(_direction(head.directed))
    coords = np.stack([rows, columns], axis=1)
    if symmetric:
        coords.sort(axis=1)
    values = np.ones(len(edges)) if edges.weights is None else edges.weights
    found = CoordinateTensor.of(
        coords, values, shape, edges.source, duplicates=duplicates, place=edges.error,
        notes=tuple(notes), called="edge",
    )  # fmt: skip
    return _both_ways(found) if symmetric else found


def _recurs(edges: Edges, head: Head) -> bool:
    """Return whether an apparent heading, such as ``u v``, is an edge: its words name nodes."""
    assert head.fields is not None
    words = {head.heading[k] for k in head.fields.ends} if head.heading else set()
    return any(name in words for end in edges.ends for name in end)


def _direction(directed: bool | None) -> str:
    if directed is None:
        return "the file does not say whether edges are directed: they are taken as they are listed"
    if directed:
        return "edges are directed, as the file says"
    return "edges are undirected, as the file says: the opposite of each is added"


def _both_ways(upper: CoordinateTensor) -> CoordinateTensor:
    """With the other triangle."""
    off = upper.coords[:, 0] != upper.coords[:, 1]
    coords: Ints = np.concatenate([upper.coords, upper.coords[off][:, ::-1]])
    values: Floats = np.concatenate([upper.values, upper.values[off]])
    order = sorting(coords, upper.shape)
    return CoordinateTensor(coords[order], values[order], upper.shape, upper.origin, upper.notes)


def _numbered(
    edges: Edges, ends: Sequence[Any], base: int | None, nodes: int | None, sizes: tuple[int, ...]
) -> tuple[list[Ints], int, list[str]]:
    """Nodes from 0, how many there are, and what to tell of it."""
    if isinstance(ends[0], list):
        numbered, known = _by_name(ends)
        some = ", ".join(f"{name[:20]} is {k}" for name, k in list(known.items())[:3])
        told = f"nodes have names, numbered from 0 in the order in which they appear: {some}"
        return numbered, _count(edges, len(known), nodes, "names"), [told]
    highest = max(int(end.max()) for end in ends)
    if highest > MAX_NODES:
        ids = np.unique(np.concatenate(ends))
        told = (
            f"nodes have numbers up to {highest:,}: the {len(ids):,} that occur are numbered from "
            "0 in their order"
        )
        numbered = [np.searchsorted(ids, end).astype(np.int64) for end in ends]
        return numbered, _count(edges, len(ids), nodes, "numbers"), [told]
    lowest = min(int(end.min()) for end in ends)
    notes = []
    if base is None:
        base = int(lowest > 0 and nodes in (None, highest))
        if base:
            notes.append("nodes count from 1, as there is no node 0")
        elif lowest:
            notes.append("nodes count from 0, and node 0 has no edge")
    stated = [size for size in sizes if highest - base < size <= MAX_NODES]
    count = nodes or max([highest - base + 1, *stated])
    for end in ends:
        outside = np.flatnonzero((end < base) | (end >= count + base))
        if len(outside):
            raise edges.error(
                int(outside[0]),
                f"node {int(end[outside[0]]):,} is not in {base}..{count + base - 1:,}",
                "check the number of nodes, and whether counting starts at 0 or at 1",
            )
    used = np.zeros(count, dtype=bool)
    numbered = [end - base for end in ends]
    for end in numbered:
        used[end] = True
    if not used.all():
        idle = int((~used).sum())
        notes.append(
            f"{idle:,} of {counted(count, 'node')} {'has' if idle == 1 else 'have'} no edge"
        )
    return numbered, count, notes


def _count(edges: Edges, found: int, nodes: int | None, what: str) -> int:
    if found > (nodes or MAX_NODES):
        raise DataError(
            f"{edges.source} has {found:,} {what} of nodes, for "
            f"{counted(nodes or MAX_NODES, 'node')}",
            hint="give a larger number of nodes" if nodes else "use a smaller graph",
        )
    return nodes or found


def _by_name(ends: Sequence[list[str]]) -> tuple[list[Ints], dict[str, int]]:
    known: dict[str, int] = {}
    pairs = zip(*ends, strict=True)
    flat = [known.setdefault(name, len(known)) for pair in pairs for name in pair]
    table = np.array(flat, dtype=np.int64).reshape(-1, len(ends))
    return [table[:, k].copy() for k in range(len(ends))], known
