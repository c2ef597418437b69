"""Our graphs in the DOT dialect of the Custard compiler.

Nodes, ports and edges are written as the dialect has them, so other tools read what they know.
What the dialect lacks (parameters, capacities, roots, primitives) travels in attributes called
``fuseloom``, from which :func:`fuseloom.dataflow.samml.exchange.sam_exact.import_marked` rebuilds
the same graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.exchange.graph_file import declaration
from fuseloom.dataflow.samml.exchange.levels import (
    accumulator_order,
    dense_levels,
    index_names,
    tensors_of,
)
from fuseloom.dataflow.samml.exchange.record import ExportNote, Severity
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.errors import GraphError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.types import Tensor

MARK = "fuseloom"
"""Name of the attribute that carries what the dialect cannot say."""
MARK_VERSION = 1
_STYLE = {
    StreamKind.CRD: ("crd", "dashed"),
    StreamKind.REF: ("ref", "bold"),
    StreamKind.VAL: ("val", "solid"),
    StreamKind.SIG: ("repsig", "dotted"),
}
_ROOTED = ("scan", "dense_scan", "repeat", "array")
_LETTER = {LevelFormat.DENSE: "d", LevelFormat.COMPRESSED: "s", LevelFormat.SINGLETON: "q"}


@dataclass(frozen=True)
class SamExport:
    """A written graph and what its user should know about it."""

    text: str
    notes: tuple[ExportNote, ...]


@check_arguments
def export_sam(graph: Graph, tensors: Mapping[str, Tensor], *, strict: bool = False) -> SamExport:
    """Write a graph in the dialect.

    Parameters
    ----------
    tensors : mapping
        Declarations of the tensors the graph reads and writes.
    strict : bool
        Refuse what other tools would not run, instead of writing it as an extension.

    Raises
    ------
    GraphError
        In strict mode, naming the node, the rule and the way out; or if a tensor is undeclared.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.load("spmv")[0].program
    >>> tensors = {tensor.name: tensor for tensor in program.tensors}
    >>> made = fl.export_sam(fl.compile(program).regions[0].graph, tensors)
    >>> made.text.splitlines()[0]
    'digraph SAM {'
    """
    made = _Exporter(graph, tensors)
    text = made.text()
    if strict and made.notes:
        note = made.notes[0]
        raise GraphError(
            f"node {note.node} cannot be written in the SAM dialect: {note.text}",
            hint="leave out --strict to write it as an extension, or compile another schedule",
        )
    return SamExport(text, tuple(made.notes))


class _Exporter:
    def __init__(self, graph: Graph, tensors: Mapping[str, Tensor]) -> None:
        self.graph = graph
        self.tensors = tensors
        self.indices = index_names(graph)
        self.hidden = self._roots()
        self.notes: list[ExportNote] = []
        reads, writes = tensors_of(graph)
        self.reads, self.writes = reads, writes
        for key in (*reads, *writes):
            if key.partition("@")[0] not in tensors:
                raise GraphError(f"graph {graph.name} uses {key}, which is not declared",
                                 hint="give the declarations of all its tensors")  # fmt: skip

    def _roots(self) -> set[int]:
        """Roots and their broadcasts: the dialect feeds such inputs without a node."""
        hidden: set[int] = set()
        for start in [n.id for n in self.graph.nodes if n.op == "root"]:
            tree, stack = [], [start]
            plain = True
            while stack:
                node = self.graph.nodes[stack.pop()]
                tree.append(node.id)
                for s in node.outputs:
                    if s is None:
                        continue
                    reader = self.graph.nodes[self.graph.consumer[s]]
                    if reader.op == "broadcast":
                        stack.append(reader.id)
                    elif reader.op not in _ROOTED or reader.inputs[0] != s:
                        plain = False
            if plain:
                hidden.update(tree)
        return hidden

    def note(self, node: Node, text: str) -> None:
        name = node.label or f"{node.op} {node.id}"
        self.notes.append(ExportNote(Severity.EXTENSION, name, text))

    def text(self) -> str:
        lines = [f'    comment="{self._comment()}"', f'    {MARK}="{self._header()}"']
        lines += [self._node(n) for n in self.graph.nodes if n.id not in self.hidden]
        lines += [
            self._edge(self.graph.nodes[tail], self.graph.nodes[head], stream)
            for tail, head, stream in self.graph.edges()
            if tail not in self.hidden
        ]
        return "digraph SAM {\n" + "\n".join(lines) + "\n}\n"

    # Graph ------------------------------------------------------------------------------------

    def name(self, key: str) -> str:
        """A tensor's name in the dialect: a view is a tensor of its own."""
        return re.sub(r"\W", "_", key.replace(",", "").replace("'", "_p"))

    def _comment(self) -> str:
        return ",".join(
            f"{self.name(key)}={self._format(key)}"
            for key in dict.fromkeys((*self.writes, *self.reads))
        )

    def _format(self, key: str) -> str:
        name, _, order = key.partition("@")
        fmt = self.tensors[name].format
        letters = "".join(_LETTER[level] for level in fmt.levels)
        modes = order.replace(",", "") if order else "".join(map(str, fmt.mode_order))
        return letters + modes or "none"

    def _header(self) -> str:
        names = dict.fromkeys(key.partition("@")[0] for key in (*self.writes, *self.reads))
        return _mark(
            {
                "version": MARK_VERSION,
                "name": quote(self.graph.name),
                "streams": [[s.kind.value, s.depth, s.capacity] for s in self.graph.streams],
                "tensors": [declaration(self.tensors[n], quote(n)) for n in names],
                "hidden": [_spec(self.graph.nodes[n]) for n in sorted(self.hidden)],
            }
        )  # fmt: skip

    # Nodes ------------------------------------------------------------------------------------

    def _node(self, node: Node) -> str:
        kind, attributes = self._dialect(node)
        items = {"type": kind, **attributes}
        packed = ",".join(f"{k}={v}" for k, v in items.items())
        apart = " ".join(f'{k}="{v}"' for k, v in items.items())
        title = re.sub(r'["\\\n]', " ", node.label or primitive(node.op).title)
        shape = "shape=point style=invis" if node.op == "broadcast" else "shape=box style=filled"
        colour = f'fillcolor="{primitive(node.op).colour}"'
        return (
            f'    {node.id} [comment="{packed}" label="{title}" {colour} {shape} {apart} '
            f'{MARK}="{_mark(_spec(node))}"]'
        )

    def _index(self, *streams: int | None) -> str:
        return next((self.indices[s] for s in streams if s in self.indices), "x")

    def _tensor(self, node: Node) -> str:
        """The tensor whose references a node handles, for show."""
        stack, seen = [*node.outputs], set()
        while stack:
            s = stack.pop()
            if s is None or s in seen:
                continue
            seen.add(s)
            reader = self.graph.nodes[self.graph.consumer[s]]
            if "tensor" in reader.params:
                return self.name(str(reader.params["tensor"]))
            stack += reader.outputs
        return "t"

    def _root(self, node: Node) -> str:
        return str(self.graph.producer[node.inputs[0]] in self.hidden).lower()

    def _dialect(self, node: Node) -> tuple[str, dict[str, object]]:
        """Type and attributes of a node in the dialect; notes what is outside it."""
        params = node.params
        match node.op:
            case "scan" | "dense_scan" if "tensor" in params:
                return "fiberlookup", self._lookup(node)
            case "repsig":
                return "repsiggen", {"index": self._index(*node.inputs)}
            case "repeat":
                signal = self.graph.producer[node.inputs[1]]
                while self.graph.nodes[signal].op == "broadcast":
                    signal = self.graph.producer[self.graph.nodes[signal].inputs[0]]
                index = self._index(*self.graph.nodes[signal].inputs)
                if self.graph.streams[node.inputs[0]].kind is StreamKind.VAL:
                    self.note(node, "repeats values; the dialect repeats references only")
                return "repeat", {"index": index, "tensor": self._tensor(node),
                                  "root": self._root(node)}  # fmt: skip
            case "intersect" | "union":
                if params.get("gate"):
                    self.note(node, "a union with a gate")
                if any(self.graph.streams[s].kind is StreamKind.VAL for s in node.inputs):
                    self.note(node, "joins values; the dialect joins references only")
                return node.op, {"index": self._index(*node.inputs[::2])}
            case "array":
                return "arrayvals", {"tensor": self.name(str(params["tensor"]))}
            case "binary" if params["fn"] in ("mul", "elemmul"):
                return "mul", {}
            case "binary" if params["fn"] in ("add", "sub"):
                if params.get("needs"):
                    self.note(node, "a sum that needs one of its operands (needs)")
                first, second = (self.graph.producer[s] for s in node.inputs)
                if params["fn"] == "sub" and first > second:
                    self.note(node, "its minuend has the larger id; others take the smaller one")
                return "add", {"sub": int(params["fn"] == "sub")}
            case "reduce" if params["fn"] == "add":
                if len(node.inputs) > 1:
                    self.note(node, "a reducer guided by coordinates")
                return "reduce", {}
            case op if accumulator_order(op):
                self.note(node, "accumulates fibers; the dialect's accumulator takes points")
                return "spaccumulator", self._accumulator(node)
            case "crddrop" | "crdhold":
                return node.op, {"outer": self._index(node.inputs[1]),
                                 "inner": self._index(node.inputs[0])}  # fmt: skip
            case "zerodrop":
                return "crddrop", {"outer": self._index(node.inputs[1]), "inner": "vals",
                                   "vals": "true"}  # fmt: skip
            case "broadcast":
                kind = self.graph.streams[node.inputs[0]].kind
                if kind in (StreamKind.REF, StreamKind.VAL):
                    self.note(node, f"broadcasts {kind.value}; the dialect only crd and repsig")
                return "broadcast", {}
            case "crdwrite" | "valwrite":
                return "fiberwrite", self._writer(node)
            case _:
                self.note(node, f"no node of the dialect is a {primitive(node.op).title}")
                return f"fuseloom_{node.op}", {}

    def _lookup(self, node: Node) -> dict[str, object]:
        key, level = str(node.params["tensor"]), int(node.params["level"])
        return {
            "index": self._index(*node.outputs),
            "tensor": self.name(key),
            "mode": self._mode(key, level),
            "format": "dense" if node.op == "dense_scan" else "compressed",
            "src": "true",
            "root": self._root(node),
        }

    def _mode(self, key: str, level: int) -> int:
        name, _, order = key.partition("@")
        modes = tuple(map(int, order.split(","))) if order else self.tensors[name].format.mode_order
        return modes[level]

    def _accumulator(self, node: Node) -> dict[str, object]:
        order = accumulator_order(node.op)
        inner = [self._index(s) for s in reversed(node.inputs[1:-1])]
        return {"order": order, **{f"in{k}": x for k, x in enumerate(inner)}}

    def _writer(self, node: Node) -> dict[str, object]:
        key = str(node.params["tensor"])
        if node.op == "valwrite":
            if dense := dense_levels(self.graph, key, self.tensors):
                levels = ", ".join(map(str, dense))
                self.note(node, f"{key} is stored dense in level {levels}; the dialect writes all")
            return {"tensor": self.name(key), "mode": "vals", "size": "1", "sink": "true"}
        level = int(node.params["level"])
        sizes = [f"{self.name(key)}{self._mode(key, k)}_dim" for k in range(level + 1)]
        return {
            "index": self._index(*node.inputs),
            "tensor": self.name(key),
            "mode": self._mode(key, level),
            "format": "compressed",
            "segsize": f"{'*'.join(sizes[:-1])}+1" if level else "2",
            "crdsize": "*".join(sizes),
            "sink": "true",
        }

    # Edges ------------------------------------------------------------------------------------

    def _edge(self, tail: Node, head: Node, stream: Stream) -> str:
        kind, style = _STYLE[stream.kind]
        comment = self._port(head, stream.id, inward=True) or self._port(tail, stream.id)
        label = f"{kind}_{comment}" if comment else kind
        return (
            f'    {tail.id} -> {head.id} [label="{label}" style={style} type="{kind}" '
            f'comment="{comment}" {MARK}="{stream.id}"]'
        )

    def _port(self, node: Node, stream: int, inward: bool = False) -> str:
        index = self.indices.get(stream, "")
        match node.op:
            case "intersect" | "union":
                if inward:
                    return f"in-{self._tag(node, node.inputs.index(stream) // 2)}"
                port = node.outputs.index(stream)
                return f"out-{self._tag(node, port - 1)}" if port else ""
            case "crddrop" | "crdhold" | "zerodrop" | "valdrop":
                if self.graph.streams[stream].kind is StreamKind.VAL:
                    return "in-vals" if inward else "inner-vals"
                if inward:
                    return f"in-{index}"
                return f"{('inner', 'outer')[node.outputs.index(stream)]}-{index}"
            case op if accumulator_order(op) and index:
                return index if inward else f"out-{index}"
        return ""

    def _tag(self, node: Node, operand: int) -> str:
        """A name for a joiner's operand: the tensor its payload belongs to, if that is plain."""
        tags: list[str] = []
        for payload in node.inputs[1::2]:
            tag = self._payload_tensor(payload)
            tags.append(tag if tag not in tags else f"{tag}{len(tags)}")
        return tags[operand]

    def _payload_tensor(self, stream: int) -> str:
        while True:
            node = self.graph.nodes[self.graph.producer[stream]]
            if "tensor" in node.params:
                return self.name(str(node.params["tensor"]))
            if node.op in ("intersect", "union"):
                stream = node.inputs[2 * node.outputs.index(stream) - 1]
            elif node.inputs:
                stream = node.inputs[0]
            else:
                return "t"


def _spec(node: Node) -> dict[str, object]:
    """A node as the mark holds it; texts are percent-encoded, so that nothing needs escapes."""
    return {
        "id": node.id,
        "op": node.op,
        "in": node.inputs,
        "out": node.outputs,
        "params": {k: quote(v) if isinstance(v, str) else v for k, v in node.params.items()},
        "label": quote(node.label),
    }


def _mark(data: object) -> str:
    return json.dumps(data, separators=(",", ":")).replace('"', '\\"')
