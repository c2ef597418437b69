"""Drawing a graph: Graphviz DOT text, one node per primitive, one edge per stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import graphviz

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.traits import Role

STYLES: Mapping[StreamKind, Mapping[str, str]] = {
    StreamKind.CRD: {"style": "solid", "color": "#5a6472"},
    StreamKind.REF: {"style": "dashed", "color": "#5a6472"},
    StreamKind.VAL: {"style": "solid", "color": "#1f6f3d", "penwidth": "1.6"},
    StreamKind.SIG: {"style": "dotted", "color": "#8a6d1f"},
}
"""The style of edges for each kind of stream."""

MAX_LABEL = 26


@check_arguments
def to_dot(
    graph: Graph, *, rankdir: str = "LR", labels: bool = False, clusters: bool = False
) -> graphviz.Digraph:
    """The drawing of a graph.

    Parameters
    ----------
    rankdir : str
        ``LR`` (left to right) or ``TB``.
    labels : bool
        Whether edges name their stream.
    clusters : bool
        Whether nodes that came from the same column of the fusion table are framed.

    Notes
    -----
    Node ids are ``n<id>`` and edge ids ``e<stream id>``, so that a view can find them again;
    the class of an edge is its stream's kind, so that a style sheet can colour it.

    Examples
    --------
    >>> import fuseloom as fl
    >>> graph = fl.compile(fl.load("spmv")[0].program).regions[0].graph
    >>> fl.to_dot(graph).source.splitlines()[0]
    'digraph y {'
    """
    drawing = graphviz.Digraph(graph.name)
    drawing.attr(rankdir=rankdir, bgcolor="transparent", nodesep="0.16", ranksep="0.32")
    drawing.attr(
        "node",
        shape="box",
        style="filled,rounded",
        fontname="Helvetica",
        fontsize="12",
        height="0.34",
        margin="0.09,0.04",
        color="#7b8694",
        fontcolor="#14181d",
    )
    drawing.attr("edge", arrowsize="0.6", fontname="Helvetica", fontsize="9")
    framed = _by_column(graph) if clusters else {}
    for number, (column, nodes) in enumerate(framed.items()):
        with drawing.subgraph(name=f"cluster_{number}") as frame:
            frame.attr(label=column, id=f"c{number}", style="rounded", fontname="Helvetica")
            _draw(frame, nodes)
    _draw(drawing, (n for n in graph.nodes if not clusters or not _column(n)))
    for producer, consumer, stream in graph.edges():
        drawing.edge(f"n{producer}", f"n{consumer}", **_edge(stream, labels))
    return drawing


def _draw(drawing: graphviz.Digraph, nodes: Iterable[Node]) -> None:
    for node in nodes:
        entry = primitive(node.op)
        name = f"n{node.id}"
        if entry.role is Role.COPY:
            drawing.node(
                name, label="", id=name, shape="circle", width="0.13", height="0.13",
                margin="0", fillcolor="#7b8694", **{"class": "copy"},
            )  # fmt: skip
            continue
        label = node.label or entry.short
        if len(label) > MAX_LABEL:
            label = label[: MAX_LABEL - 1] + "…"
        drawing.node(name, label=graphviz.escape(label), id=name, fillcolor=entry.colour)


def _edge(stream: Stream, labels: bool) -> dict[str, str]:
    attributes = {"id": f"e{stream.id}", "class": stream.kind.value}
    attributes.update(STYLES[stream.kind])
    if labels:
        attributes["label"] = graphviz.escape(stream.label)
    return attributes


def _column(node: Node) -> str:
    column, dot, _ = node.origin.partition(".")
    return column if dot else ""


def _by_column(graph: Graph) -> dict[str, list[Node]]:
    columns: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if column := _column(node):
            columns.setdefault(column, []).append(node)
    return columns
