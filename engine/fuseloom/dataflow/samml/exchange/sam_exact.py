"""Reading back a DOT file that we wrote: the marks rebuild the very graph.

The dialect's part of the file is not trusted blindly, nor ignored: the rebuilt graph is written
again, and must give the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from fuseloom.dataflow.samml.exchange.dotfile import DotGraph, parse_dot
from fuseloom.dataflow.samml.exchange.graph_file import declared_tensors
from fuseloom.dataflow.samml.exchange.levels import tensors_of
from fuseloom.dataflow.samml.exchange.record import ImportedGraph
from fuseloom.dataflow.samml.exchange.sam_export import MARK, MARK_VERSION, export_sam
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import DataError, GraphError
from fuseloom.program.types import Tensor

_MEANING = frozenset({"type", "tensor", "mode", "format", "sub", "root", "order", "vals"})
_HINT = f"take out the attributes called {MARK} to read the file as a plain SAM graph"


def is_marked(dot: DotGraph) -> bool:
    """Return whether a file carries Fuseloom's marks."""
    return MARK in dot.attributes


def import_marked(dot: DotGraph, shapes: Mapping[str, tuple[int, ...]]) -> ImportedGraph:
    """Rebuild the graph of a file we wrote.

    Parameters
    ----------
    shapes : mapping
        Shapes of the operands.

    Raises
    ------
    GraphError
        If the marks are broken, or the file was changed after it was written.
    DataError
        If an operand's shape is missing.
    """
    graph, declared = marked_graph(dot)
    reads, writes = tensors_of(graph)
    tensors: dict[str, Tensor] = {}
    for name in dict.fromkeys(key.partition("@")[0] for key in reads):
        tensor = tensors[name] = _known(declared, name)
        if name not in shapes and tensor.made is not None:
            continue  # its data follow
        if name not in shapes and tensor.rank:
            raise DataError(f"the data of operand {name} are missing",
                            hint=f"there are: {', '.join(shapes)}")  # fmt: skip
        shape = shapes.get(name, ())
        if shape != tensor.shape:
            raise DataError(
                f"operand {name} has shape {'x'.join(map(str, tensor.shape)) or 'scalar'} in the "
                f"graph, {'x'.join(map(str, shape)) or 'scalar'} in its data",
                hint="the file was written for operands of that shape; export the graph again",
            )
    outputs = tuple(_known(declared, key.partition("@")[0]) for key in writes)
    return ImportedGraph(graph, tensors, outputs)


def _known(declared: Mapping[str, Tensor], name: str) -> Tensor:
    if name not in declared:
        raise GraphError(f"the file's marks do not declare {name}", hint=_HINT)
    return declared[name]


def marked_graph(dot: DotGraph) -> tuple[Graph, dict[str, Tensor]]:
    """The graph and the declarations of its tensors (see :func:`import_marked`)."""
    try:
        header = json.loads(dot.attributes[MARK])
        if header["version"] != MARK_VERSION:
            raise ValueError(f"version {header['version']}")
        streams = tuple(
            Stream(k, kind=StreamKind(kind), depth=depth, capacity=capacity)
            for k, (kind, depth, capacity) in enumerate(header["streams"])
        )
        specs = list(header["hidden"])
        specs += [json.loads(given[MARK]) for given in dot.nodes.values() if MARK in given]
        nodes = sorted(map(_node, specs), key=lambda node: node.id)
        if [node.id for node in nodes] != list(range(len(nodes))):
            raise ValueError("nodes are missing")
        graph = Graph(unquote(header["name"]), tuple(nodes), streams)
        entries = [{**entry, "name": unquote(entry["name"])} for entry in header["tensors"]]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise GraphError(f"the file's marks are broken: {problem}", hint=_HINT) from None
    declared = declared_tensors(entries)
    verify(graph)
    _check_unchanged(dot, graph, declared)
    return graph, declared


def _node(spec: Any) -> Node:
    params = {str(k): unquote(v) if isinstance(v, str) else v for k, v in spec["params"].items()}
    numbers = (spec["id"], *spec["in"], *(s for s in spec["out"] if s is not None))
    if any(type(n) is not int for n in numbers):
        raise ValueError("a node or stream has no number")
    return Node(spec["id"], str(spec["op"]), tuple(spec["in"]), tuple(spec["out"]), params,
                unquote(spec["label"]))  # fmt: skip


def _check_unchanged(dot: DotGraph, graph: Graph, tensors: Mapping[str, Tensor]) -> None:
    try:
        again = parse_dot(export_sam(graph, tensors).text)
    except (KeyError, IndexError, ValueError, TypeError) as problem:
        raise GraphError(f"the file's marks are broken: {problem}", hint=_HINT) from None
    index = [_ports(again), _ports(dot)]
    if index[0] != index[1]:
        changed = next(
            (name for name in again.nodes if _plain(again.nodes[name]) != _plain(
                dot.nodes.get(name, {}))), None,
        )  # fmt: skip
        what = f"node {changed}" if changed is not None else "its nodes or edges"
        raise GraphError(f"the file was changed after it was written: {what}", hint=_HINT)


def _plain(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return a node's attributes for other tools; index variables are names, not meaning."""
    return {k: v for k, v in attributes.items() if k in _MEANING}


def _ports(dot: DotGraph) -> tuple[object, ...]:
    nodes = {name: _plain(given) for name, given in dot.nodes.items()}
    edges = [(e.tail, e.head, e.attributes.get("type"), e.attributes.get(MARK)) for e in dot.edges]
    return nodes, edges
