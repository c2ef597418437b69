"""Critical paths as a notebook shows them."""

from __future__ import annotations

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.explain.critical import CriticalPath, PathShare
from fuseloom.display import Content, Markup, bar, shown, table, tag
from fuseloom.wording import counted

SHOWN = 8
"""Nodes and reasons that are told; the others make one row."""


def path_html(path: CriticalPath) -> Markup:
    """Show the causes of the path's cycles, and the most that a faster node could gain."""
    shares = path.summary()
    rows: list[tuple[Content, ...]] = [
        (_label(path.graph, s.node), _what(path.graph, s), f"{s.cycles:,}", f"{s.segments:,}",
         bar(s.share, f"{s.share:.1%}"))
        for s in shares[:SHOWN]
    ]  # fmt: skip
    if others := shares[SHOWN:]:
        cycles = sum(s.cycles for s in others)
        pieces = sum(s.segments for s in others)
        share = cycles / path.cycles
        rows.append(
            (
                f"{counted(len(others), 'other')}",
                "",
                f"{cycles:,}",
                f"{pieces:,}",
                bar(share, f"{share:.1%}"),
            )
        )
    since = "" if path.start == 0 else f", known from cycle {path.start:,}"
    return shown(
        tag("h4", f"critical path: {counted(path.cycles, 'cycle')}{since}"),
        table(["node", "what", "cycles", "pieces", "of all cycles"], rows, figures=(2, 3)),
        _gain(path),
    )


def _gain(path: CriticalPath) -> Markup | None:
    if path.bottleneck is None:
        return None
    gain = path.what_if(path.bottleneck)
    text = (
        f"{_label(path.graph, gain.node)} works for {counted(gain.own, 'cycle')} of it: twice as "
        "fast, it "
        f"would save {counted(gain.gain, 'cycle')} at most; the run would take {gain.cycles:,} "
        "or more."
    )
    return tag("p", text, class_="quiet")


def _what(graph: Graph, share: PathShare) -> str:
    said = share.why.value
    return said if share.other is None else f"{said} ({_label(graph, share.other)})"


def _label(graph: Graph, number: int) -> str:
    node = graph.nodes[number]
    return node.label or f"{node.op} {number}"
