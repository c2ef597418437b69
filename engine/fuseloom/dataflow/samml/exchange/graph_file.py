"""Our own graphs as JSON files, with the declarations of the tensors they read and write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from fuseloom.dataflow.samml.exchange.levels import guessed_tensor, tensors_of, written_tensor
from fuseloom.dataflow.samml.exchange.record import ImportedGraph
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import DataError, GraphError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.limits import MAX_DIMENSION, MAX_RANK
from fuseloom.program.relations import Relation
from fuseloom.program.types import Tensor

_LISTS = ("levels", "mode_order")
"""Fields of a format that are checked by themselves."""


def graph_to_json(graph: Graph, tensors: Mapping[str, Tensor]) -> str:
    """A graph's JSON with the tensors it reads and writes; :func:`graph_from_json` reads it."""
    data = json.loads(graph.to_json())
    keys = [key.partition("@")[0] for keys in tensors_of(graph) for key in keys]
    data["tensors"] = [declaration(tensors[name]) for name in dict.fromkeys(keys)]
    return json.dumps(data)


def declaration(tensor: Tensor, name: str | None = None) -> dict[str, Any]:
    """A tensor's declaration as plain data, which :func:`declared_tensors` reads."""
    given = {field.name: getattr(tensor.format, field.name) for field in fields(tensor.format)}
    given["levels"] = [level.value for level in tensor.format.levels]
    made = {} if tensor.made is None else {"made": asdict(tensor.made)}
    return {"name": name or tensor.name, "shape": tensor.shape, **given, **made}


def graph_from_json(text: str, shapes: Mapping[str, tuple[int, ...]]) -> ImportedGraph:
    """Read a graph file.

    Parameters
    ----------
    shapes : mapping
        Shapes of the data; they matter only where the file declares no tensors.

    Raises
    ------
    GraphError
        If it is no graph file, or the graph is not well formed.
    DataError
        If a tensor is declared neither by the file nor by the data.
    """
    graph = Graph.from_json(text)
    verify(graph)
    declared = declared_tensors(json.loads(text).get("tensors", []))
    reads, writes = tensors_of(graph)
    tensors: dict[str, Tensor] = {}
    for key in reads:
        name = key.partition("@")[0]
        if name in declared:
            tensors[name] = declared[name]
        elif name in shapes:
            tensors[name] = guessed_tensor(graph, name, shapes[name])
        else:
            raise DataError(f"the data of operand {name} are missing",
                            hint=f"there are: {', '.join(shapes)}")  # fmt: skip
    outputs = tuple(
        declared.get(key.partition("@")[0]) or written_tensor(graph, key, tensors, ())
        for key in writes
    )
    return ImportedGraph(graph, tensors, outputs)


def declared_tensors(entries: Any) -> dict[str, Tensor]:
    """Declarations by name, from what :func:`declaration` wrote.

    Raises
    ------
    GraphError
        If one is malformed.
    """
    try:
        found: dict[str, Tensor] = {}
        for entry in entries:
            given = {f.name: entry[f.name] for f in fields(Format) if f.name in entry}
            lists = {k: tuple(v) for k, v in given.items() if isinstance(v, list)}
            given |= {**lists, "levels": tuple(LevelFormat(word) for word in entry["levels"])}
            order, shape = tuple(entry["mode_order"]), tuple(entry["shape"])
            numbers = (*order, *shape, *(n for k, v in given.items() if k not in _LISTS for n in
                                         (v if isinstance(v, tuple) else (v,))))  # fmt: skip
            if (
                not all(type(n) is int for n in numbers)
                or not len(given["levels"]) == len(order) == len(shape) <= MAX_RANK
                or sorted(order) != list(range(len(order)))
                or not all(0 <= n <= MAX_DIMENSION for n in numbers)
            ):
                raise ValueError(f"tensor {entry['name']!r} is not declared right")
            made = _relation(entry["made"], shape) if "made" in entry else None
            found[str(entry["name"])] = Tensor(str(entry["name"]), shape, Format(**given), made)
        return found
    except (KeyError, TypeError, ValueError) as problem:
        raise GraphError(f"malformed graph JSON, tensors: {problem}") from None


def _relation(entry: Any, shape: tuple[int, ...]) -> Relation:
    """Which coordinates a tensor has that follow from its declaration.

    Raises
    ------
    ValueError
        It is malformed.
    """
    terms = tuple((dim, factor) for dim, factor in entry["terms"])
    entries = None if entry["entries"] is None else tuple(entry["entries"])
    target, offset = entry["target"], entry["offset"]
    dims = (target, *(dim for dim, _ in terms))
    numbers = (*dims, offset, *(factor for _, factor in terms), *(entries or ()))
    if (
        not all(type(n) is int and abs(n) <= MAX_DIMENSION for n in numbers)
        or not all(0 <= dim < len(shape) for dim in dims)
        or len(set(dims)) != len(dims)
        or len(dims) != len(shape)
    ):
        raise ValueError("a relation of coordinates is not declared right")
    return Relation(target, terms, offset, entries)
