"""The details of the selected cell or graph node, in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.display import TOKENS
from fuseloom.dataflow.samml.graph import Graph, Node, StreamKind
from fuseloom.dataflow.samml.primitive import Port
from fuseloom.dataflow.why.answer import MUCH
from fuseloom.dataflow.why.spots import spots
from fuseloom.errors import GraphError
from fuseloom.program.printer import statement_text
from fuseloom.results.run_parts import NodeRow
from fuseloom_workbench.base.help import marked
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state.areas import node_area
from fuseloom_workbench.state.estimate_figures import cycles_of_statements, recomputation_of
from fuseloom_workbench.state.records import ports_of
from fuseloom_workbench.state.session import Session

_WORDS = {
    StreamKind.CRD: "coordinates",
    StreamKind.REF: "references",
    StreamKind.VAL: "values",
    StreamKind.SIG: "repeat signal",
}
_PARTS = (
    ("luts", "lookup tables", "LUTs"),
    ("flip_flops", "flip-flops", "FFs"),
    ("dsps", "multipliers", "DSPs"),
    ("block_rams", "block memories", "BRAMs"),
)
"""The parts of an FPGA that hardware takes: the field, its name, and its unit."""
SHORT = 60
"""Characters of a hint that is shown behind its reason, and not only where it is pointed at."""
HINT = "<p class='quiet'>Select a cell of the table or a node of the graph to see what it does.</p>"


@page_part("details")
def view(session: Session) -> dict[str, Any]:
    """The selection, or else the region, in HTML; a user's program is escaped."""
    return {"html": _html(session)}


def _html(session: Session) -> str:
    parts: list[str] = []
    column, row = session.cell
    cells = session.current.table.cells
    if (column, row) in cells:
        cell = cells[column, row]
        refers = f" → refers to <code>{escape(cell.target)}</code>" if cell.target else ""
        lone = (
            ""
            if session.node >= 0
            else ("<p class='quiet'>No graph node comes from this cell alone.</p>")
        )
        parts.append(_statement(session, column))
        parts.append(
            f"<h4>Cell <code>{escape(column)}.{escape(row)}</code></h4>"
            f"<p><b>{escape(cell.kind.value)}</b>: <code>{escape(cell.text)}</code>{refers}"
            f"</p>{lone}"
        )
    if session.node >= 0:
        node = session.current.graph.nodes[session.node]
        if (column, row) not in cells:
            parts.append(_statement(session, node.origin.partition(".")[0]))
        parts.append(_node(session, node))
    if not parts:
        unit = session.kernel
        parts.append(_region(session) if unit < 0 else _kernel_card(session, unit))
    return f"<div class='sheet'><section>{''.join(parts)}</section></div>"


def _kernel_card(session: Session, number: int) -> str:
    """A kernel of the chain: its statements, and what they take in the region they lie in."""
    built, unit = session.built, session.built.units[number]
    texts = "".join(f"<li><code>{escape(text)}</code></li>" for text in unit.texts)
    head = f"<h4>Kernel {escape(unit.name)}</h4><ul>{texts}</ul>"
    if unit.place:
        head += f"<p class='quiet'>{escape(unit.place)}</p>"
    if unit.memory:
        return f"{head}<p>A reshape: memory does it between regions, and nothing fuses across.</p>"
    region = built.unit_regions[number]
    places = spots(built.regions[region])
    nodes = [node for node, spot in enumerate(places) if spot.statement in unit.statements]
    if not nodes:
        return f"{head}<p>No node of the graph is its alone: it is merged into another.</p>"
    guess = built.estimate.regions[region].nodes
    record = session.record
    rows = record.run.regions[region].rows if record else {}
    seen = [rows[node] for node in nodes if node in rows]
    lines = [
        ("tokens", "tokens, all nodes", sum(guess[n].tokens for n in nodes),
         sum(row["tokens"] for row in seen) if seen else None, "tokens"),
        ("node.busy", "busiest node", max(guess[n].cycles for n in nodes),
         max(row["busy"] for row in seen) if seen else None, "cycles"),
        ("bytes", "memory traffic", sum(guess[n].bytes for n in nodes), None, "bytes"),
        ("flops", "arithmetic", sum(guess[n].flops for n in nodes), None, "FLOPs"),
        ("nodes", "nodes of the graph", len(nodes), None, "nodes"),
    ]  # fmt: skip
    again = "".join(
        f"<p {marked('recompute.factor')}><code>{escape(found.tensor)}</code> is computed "
        f"<b>{found.factor:.3g}×</b> over: {count(found.made, 'values')} instead of "
        f"{count(found.needed, 'values')}</p>"
        for found in recomputation_of(built)
        if found.tensor in unit.statements and found.factor >= MUCH
    )
    button = "<p><button class='button' data-show='nodes'>Show its nodes</button></p>"
    return f"{head}<p class='quiet'>in region {region + 1}</p>{_table(lines)}{again}{button}"


def _region(session: Session) -> str:
    """The region shown: what it costs, and what its statements do."""
    region, expected = session.current, session.estimate.regions[session.region]
    record = session.record
    run = record.run.regions[session.region] if record else None
    lines = [
        ("cycles.estimated", "cycles", expected.cycles, run and run.cycles, "cycles"),
        ("bytes", "memory traffic", expected.bytes, run and run.bytes, "bytes"),
        ("flops", "arithmetic", expected.flops, run and run.flops, "FLOPs"),
        ("on_chip", "held on chip", expected.on_chip.held, None, "bytes"),
    ]
    busiest = cycles_of_statements(session.built, session.region)
    statements = "".join(
        f"<li data-statement='{escape(s.out.tensor)}'><code>{escape(statement_text(s))}</code>"
        f"<span class='quiet'> {escape(_kernel(session, s.out.tensor))}</span>"
        + (
            f" <span {marked('node.busy')}>{_figure(busiest[s.out.tensor], 'cycles')}</span></li>"
            if s.out.tensor in busiest
            else "</li>"
        )
        for s in region.region.statements
    )
    return (
        f"<h4>Region {session.region + 1}: {escape(region.name)}</h4>{_table(lines)}"
        "<p>Its statements, with the cycles in which the busiest node of each works, estimated:</p>"
        f"<ul>{statements}</ul>{HINT}"
    )


def _statement(session: Session, column: str) -> str:
    """The statement that a column of the table belongs to, with its kernel."""
    columns = {c.name: c.statement for c in session.current.table.columns}
    name = columns.get(column)
    found = next((s for s in session.current.region.statements if s.out.tensor == name), None)
    if found is None:
        return ""
    kernel = _kernel(session, found.out.tensor)
    return (
        f"<p class='einsum'><code>{escape(statement_text(found))}</code>"
        f"<span class='quiet'> {escape(kernel)}</span></p>"
    )


def _kernel(session: Session, tensor: str) -> str:
    return next((u.name for u in session.built.units if tensor in u.statements), "")


def _node(session: Session, node: Node) -> str:
    entry = CATALOGUE[node.op]
    token = TOKENS[entry.family]
    graph = session.current.graph
    params = "".join(
        f"<li><code>{escape(name)} = {escape(str(value))}</code></li>"
        for name, value in node.params.items()
    )
    return (
        f"<h4><span class='kind' style='--c:var(--{token});--f:var(--{token}-f)'>"
        f"{escape(entry.short)}</span> "
        f"{escape(node.label or entry.title)}</h4>"
        f"<p><b>{escape(entry.title)}</b> · node {node.id}<br>{escape(entry.doc)}</p>"
        + (f"<ul class='params'>{params}</ul>" if params else "")
        + "</section><section>"
        + _ports("in", entry.input_ports(len(node.inputs)), node.inputs, graph)
        + _ports("out", entry.output_ports(len(node.outputs)), node.outputs, graph)
        + f"</section><section>{_figures(session, node)}"
    )


def _figures(session: Session, node: Node) -> str:
    region_estimate = session.estimate.regions[session.region]
    expected = region_estimate.nodes[node.id]
    picojoules = sum(a.count * a.picojoules for a in region_estimate.actions.nodes[node.id])
    record = session.record
    region = record.run.regions[session.region] if record else None
    row = region.rows.get(node.id) if region else None
    asked = ports_of(region, node.id) if region else []
    ports = sum(port["stall_memory"] for port in asked) if asked else None
    path = region.path if region else None
    on_path = path and round(path["shares"].get(str(node.id), 0.0) * path["cycles"])
    lines = [
        ("tokens", "busiest port", expected.tokens, row and row["tokens"], "tokens"),
        ("tokens", "put, all ports", None, row and row["tokens_out"], "tokens"),
        ("tokens", "taken, all ports", None, row and row["tokens_in"], "tokens"),
        ("node.busy", "cycles busy", expected.cycles, row and row["busy"], "cycles"),
        ("node.waits", "waits for input", None, row and row["stall_input"], "cycles"),
        ("node.waits", "waits for space", None, row and row["stall_output"], "cycles"),
        ("node.waits", "waits for memory", None, row and row["stall_memory"], "cycles"),
        ("node.waits", "its memory ports wait", None, row and ports, "cycles"),
        ("node.idle", "idle after its end", None, row and row["idle"], "cycles"),
        ("path.cycles", "on the critical path", None, on_path, "cycles"),
        ("flops", "arithmetic", expected.flops, None, "FLOPs"),
        ("bytes", "memory traffic", expected.bytes, None, "bytes"),
        ("energy", "energy", picojoules, _picojoules(row, asked), "pJ"),
    ]
    share = ""
    if row:
        busy = f"<b>{row['busy_share']:.0%}</b> of the elapsed cycles"
        share = f"<p {marked('node.busy')}>busy {busy}</p>"
    note = "" if row else "<p class='quiet'>Press Run to measure.</p>"
    return f"{_table(lines)}{share}{note}{_hardware(session, node)}"


def _hardware(session: Session, node: Node) -> str:
    """The hardware of a node and of its output channels, or the reason why it has none."""
    try:
        found = node_area(session.current.graph, node, session.machine)
    except GraphError as reason:
        hint = escape(reason.hint or "")
        more = f" ({hint})" if len(hint) <= SHORT else ""
        return (
            f"<p class='quiet' title='{hint}'>No area in hardware: {escape(reason.message)}{more}"
            "</p>"
        )
    outputs = {stream for stream in node.outputs if stream is not None}
    known = found.channels.keys() == outputs
    channels = sum(found.channels.values(), start=found.node.scaled(0)) if known else None
    least = "at least " if found.least else ""
    body = "".join(
        f"<tr><th scope='row' {marked('area')}>{name}</th>"
        f"<td {marked('area')}>{least}{_figure(getattr(found.node, field), unit)}</td>"
        f"<td {marked('area')}>"
        f"{_figure(None if channels is None else getattr(channels, field), unit)}</td></tr>"
        for field, name, unit in _PARTS
        if getattr(found.node, field) or getattr(channels, field, 0.0) or unit != "BRAMs"
    )
    return (
        "<table class='hardware'><thead><tr><td>in hardware</td><th scope='col'>node</th>"
        f"<th scope='col'>output channels</th></tr></thead><tbody>{body}</tbody></table>"
    )


def _picojoules(row: NodeRow | None, ports: Sequence[Mapping[str, Any]]) -> float | None:
    """Energy of a node and its memory ports in a run, where it is known."""
    joules = [one["energy"] for one in (row, *ports) if one is not None]
    known = [each for each in joules if each is not None]
    return 1e12 * sum(known) if known and len(known) == len(joules) else None


def _table(lines: Iterable[tuple[str, str, float | None, float | None, str]]) -> str:
    """Rows of key, name, estimated and simulated value, and unit, where one of both is known."""
    body = "".join(
        f"<tr><th scope='row' {marked(key)}>{name}</th>"
        f"<td {marked(key)}>{_figure(guess, unit)}</td>"
        f"<td {marked(key)}>{_figure(seen, unit)}</td></tr>"
        for key, name, guess, seen, unit in lines
        if guess is not None or seen is not None
    )
    return (
        "<table><thead><tr><td></td><th scope='col'>estimated</th>"
        f"<th scope='col'>simulated</th></tr></thead><tbody>{body}</tbody></table>"
    )


def _figure(value: float | None, unit: str) -> str:
    return "–" if value is None else escape(count(value, unit).replace("-", "−", value < 0))


def _ports(title: str, ports: Iterable[Port], streams: Iterable[int | None], graph: Graph) -> str:
    items = []
    for port, number in zip(ports, streams, strict=True):
        if number is None:
            items.append(f"<li><code>{escape(port.name)}</code> unused</li>")
            continue
        stream = graph.streams[number]
        items.append(
            f"<li><code>{escape(port.name)}</code> {escape(stream.label)} "
            f"<span class='quiet'>{_WORDS[stream.kind]}, depth {stream.depth}</span></li>"
        )
    return f"<div class='ports'><b>{title}</b><ul>{''.join(items)}</ul></div>" if items else ""
