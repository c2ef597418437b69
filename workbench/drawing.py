"""A dataflow graph as DOT text, with the ids and classes that the graph view relies on.

Colours of streams follow the page's theme, so the view's style sheet gives them by class.
"""

from __future__ import annotations

from engine.samml.catalogue import CATALOGUE, Family
from engine.samml.graph import Graph, Node, Stream, StreamKind

_DASHES = {StreamKind.REF: " style=dashed", StreamKind.SIG: " style=dotted"}
MAX_LABEL = 26


def node_key(node: int) -> str:
    """The SVG id of a node."""
    return f"n{node}"


def to_dot(graph: Graph, *, clusters: bool = False, direction: str = "LR") -> str:
    """DOT text of a graph.

    Parameters
    ----------
    clusters : bool
        Frame the nodes that came from the same column of the fusion table.
    direction : {"LR", "TB"}
    """
    lines = [
        f"digraph {_quoted(graph.name)} {{",
        f"rankdir={direction}; nodesep=0.16; ranksep=0.32; bgcolor=transparent;",
        'node [shape=box style="filled,rounded" fontname="Helvetica" fontsize=12'
        ' fontcolor="#14181d" color="#7b8694" height=0.34 margin="0.09,0.04"];',
        "edge [arrowsize=0.6];",
    ]
    if clusters:
        for number, (column, nodes) in enumerate(_by_column(graph).items()):
            lines.append(f"subgraph cluster_{number} {{ id=c{number} label={_quoted(column)};")
            lines.append('style=rounded fontname="Helvetica" fontsize=11')
            lines += [_node(node) for node in nodes]
            lines.append("}")
        lines += [_node(node) for node in graph.nodes if not _column(node)]
    else:
        lines += [_node(node) for node in graph.nodes]
    lines += [_edge(a, b, stream) for a, b, stream in graph.edges()]
    return "\n".join([*lines, "}"])


def legend(graph: Graph) -> list[dict[str, str]]:
    """The families of primitives that occur, with their colours."""
    present = {CATALOGUE[node.op].family for node in graph.nodes}
    return [
        {"text": family.name.lower(), "colour": family.value}
        for family in Family
        if family in present
    ]


def edge_list(graph: Graph) -> list[list[str]]:
    """``[edge id, producer, consumer]`` of every stream."""
    return [[f"e{s.id}", node_key(a), node_key(b)] for a, b, s in graph.edges()]


def _column(node: Node) -> str:
    column, dot, _ = node.origin.partition(".")
    return column if dot else ""


def _by_column(graph: Graph) -> dict[str, list[Node]]:
    columns: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if column := _column(node):
            columns.setdefault(column, []).append(node)
    return columns


def _node(node: Node) -> str:
    entry = CATALOGUE[node.op]
    name = node_key(node.id)
    if node.op == "broadcast":
        return (
            f'{name} [id={name} label="" class=copy shape=circle width=0.13 height=0.13 margin=0'
            ' fillcolor="#7b8694"];'
        )
    label = node.label or entry.short
    label = label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"
    return f'{name} [id={name} label={_quoted(label)} fillcolor="{entry.colour}"];'


def _edge(producer: int, consumer: int, stream: Stream) -> str:
    ends = f"{node_key(producer)} -> {node_key(consumer)}"
    return f"{ends} [id=e{stream.id} class={stream.kind.value}{_DASHES.get(stream.kind, '')}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
