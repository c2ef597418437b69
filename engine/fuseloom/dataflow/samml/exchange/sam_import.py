"""From a SAM/Custard graph to ours: ports by their comments, roots, repairs.

Some of these graphs are wrong as written; every repair is reported (``docs/spec/sam.md`` §4).
Their accumulators take coordinate points, ours take fibers
(:mod:`fuseloom.dataflow.samml.exchange.sam_accumulate`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fuseloom.dataflow.samml.exchange.record import ImportedGraph, RepairRule
from fuseloom.dataflow.samml.exchange.sam_accumulate import accumulate, reduce_vectors
from fuseloom.dataflow.samml.exchange.sam_alu import (
    ALU_TYPES,
    bfloat16_report,
    check_absent,
    compute,
    pass_bits,
    table_of_fractions,
)
from fuseloom.dataflow.samml.exchange.sam_build import SamBuild, Shapes
from fuseloom.dataflow.samml.exchange.sam_drop import drop, hold
from fuseloom.dataflow.samml.exchange.sam_file import SamFile, SamNode
from fuseloom.dataflow.samml.exchange.sam_write import WrittenSamTensor, collect, write
from fuseloom.dataflow.samml.exchange.streams import peel, raw
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput
from fuseloom.dataflow.samml.graph import Scalar, StreamKind
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import DataError, GraphError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
_TAKES: Mapping[str, frozenset[StreamKind]] = {
    "fiberlookup": frozenset({REF}),
    "repsiggen": frozenset({CRD, REF, VAL}),
    "repeat": frozenset({REF, VAL, SIG}),
    "intersect": frozenset({CRD, REF, VAL}),
    "union": frozenset({CRD, REF, VAL}),
    "arrayvals": frozenset({REF}),
    "reduce": frozenset({VAL}),
    "spaccumulator": frozenset({CRD, VAL}),
    "vectorreducer": frozenset({CRD, VAL}),
    "crddrop": frozenset({CRD, VAL}),
    "valdrop": frozenset({CRD, VAL}),
    "crdhold": frozenset({CRD, VAL}),
    "broadcast": frozenset(StreamKind),
    "pass": frozenset(StreamKind),
    "passthrough": frozenset(StreamKind),
    "pass_through": frozenset(StreamKind),
    "fiberwrite": frozenset({CRD, VAL}),
    **dict.fromkeys(ALU_TYPES, frozenset({VAL})),
}
_INSTEAD: Mapping[str, str] = {
    "locator": "which fiber it reads is not in the file, only the coordinate within; a fiberlookup "
    "of the dense level and an intersect with the coordinates find the same elements",
    "parallelize": "a graph without lanes computes the same: connect what is before it to one lane",
    "serialize": "a graph without lanes computes the same: connect one lane to what is behind it",
}
"""The suggested replacements of nodes for which the machine has no primitive."""
_SAME: Mapping[str, str] = {
    "locate": "locator",
    "intersectlocate": "locator",
    "parallelise": "parallelize",
    "serialise": "serialize",
}


def import_repaired(file: SamFile, shapes: Shapes) -> ImportedGraph:
    """Build the graph of a file.

    Parameters
    ----------
    shapes : mapping
        Shape of every operand, in logical order.

    Raises
    ------
    GraphError
        If the graph cannot be built, naming the node, the rule and the way out.
    DataError
        If a shape is missing or does not fit.
    """
    return SamImport(file, shapes).run()


class SamImport(SamBuild):
    """One import: a builder for every type of node, then the writers."""

    def __init__(self, file: SamFile, shapes: Shapes) -> None:
        super().__init__(file, shapes)
        self.written: dict[str, WrittenSamTensor] = {}
        self.builders: Mapping[str, Callable[[SamNode], None]] = {
            "fiberlookup": self._lookup,
            "repsiggen": self._repeat_signal,
            "repeat": self._repeat,
            "intersect": self._join,
            "union": self._join,
            "arrayvals": self._array,
            "reduce": self._reduce,
            "spaccumulator": partial(accumulate, self),
            "vectorreducer": partial(reduce_vectors, self),
            "crddrop": partial(drop, self),
            "valdrop": partial(drop, self),
            "crdhold": partial(hold, self),
            "broadcast": self._broadcast,
            "pass": self._broadcast,
            "passthrough": self._broadcast,
            "pass_through": self._broadcast,
            "fiberwrite": self._write,
            **dict.fromkeys(ALU_TYPES, partial(compute, self)),
        }

    def run(self) -> ImportedGraph:
        for tensor in self.tensors.values():
            if tensor.name not in self.file.listed:
                self._report_unlisted(tensor)
        for name in self.file.order:
            node = self.file.nodes[name]
            if node.type not in self.builders:
                raise self._unknown(node)
            if not node.inputs and not node.outputs and node.type != "fiberwrite":
                self.repair(RepairRule.R13, node, f"leave out {node.title}")
                continue
            for edge in node.inputs:
                if edge.misnamed:
                    change = (
                        f"edge {edge.tail} -> {edge.head}, {edge.misnamed!r}: {edge.kind.value}"
                    )
                    self.repair(RepairRule.R14, node, change)
                if edge.kind not in _TAKES[node.type]:
                    wanted = " or ".join(sorted(kind.value for kind in _TAKES[node.type]))
                    raise GraphError(
                        f"edge {edge.tail} -> {edge.head}: {node.title} takes {wanted}, "
                        f"got {edge.kind.value}",
                        hint="connect it to the output of that type",
                    )
            self.builders[node.type](node)
        check_absent(self.wiring.parts)
        if self.in_bfloat16:
            self.repairs.append(bfloat16_report(self.in_bfloat16))
        outputs = write(self, self.written)
        graph = self.wiring.finish(self.file.name or "SAM")
        verify(graph)
        zeroless = frozenset(name for name, t in self.file.operands.items() if t.zeroless)
        return ImportedGraph(graph, self.tensors, outputs, tuple(self.repairs), zeroless)

    def _unknown(self, node: SamNode) -> GraphError:
        instead = _INSTEAD.get(_SAME.get(node.type.lower(), node.type.lower()))
        return GraphError(
            f"node {node.name} has type {node.type!r}, which the machine has no primitive for",
            hint=instead or f"nodes that can be read: {', '.join(self.builders)}",
        )

    def _report_unlisted(self, tensor: Tensor) -> None:
        node = next(
            n for n in self.file.nodes.values() if n.attributes.get("tensor") == tensor.name
        )
        modes = ", ".join(map(str, tensor.format.mode_order))
        self.repair(
            RepairRule.R8, node, f"{tensor.name} stores its dimensions in the order {modes}"
        )

    # Levels and references --------------------------------------------------------------------

    def _lookup(self, node: SamNode) -> None:
        tensor, mode = self.tensor(node), node.number("mode")
        if mode >= tensor.rank:
            raise GraphError(
                f"{node.title} reads dimension {mode} of {tensor.name}, which has {tensor.rank}",
                hint="dimensions are counted from 0; the graph's comment has a letter for each",
            )
        level, index = tensor.format.mode_order.index(mode), node.get("index")
        dim = tensor.shape[mode]
        source = self.source(node)
        self.check_source(node, tensor, level, source)
        params: dict[str, Scalar] = {"tensor": tensor.name, "level": level}
        dense = tensor.format.levels[level] is LevelFormat.DENSE
        if dense:
            params["dim"] = dim
        crd, ref = self.add(node, "dense_scan" if dense else "scan", (source,), params=params)
        self.label_index(crd, index)
        self.give(node, {CRD: crd, REF: ref})

    def _repeat_signal(self, node: SamNode) -> None:
        (sig,) = self.add(node, "repsig", (self.wire(self.one(node, CRD, REF, VAL)),))
        self.give(node, {SIG: sig})

    def _repeat(self, node: SamNode) -> None:
        signal = self.wire(self.one(node, SIG))
        (out,) = self.add(node, "repeat", (self.source(node), signal))
        self.give(node, {out.kind: out})

    def _join(self, node: SamNode) -> None:
        """Operands are pairs of a coordinate and a payload of the same tag ``in-T``."""
        crds, loads = node.of_kind(CRD), node.of_kind(REF, VAL)
        tags = [edge.index for edge in crds]
        inputs: list[DraftOutput] = []
        for edge in crds:
            mine = [e for e in loads if e.index == edge.index]
            if len(mine) > 1:  # one tensor used twice: a pair comes from one node
                home = peel(self.wire(edge)).part
                mine = [e for e in mine if peel(self.wire(e)).part is home] or mine
            if not mine:
                raise GraphError(
                    f"{node.title}: operand {edge.index or edge.tail} has coordinates, "
                    "but no references",
                    hint='the two edges of an operand have one comment, such as "in-B"',
                )
            loads.remove(mine[0])
            inputs += (self.wire(edge), self.wire(mine[0]))
        if len(crds) < 2 or loads:
            raise GraphError(f"{node.title} joins {len(crds)} coordinate streams",
                             hint="two or more, each with its references")  # fmt: skip
        self._check_sizes(node, inputs[::2])
        params: dict[str, Scalar] = {"gate": 0} if node.type == "union" else {}
        outputs = self.add(node, node.type, inputs, 1 + len(crds), params)
        self.label_index(outputs[0], node.get("index"))
        free = dict(enumerate(tags, 1))
        for edge in node.outputs:
            if edge.kind is CRD:
                self.wires[edge.number] = outputs[0]
                continue
            fitting = [port for port, tag in free.items() if tag == edge.index]
            if not fitting:
                raise GraphError(
                    f"edge {edge.tail} -> {edge.head}: {node.title} has no operand {edge.index!r}",
                    hint=f"operands: {', '.join(tags)}",
                )
            if len(fitting) > 1:
                free.pop(fitting[0])
            self.wires[edge.number] = outputs[fitting[0]]

    def _check_sizes(self, node: SamNode, crds: Sequence[DraftOutput]) -> None:
        """The operands of a joiner are equally long."""
        size = self.size(crds[0])
        for crd in crds[1:]:
            other = self.size(crd)
            if None in (size, other) or size == other:
                continue
            home = raw(crd).part.params
            what = f"its operand has {other}"
            if "tensor" in home:
                tensor = self.tensors[str(home["tensor"])]
                mode = tensor.format.mode_order[int(home["level"])]
                what = f"{tensor.name} has {other} in dimension {mode}"
            raise DataError(
                f"index {node.get('index')} is {size} long, but {what}",
                hint="give tensors whose shapes fit each other",
            )

    def _broadcast(self, node: SamNode) -> None:
        if len(node.inputs) != 1:
            raise GraphError(f"{node.title} has {counted(len(node.inputs), 'input')}, it takes one",
                             hint="join streams by an intersect or a union")  # fmt: skip
        if pass_bits(self, node):
            return
        wire = self.wire(node.inputs[0])
        if not node.outputs:
            return
        made = self.wiring.add("broadcast", (wire,), len(node.outputs), label="")
        for edge, copy in zip(node.outputs, made, strict=True):
            self.wires[edge.number] = copy

    # Values -----------------------------------------------------------------------------------

    def _array(self, node: SamNode) -> None:
        if table_of_fractions(self, node):
            return
        tensor, source = self.tensor(node), self.source(node)
        self.check_source(node, tensor, tensor.rank, source)
        (val,) = self.add(node, "array", (source,), params={"tensor": tensor.name})
        self.give(node, {VAL: val})

    def _reduce(self, node: SamNode) -> None:
        if node.flag("fp"):
            self.in_bfloat16.append(node)
        self.give(node, {VAL: self.reduce(node, self.wire(self.one(node, VAL)))})

    def _write(self, node: SamNode) -> None:
        collect(self, node, self.written)
