"""The graph of the region shown: its text for Graphviz, and what a drawing of it needs besides."""

from __future__ import annotations

from typing import Any

from engine.dataflow.samml.dot import to_dot
from workbench.drawing import edge_list, is_copy, legend, node_key
from workbench.session import Session


def dot(session: Session) -> str:
    """The graph in Graphviz's language, as the session wants it drawn."""
    graph = session.current.graph
    return to_dot(graph, clusters=session.clusters, rankdir=session.direction).source


def view(session: Session, picture: str, problem: str = "") -> dict[str, Any]:
    """A drawing with the names and edges of its nodes; ``problem`` says why there is none."""
    graph = session.current.graph
    return {
        "svg": picture,
        "problem": problem,
        "name": session.current.name,
        "direction": session.direction,
        "clusters": session.clusters,
        "edges": edge_list(graph),
        "labels": {node_key(n.id): n.label or n.op for n in graph.nodes if not is_copy(n)},
        "legend": legend(graph),
    }
