"""From a graph of ours to a protobuf graph of the Comal simulator (``docs/spec/comal.md`` §5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.samml.exchange.legalise import Legaliser
from fuseloom.dataflow.samml.exchange.levels import dense_levels, index_names, tensors_of
from fuseloom.dataflow.samml.exchange.record import ExportNote, Severity
from fuseloom.dataflow.samml.exchange.schema import pb
from fuseloom.dataflow.samml.exchange.tensor_folder import save_shape, save_tensor
from fuseloom.dataflow.samml.exchange.tortilla_ops import (
    BINARY_CODES,
    KEEPS_EMPTY,
    UNARY_CODES,
    Message,
)
from fuseloom.dataflow.samml.graph import Graph, Node, StreamKind
from fuseloom.errors import GraphError
from fuseloom.program import regular_files
from fuseloom.program.formats import Format
from fuseloom.program.storage import StoredTensor
from fuseloom.program.stored_views import resolve_view
from fuseloom.program.types import Tensor

GRAPH_FILE = "op.bin"
_FIELD = {StreamKind.CRD: "crd", StreamKind.REF: "ref", StreamKind.VAL: "val"}


@dataclass(frozen=True)
class TortillaExport:
    """A written graph.

    Attributes
    ----------
    data : bytes
        The serialised ``ComalGraph``.
    graph : Graph
        What was written: the given graph as the target can run it.
    notes : tuple of ExportNote
        What was changed for the target, and what may go wrong there.
    tensors : mapping
        Declaration of every tensor by the name its files have.
    """

    data: bytes
    graph: Graph
    notes: tuple[ExportNote, ...]
    tensors: Mapping[str, Tensor]

    @property
    def warnings(self) -> tuple[ExportNote, ...]:
        """The notes on possible failures in the target."""
        return tuple(note for note in self.notes if note.severity is Severity.WARNING)

    def save(self, folder: Path, data: Mapping[str, StoredTensor] | None = None) -> None:
        """Write ``op.bin`` and the tensors' files; without data, their shapes alone."""
        regular_files.write_bytes(folder / GRAPH_FILE, self.data)
        for key, tensor in self.tensors.items():
            if data is None or tensor.name not in data:
                save_shape(folder, key, tensor.shape)
            else:
                save_tensor(folder, key, resolve_view(data, key))


@check_arguments
def export_tortilla(graph: Graph, tensors: Mapping[str, Tensor]) -> TortillaExport:
    """Write a graph for the Comal simulator.

    Parameters
    ----------
    tensors : mapping
        Declarations of the tensors the graph reads.

    Raises
    ------
    GraphError
        If the simulator could not run it: naming the node, the rule and the way out.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.load("spmm")[0].program
    >>> tensors = {tensor.name: tensor for tensor in program.tensors}
    >>> made = fl.export_tortilla(fl.compile(program).regions[0].graph, tensors)
    >>> for note in made.warnings:
    ...     print(note.node + ":", note.text.partition(" (docs")[0])
    Acc1_k: fails in the target where a row begins with an empty fiber
    LW T.j: records a first fiber that is empty, though its coordinate was dropped
    """
    missing = [k for k in tensors_of(graph)[0] if k.partition("@")[0] not in tensors]
    if missing:
        raise GraphError(f"graph {graph.name} reads {missing[0]}, which is not declared",
                         hint="give the declarations of all its tensors")  # fmt: skip
    for key in tensors_of(graph)[0]:
        if getattr(tensors[key.partition("@")[0]].format, "block", 1) > 1:
            raise GraphError(
                f"graph {graph.name} reads {key}, whose values are blocks; the target's block "
                "graphs cannot run what ours do",
                hint="store it without blocks; --block on import gives block timing",
            )
    for key in tensors_of(graph)[1]:
        if dense := dense_levels(graph, key, tensors):
            raise GraphError(
                f"graph {graph.name} stores {key} dense in level {dense[0]}; the target writes the "
                "coordinates of every level",
                hint=f"write 'store {key} compressed' in the schedule",
            )
    legaliser = Legaliser(graph, tensors)
    legal = legaliser.run()
    if any(s.capacity is not None for s in legal.streams):
        text = "the target does not read channel capacities; they are kept as stream names"
        legaliser.notes.append(ExportNote(Severity.WARNING, legal.name, text))
    declared = {
        key: tensors[key.partition("@")[0]] if key.partition("@")[0] in tensors
        else Tensor(key, (_range_size(legal, key),), Format.dense(1))
        for key in tensors_of(legal)[0]
    }  # fmt: skip
    message = _Writer(legal, {**tensors, **declared}).message()
    data: bytes = message.SerializeToString(deterministic=True)
    return TortillaExport(data, legal, tuple(legaliser.notes), declared)


def _range_size(graph: Graph, key: str) -> int:
    return next(int(n.params["dim"]) for n in graph.nodes if n.params.get("tensor") == key)


class _Writer:
    def __init__(self, graph: Graph, tensors: Mapping[str, Tensor]) -> None:
        self.graph = graph
        self.tensors = tensors
        self.indices = index_names(graph)

    def message(self) -> Message:
        message = pb.ComalGraph(name=self.graph.name)
        message.graph.name = self.graph.name
        for node in self.graph.nodes:
            if node.op == "repsig":
                continue  # private to the repeat that follows
            operation = message.graph.operators.add()
            operation.name = node.label
            operation.id = len(message.graph.operators)
            self._write(node, operation)
        return message

    def _stream(self, message: Message, stream: int | None) -> None:
        """Set a stream's id; 0 is a void output."""
        message.id.id = 0 if stream is None else stream + 1
        if stream is not None and self.graph.streams[stream].capacity is not None:
            message.name = f"capacity {self.graph.streams[stream].capacity}"

    def _payload(self, message: Message, stream: int | None, kind: StreamKind) -> None:
        target = message.ref_stream if kind is StreamKind.REF else message.val_stream
        self._stream(target, stream)

    def _index(self, *streams: int | None) -> str:
        return next((self.indices[s] for s in streams if s in self.indices), "")

    def _mode(self, node: Node) -> int:
        key, level = str(node.params["tensor"]), int(node.params["level"])
        name, _, order = key.partition("@")
        declared = self.tensors[key if key in self.tensors else name]
        modes = tuple(map(int, order.split(","))) if order else declared.format.mode_order
        return modes[level]

    def _write(self, node: Node, operation: Message) -> None:
        match node.op:
            case "root":
                self._stream(operation.root.output_ref, node.outputs[0])
            case "scan" | "dense_scan":
                m = operation.fiber_lookup
                self._stream(m.input_ref, node.inputs[0])
                self._stream(m.output_crd, node.outputs[0])
                self._stream(m.output_ref, node.outputs[1])
                m.index, m.tensor = self._index(*node.outputs), str(node.params["tensor"])
                m.mode, m.src = self._mode(node), True
                m.format = "compressed" if node.op == "scan" else "dense"
                m.root = self.graph.streams[node.inputs[0]].depth == 0
            case "repeat":
                self._repeat(node, operation.repeat)
            case "intersect" | "union":
                self._join(node, operation.joiner)
            case "sam_locate":
                m = operation.locate
                self._stream(m.input_ref, node.inputs[0])
                self._stream(m.input_crd, node.inputs[1])
                for field, s in zip((m.output_ref1, m.output_ref2, m.output_crd), node.outputs,
                                    strict=True):  # fmt: skip
                    self._stream(field, s)
            case "array":
                m = operation.array
                m.tensor = str(node.params["tensor"])
                self._stream(m.input_ref, node.inputs[0])
                self._stream(m.output_val, node.outputs[0])
                self._block(node, m)
            case "binary" | "unary":
                self._alu(node, operation.alu)
            case "reduce":
                m = operation.reduce
                self._stream(m.input_val, node.inputs[0])
                self._stream(m.output_val, node.outputs[0])
                m.reduce_type = pb.Reduce.MAX if node.params["fn"] == "max" else pb.Reduce.ADD
                if node.params["fn"] == "add" and not node.params.get("empty_is_zero"):
                    m.label = KEEPS_EMPTY
            case "crddrop" | "crdhold":
                m = operation.coord_drop if node.op == "crddrop" else operation.coord_hold
                self._stream(m.in_inner, node.inputs[0])
                self._stream(m.in_outer, node.inputs[1])
                self._stream(m.out_inner, node.outputs[0])
                self._stream(m.out_outer, node.outputs[1])
                m.inner_crd, m.outer_crd = self._index(node.inputs[0]), self._index(node.inputs[1])
            case "spacc1" | "spacc2":
                self._accumulate(node, operation.spacc)
            case "broadcast" | "fork" | "join":
                self._route(node, getattr(operation, node.op))
            case "crdwrite":
                m = operation.fiber_write
                self._stream(m.input_crd, node.inputs[0])
                m.index, m.tensor = self._index(node.inputs[0]), str(node.params["tensor"])
                m.mode_val, m.format, m.sink = str(self._written_mode(node)), "compressed", True
            case "valwrite":
                m = operation.val_write
                self._stream(m.input_val, node.inputs[0])
                m.tensor, m.sink = str(node.params["tensor"]), True

    def _written_mode(self, node: Node) -> int:
        """The dimension a level of a result holds, as far as the result is declared."""
        known = str(node.params["tensor"]).partition("@")[0] in self.tensors
        return self._mode(node) if known else int(node.params["level"])

    def _repeat(self, node: Node, m: Message) -> None:
        kind = self.graph.streams[node.inputs[0]].kind
        refs = kind is StreamKind.REF
        self._stream(m.in_ref if refs else m.in_val, node.inputs[0])
        self._stream(m.out_ref if refs else m.out_val, node.outputs[0])
        signal = self.graph.nodes[self.graph.producer[node.inputs[1]]]
        over = self.graph.streams[signal.inputs[0]]
        self._stream(m.rep_ref if over.kind is StreamKind.REF else m.rep_val, over.id)
        m.label = signal.label

    def _join(self, node: Node, m: Message) -> None:
        m.join_type = pb.Joiner.UNION if node.op == "union" else pb.Joiner.INTERSECT
        m.index = self._index(*node.inputs[::2])
        pairs = zip(node.inputs[::2], node.inputs[1::2], node.outputs[1:], strict=True)
        for crd, payload, out in pairs:
            pair = m.input_pairs.add()
            kind = self.graph.streams[payload].kind
            self._stream(pair.crd, crd)
            self._payload(pair.in_ref, payload, kind)
            self._payload(m.output_refs.add(), out, kind)
        self._stream(m.output_crd, node.outputs[0])

    def _alu(self, node: Node, m: Message) -> None:
        for s in node.inputs:
            self._stream(m.vals.inputs.add(), s)
        self._stream(m.vals.output, node.outputs[0])
        fn = str(node.params["fn"])
        codes = BINARY_CODES if node.op == "binary" else UNARY_CODES
        m.stages.add().op = codes["max" if fn == "relu" else fn]
        m.scalar = float(node.params.get("scalar", 0))
        self._block(node, m)

    def _block(self, node: Node, m: Message) -> None:
        if "block" in node.params:
            m.blocked = True
            m.stream_shape.append(int(node.params["block"]))

    def _accumulate(self, node: Node, m: Message) -> None:
        *outer, inner, val = node.inputs
        *outer_out, inner_out, val_out = node.outputs
        m.order = len(outer)
        self._stream(m.input_inner_crd, inner)
        self._stream(m.input_val, val)
        self._stream(m.output_inner_crd, inner_out)
        self._stream(m.output_val, val_out)
        m.inner_crd = self._index(inner)
        for s in reversed(outer):
            self._stream(m.input_outer_crds.add(), s)
            m.outer_crds.append(self._index(s))
        for out in outer_out:
            self._stream(m.output_outer_crds.add(), out)

    def _route(self, node: Node, m: Message) -> None:
        kind = self.graph.streams[node.inputs[0]].kind
        streams = getattr(m, _FIELD[kind])
        if node.op == "join":
            self._stream(streams.output, node.outputs[0])
            for taken in node.inputs:
                self._stream(streams.inputs.add(), taken)
            return
        self._stream(streams.input, node.inputs[0])
        for put in node.outputs:
            self._stream(streams.outputs.add(), put)
