"""Drawing a graph: Graphviz DOT text, one node per primitive, one edge per stream."""

from __future__ import annotations

from collections.abc import Mapping

import graphviz

from engine.samml.catalogue import primitive
from engine.samml.graph import Graph, Stream, StreamKind

STYLES: Mapping[StreamKind, Mapping[str, str]] = {
    StreamKind.CRD: {"style": "dashed", "color": "#5a6472"},
    StreamKind.REF: {"style": "solid", "color": "#5a6472", "penwidth": "1.4"},
    StreamKind.VAL: {"style": "solid", "color": "#1f6f3d", "penwidth": "1.6"},
    StreamKind.SIG: {"style": "dotted", "color": "#8a6d1f"},
}
"""How edges of each kind of stream look."""


def to_dot(graph: Graph, *, rankdir: str = "LR", labels: bool = False) -> graphviz.Digraph:
    """The drawing of a graph.

    Parameters
    ----------
    rankdir : str
        ``LR`` (left to right) or ``TB``.
    labels : bool
        Whether edges name their stream.

    Notes
    -----
    Node ids are ``n<id>`` and edge ids ``e<stream id>``, so that a view can find them again.
    """
    drawing = graphviz.Digraph(graph.name)
    drawing.attr(rankdir=rankdir, bgcolor="transparent", nodesep="0.18", ranksep="0.35")
    drawing.attr(
        "node",
        shape="box",
        style="filled,rounded",
        fontname="Helvetica",
        fontsize="10",
        height="0.3",
        margin="0.08,0.04",
        color="#00000055",
        fontcolor="#16181d",
    )
    drawing.attr("edge", arrowsize="0.6", fontname="Helvetica", fontsize="8")
    for node in graph.nodes:
        entry = primitive(node.op)
        shape = {"shape": "point", "width": "0.08"} if node.op == "broadcast" else {}
        drawing.node(
            f"n{node.id}",
            label="" if shape else node.label or entry.short,
            id=f"n{node.id}",
            fillcolor=entry.colour,
            tooltip=entry.title,
            **shape,
        )
    for producer, consumer, stream in graph.edges():
        drawing.edge(f"n{producer}", f"n{consumer}", **_edge(stream, labels))
    return drawing


def _edge(stream: Stream, labels: bool) -> dict[str, str]:
    attributes = {"id": f"e{stream.id}", "tooltip": stream.label, **STYLES[stream.kind]}
    if labels:
        attributes["label"] = stream.label
    return attributes
