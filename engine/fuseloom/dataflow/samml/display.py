"""Graphs as a notebook shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.display import Markup, shown, table, tag
from fuseloom.display.layout import laid_out
from fuseloom.wording import counted

MOST = 400
"""Nodes of a graph that is drawn."""
SMALLEST = 0.7
"""Of its size, if the page is too narrow for it; then it scrolls."""
TOKENS: Mapping[Family, str] = {
    Family.SOURCE: "write",
    Family.SCAN: "scan",
    Family.REPEAT: "repeat",
    Family.JOIN: "join",
    Family.VALUE: "values",
    Family.COMPUTE: "compute",
    Family.REDUCE: "acc",
    Family.DROP: "locate",
    Family.ROUTE: "write",
    Family.WRITE: "write",
    Family.MEMORY: "locate",
}
"""The name of each family's colour; several have one, and say their name."""


def graph_html(graph: Graph) -> Markup:
    """The graph drawn, or its nodes as a table where that is not possible or too large."""
    head = tag(
        "h4",
        f"graph {graph.name}: {counted(len(graph.nodes), 'node')}, "
        f"{counted(len(graph.streams), 'stream')}",
    )
    drawn = _drawn(graph) if len(graph.nodes) <= MOST else None
    if drawn is not None:
        return shown(head, drawn)
    rows = [(n.label or str(n.id), primitive(n.op).title, n.origin) for n in graph.nodes]
    return shown(head, table(["node", "primitive", "cell of the table"], rows))


def _drawn(graph: Graph) -> Markup | None:
    """The picture; None without Graphviz."""
    try:
        from fuseloom.dataflow.samml.dot import to_dot

        text = laid_out(to_dot(graph).source).draw(format="svg").decode()
    except (ImportError, OSError, ValueError, RuntimeError):
        return None
    return _coloured(text, graph)


def _coloured(text: str, graph: Graph) -> Markup:
    """Graphviz's picture with the families of the nodes as classes, and nothing of a page."""
    space = "http://www.w3.org/2000/svg"
    ElementTree.register_namespace("", space)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", text))
    families = {f"n{n.id}": TOKENS[primitive(n.op).family] for n in graph.nodes}
    for group in root.iter(f"{{{space}}}g"):
        family = families.get(group.get("id", ""))
        if family:
            group.set("class", f"{group.get('class', '')} {family}")
        group.attrib.pop("id", None)  # of several pictures on one page
    wide = float(root.get("width", "0").removesuffix("pt"))
    root.set("style", f"max-width:100%;min-width:{SMALLEST * wide:.0f}pt;height:auto")
    root.set("role", "img")
    root.set("aria-label", f"graph {graph.name}, {counted(len(graph.nodes), 'node')}")
    return Markup(ElementTree.tostring(root, encoding="unicode"))
