"""Binding: the arrays that the nodes of a graph read, looked up in stored tensors."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.bound import Arrays, BoundGraph, canonical
from fuseloom.dataflow.sim.golden.registry import implementation
from fuseloom.program.storage import StoredTensor
from fuseloom.program.stored_views import resolve_view


def bind(graph: Graph, data: Mapping[str, StoredTensor]) -> BoundGraph:
    """Look up the arrays of every node that reads a tensor.

    Parameters
    ----------
    data : mapping
        Tensors by name; a node's parameter ``tensor`` is a view key of one
        (``fuseloom.program.stored_views.view_key``).

    Raises
    ------
    DataError
        If a tensor is missing.
    SimulationError
        If its storage is not what the node reads.
    """
    views: dict[str, StoredTensor] = {}
    arrays: dict[int, Arrays] = {}
    for node in graph.nodes:
        reads = implementation(node.op).reads
        if reads is None:
            continue
        key = str(node.params["tensor"])
        if key not in views:
            views[key] = resolve_view(data, key)
        arrays[node.id] = canonical(reads(node, views[key]))
    return BoundGraph(graph, arrays)
