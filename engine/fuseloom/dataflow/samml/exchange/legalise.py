"""Rewriting a graph of ours into one the Comal simulator can run (``docs/spec/comal.md`` §5.3).

What the simulator has in another form is rewritten and noted; what it lacks is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.exchange.levels import accumulator_order, origin
from fuseloom.dataflow.samml.exchange.record import ExportNote, Severity
from fuseloom.dataflow.samml.exchange.streams import maybe_empty, peel, wires_of
from fuseloom.dataflow.samml.exchange.tortilla_ops import BINARY_CODES, UNARY_CODES
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput, Wiring
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.errors import GraphError
from fuseloom.program.types import Tensor

SIG = StreamKind.SIG
_AS_IS = frozenset({"root", "scan", "sam_locate", "intersect", "array", "crddrop",
                    "crdhold", "fork", "join", "broadcast", "crdwrite", "valwrite"})  # fmt: skip
_LACKING = "the target simulator has no such node"


class Legaliser:
    """One graph on its way to the simulator."""

    def __init__(self, graph: Graph, tensors: Mapping[str, Tensor]) -> None:
        self.graph = graph
        self.tensors = tensors
        self.notes: list[ExportNote] = []
        self.wiring = Wiring()
        self.wires: dict[int, DraftOutput] = {}
        self.signals: dict[int, DraftOutput] = {}
        self.absent = maybe_absent(graph)

    def run(self) -> Graph:
        """The rewritten graph; signals of repeaters are private and numbered last.

        Raises
        ------
        GraphError
            Naming the node the simulator could not run, the rule and the way out.
        """
        if not self._changes():
            self.graph = _free_signals(self.graph.bare())
            self._check_emptiness()
            return self.graph
        for number in self._order():
            self._rebuild(self.graph.nodes[number])
        capacities = {s.capacity for s in self.graph.streams}
        rebuilt = self.wiring.finish(self.graph.name)
        if capacities != {None}:
            if len(capacities) > 1:
                raise GraphError(
                    f"graph {self.graph.name} has channels of several capacities and must be "
                    "rewritten for the target, which gives it other channels",
                    hint="give every channel one capacity, or none",
                )
            rebuilt = rebuilt.with_capacity(capacities.pop())
        self.graph = _free_signals(_signals_last(rebuilt))
        self._check_emptiness()
        return self.graph

    def _check_emptiness(self) -> None:
        _check_empty_tokens(self)
        _check_empty_fibers(self)

    def note(self, node: Node, text: str, severity: Severity = Severity.CHANGE) -> None:
        self.notes.append(ExportNote(severity, _name(node), text))

    def refuse(self, node: Node, rule: str, hint: str) -> GraphError:
        return GraphError(f"node {_name(node)} cannot be exported: {rule}", hint=hint)

    def _order(self) -> tuple[int, ...]:
        """The nodes' own order, if producers come first in it."""
        producer = self.graph.producer
        plain = all(producer[s] < n.id for n in self.graph.nodes for s in n.inputs)
        return tuple(n.id for n in self.graph.nodes) if plain else self.graph.topological()

    def _changes(self) -> bool:
        """Return whether anything must be rewritten (and refuse what cannot be)."""
        changed = _signals_last(self.graph) is not self.graph
        for node in self.graph.nodes:
            if node.op == "repsig":
                reader = self.graph.consumer[node.outputs[0]] if node.outputs[0] is not None else -1
                source = self.graph.streams[node.inputs[0]].kind
                private = reader == node.id + 1 and self.graph.nodes[reader].op == "repeat"
                changed = changed or not private or source is StreamKind.CRD
            elif node.op == "valdrop":
                self._keep_zeros(node)
                changed = True
            elif node.op != "repeat":
                op, params, inputs = self._form(node)
                changed = changed or (op, params, inputs) != (
                    node.op, dict(node.params), len(node.inputs)
                )  # fmt: skip
        self.notes.clear()
        return changed

    def _rebuild(self, node: Node) -> None:
        if node.op == "repsig":
            self.signals[node.outputs[0] or 0] = self.wires[node.inputs[0]]
            return
        if node.op == "broadcast" and self.graph.streams[node.inputs[0]].kind is SIG:
            for s in node.outputs:
                if s is not None:
                    self.signals[s] = self.signals[node.inputs[0]]
            return
        if node.op == "repeat":
            source = self._payload(self.signals[node.inputs[1]], node)
            (signal,) = self.wiring.add("repsig", (source,), label="repeat signal")
            held = self.wires[node.inputs[0]]
            self._keep(node, self.wiring.add("repeat", (held, signal), label=node.label))
            return
        if node.op == "valdrop":
            val, crd = (self.wires[s] for s in node.inputs)
            self._keep_zeros(node)
            self._keep(node, (val, crd))
            return
        op, params, count = self._form(node)
        inputs = [self.wires[s] for s in node.inputs[:count]]
        if op == "sam_locate" and node.op == "locate":
            inputs.reverse()
        outputs = len(node.outputs) if op != "sam_locate" else 3
        self._keep(node, self.wiring.add(op, inputs, outputs, params, node.label))

    def _keep(self, node: Node, made: tuple[DraftOutput, ...]) -> None:
        for s, wire in zip(node.outputs, made, strict=False):
            if s is not None:
                self.wires[s] = wire

    def _payload(self, wire: DraftOutput, node: Node) -> DraftOutput:
        """The references or values beside a level's coordinates, which repeat in their stead."""
        wire = peel(wire)
        if wire.kind is not StreamKind.CRD:
            return wire
        match wire.part.op, wire.port:
            case ("scan" | "dense_scan" | "intersect" | "union" | "spacc1", 0):
                payload = wire.part.outs[1]
            case ("sam_locate" | "spacc2", _) if wire.port > 0:
                payload = wire.part.outs[3 - wire.port]
            case ("crdhold", 0):
                payload = self._payload(wire.part.inputs[0], node)
            case _:
                raise self.refuse(
                    node,
                    f"it repeats over the coordinates of {wire.part.label or wire.part.op}, "
                    "beside which no reference or value stream runs; the target repeats over those",
                    "repeat before the coordinates are dropped or dealt out",
                )
        self.note(node, f"repeats over {payload.kind.value}s of the level, not its coordinates")
        return payload

    def _form(self, node: Node) -> tuple[str, dict[str, Scalar], int]:
        """Op, parameters and number of inputs in the target."""
        params: dict[str, Scalar] = dict(node.params)
        count = len(node.inputs)
        if node.op not in ("binary", "unary", "array"):
            for name in ("latency", "ii", "block"):
                if name in params:
                    raise self.refuse(node, f"the target has no {name} there", "take it out")
        elif {"latency", "ii"} & params.keys():
            raise self.refuse(node, "latencies of single nodes are fixed in the target",
                              "take out latency and ii")  # fmt: skip
        match node.op:
            case op if op in _AS_IS:
                if op == "broadcast" and self.graph.streams[node.inputs[0]].kind is SIG:
                    return "repsig", params, count
                if op == "join":
                    self.note(node, "right only if every forked fiber's length is a multiple of "
                              "the lanes (docs/spec/comal.md §2.10)", Severity.WARNING)  # fmt: skip
                if op == "crdwrite":
                    self._check_writer(node)
                if params.pop("singleton", False):
                    self.note(node, "reads a singleton level stored as a compressed one")
                return op, params, count
            case "dense_scan":
                if "tensor" not in params:
                    self.note(node, "reads a tensor made up for its size")
                    params |= {"tensor": f"range_{params['dim']}", "level": 0}
                return "dense_scan", params, count
            case "locate":
                self._check_at_root(node)
                self.note(node, "passes the coordinate on as reference (iterate-locate)")
                return "sam_locate", {}, count
            case "union":
                if params["gate"]:
                    raise self.refuse(node, "a union with a gate; the target's has none",
                                      "choose a schedule without a gated union")  # fmt: skip
                return "union", params, count
            case "binary":
                return "binary", self._binary(node, params), count
            case "unary":
                fn = "max" if params["fn"] == "relu" else params["fn"]
                if fn not in UNARY_CODES or (params["fn"] == "max" and not params["scalar"]):
                    raise self.refuse(node, f"the target has no function {fn}",
                                      f"it has {', '.join(UNARY_CODES)}, relu")  # fmt: skip
                return "unary", params, count
            case "reduce":
                return "reduce", self._reduce(node, params), 1
            case "spacc1" | "spacc2":
                if params.get("fn", "add") != "add":
                    raise self.refuse(node, "the target accumulates sums only",
                                      "choose an order that reduces by max innermost")  # fmt: skip
                home = origin(self.graph, node.inputs[1])
                size = home.size(self.tensors) if home is not None else None
                if node.op == "spacc2":
                    return "spacc2", {}, count
                return "spacc1", {"fn": "add", "dim": size or params["dim"]}, count
            case _:
                text = f"{primitive(node.op).title}: {_LACKING}"
                way = "compile another schedule or order"
                if node.op == "zerodrop":
                    way = "compile the program without nonzero"
                raise self.refuse(node, text, way)

    def _binary(self, node: Node, params: dict[str, Scalar]) -> dict[str, Scalar]:
        needs = str(params.pop("needs", ""))
        if any(node.inputs["ab".index(operand)] in self.absent for operand in needs):
            raise self.refuse(
                node, "a sum that needs one of its operands; the target's sums take what there is",
                "let both operands have the same coordinates",
            )  # fmt: skip
        if needs:
            self.note(node, "the operand it needs is never absent, so the need is left out")
        if params["fn"] not in BINARY_CODES:
            raise self.refuse(node, f"the target has no {params['fn']}",
                              f"it has {', '.join(BINARY_CODES)}")  # fmt: skip
        if params["fn"] in ("mul", "elemmul"):
            params["fn"] = "mul" if self._is_reduced(node) else "elemmul"
        return params

    def _is_reduced(self, node: Node) -> bool:
        """Return whether the first reader of its result sums it (``docs/spec/comal.md`` §5.3)."""
        stream = node.outputs[0]
        while stream is not None:
            reader = self.graph.nodes[self.graph.consumer[stream]]
            if reader.op != "broadcast":
                return reader.op == "reduce" or accumulator_order(reader.op) > 0
            stream = reader.outputs[0]
        return False

    def _reduce(self, node: Node, params: dict[str, Scalar]) -> dict[str, Scalar]:
        if len(node.inputs) > 1:
            self.note(
                node, "has no guide in the target: where the level outside is empty, it puts a "
                "value too much (docs/spec/comal.md §5.4)", Severity.WARNING,
            )  # fmt: skip
        if params["fn"] == "max":
            self.note(node, "restarts every fiber but the first at 0 in the target "
                      "(docs/spec/comal.md §2.4)", Severity.WARNING)  # fmt: skip
            return {"fn": "max"}
        return params

    def _keep_zeros(self, node: Node) -> None:
        """The target has no dropper of empty values; its sums over nothing are 0, and stay."""
        stream = node.inputs[0]
        while (parent := self.graph.nodes[self.graph.producer[stream]]).op == "broadcast":
            stream = parent.inputs[0]
        if parent.op != "reduce" or parent.params["fn"] != "add":
            raise self.refuse(
                node, f"{primitive(node.op).title}: {_LACKING}", "compile another schedule or order"
            )  # fmt: skip
        self.note(node, "left out: sums over nothing are stored as 0")

    def _check_at_root(self, node: Node) -> None:
        stream = node.inputs[1]
        while True:
            parent = self.graph.nodes[self.graph.producer[stream]]
            if parent.op == "root":
                return
            if parent.op not in ("repeat", "broadcast"):
                raise self.refuse(
                    node, "it locates below a level other than the root, where the target forgets "
                    "the reference of the level above (docs/spec/comal.md §2.12)",
                    "declare that level compressed, or make the dense level the outermost",
                )  # fmt: skip
            stream = parent.inputs[0]

    def _check_writer(self, node: Node) -> None:
        if self.graph.streams[node.inputs[0]].depth != int(node.params["level"]) + 1:
            raise self.refuse(node, "it writes a level at another depth than its own",
                              "write levels as they nest")  # fmt: skip


def maybe_absent(graph: Graph) -> set[int]:
    """Streams on which our machine may put the empty token because a union's operand is absent."""
    found: set[int] = set()
    for number in graph.topological():
        node = graph.nodes[number]
        got = [s in found for s in node.inputs]
        match node.op:
            case "union":
                absent = True
            case "binary" if node.params["fn"] in ("add", "sub"):
                needs = str(node.params.get("needs", ""))
                absent = all(got) or any(got["ab".index(operand)] for operand in needs)
            case op if accumulator_order(op):
                absent = False
            case "scan" | "dense_scan" | "reduce" | "valdrop" | "zerodrop":
                absent = False  # a scanner makes an empty fiber of an absent reference
            case _:
                absent = any(got)
        if absent:
            found |= {s for s in node.outputs if s is not None}
    return found


def _name(node: Node) -> str:
    return node.label or f"{node.op} {node.id}"


def _free_signals(graph: Graph) -> Graph:
    """The same graph with unbounded signals, which are inside the target's repeaters.

    Of its streams only what the target knows is kept.
    """
    streams = (
        Stream(s.id, kind=s.kind, depth=s.depth, capacity=None if s.kind is SIG else s.capacity)
        for s in graph.streams
    )
    return replace(graph, streams=tuple(streams))


def _signals_last(graph: Graph) -> Graph:
    """The same graph, repeat signals numbered after all other streams, in the nodes' order."""
    signals = [s for n in graph.nodes for s in n.outputs
               if s is not None and graph.streams[s].kind is SIG]  # fmt: skip
    others = [s.id for s in graph.streams if s.kind is not SIG]
    new = {old: number for number, old in enumerate((*others, *signals))}
    if all(old == number for old, number in new.items()):
        return graph
    nodes = tuple(
        replace(
            n,
            params=dict(n.params),
            inputs=tuple(new[s] for s in n.inputs),
            outputs=tuple(None if s is None else new[s] for s in n.outputs),
        )
        for n in graph.nodes
    )
    streams: tuple[Stream, ...] = tuple(
        replace(graph.streams[old], id=number) for old, number in new.items()
    )
    return replace(graph, nodes=nodes, streams=streams)


def _check_empty_tokens(legaliser: Legaliser) -> None:
    """Follow the empty tokens that unions make to what they would break.

    Rules: ``docs/spec/comal.md`` §2.
    """
    graph = legaliser.graph
    empty: set[int] = set()
    for number in graph.topological():
        node = graph.nodes[number]
        got = [k for k, s in enumerate(node.inputs) if s in empty]
        outs = [s for s in node.outputs if s is not None]
        match node.op:
            case "union" | "intersect":
                if any(k % 2 == 0 for k in got):
                    raise _panics(legaliser, node)
                for k, s in enumerate(node.outputs[1:]):
                    if s is not None and (node.op == "union" or 2 * k + 1 in got):
                        empty.add(s)
            case _ if not got:
                continue
            case "scan" | "dense_scan":  # what is below breaks too, and is not reported again
                text = "an operand that lacks a coordinate breaks this level in the target"
                legaliser.note(node, f"{text} (docs/spec/comal.md §2.1)", Severity.WARNING)
            case "repeat":
                text = "after an absent operand the target loses a stop (docs/spec/comal.md §2.3)"
                legaliser.note(node, text, Severity.WARNING)
                empty |= set(outs)
            case "broadcast" | "sam_locate":
                empty |= set(outs)
            case "unary" | "fork" | "join" | "crddrop" | "crdhold" | "spacc1" | "spacc2":
                raise _panics(legaliser, node)


_EMPTY_FIBERS = {
    "spacc1": "fails in the target where a row begins with an empty fiber "
    "(docs/spec/comal.md §2.5)",
    "spacc2": "loses stops in the target where a fiber is empty (docs/spec/comal.md §2.6)",
    "crddrop": "drops too much in the target after an empty outer fiber (docs/spec/comal.md §2.7)",
    "crdwrite": "loses empty fibers, in the target as here (docs/spec/comal.md §5.5)",
}


def _check_empty_fibers(legaliser: Legaliser) -> None:
    """Warn of nodes that empty fibers lead astray; that whole tensors are empty is left out."""
    graph = legaliser.graph
    wires = wires_of(graph)
    for node in graph.nodes:
        levels = [wires[s] for s in node.inputs if graph.streams[s].kind is StreamKind.CRD]
        if node.op == "crddrop":
            levels = levels[1:]
        text = _EMPTY_FIBERS.get(node.op, "")
        if node.op == "crdwrite" and _is_dropped(levels[0]):
            text = "records a first fiber that is empty, though its coordinate was dropped " \
                   "(docs/spec/comal.md §2.11)"  # fmt: skip
        if node.op in _EMPTY_FIBERS and any(
            wire.depth > 1 and maybe_empty(wire, tensors=False) for wire in levels
        ):
            legaliser.note(node, text, Severity.WARNING)


def _is_dropped(wire: DraftOutput) -> bool:
    """Return whether a dropper removes the coordinates above a stream's empty fibers."""
    while wire.part.op == "broadcast":
        wire = wire.part.inputs[0]
    return wire.part.op == "crddrop" and wire.port == 0


def _panics(legaliser: Legaliser, node: Node) -> GraphError:
    return legaliser.refuse(
        node, "the empty token of a union reaches it, on which the target panics",
        "add or subtract the operands of the union before anything else",
    )  # fmt: skip
