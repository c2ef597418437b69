"""A SAM graph on its way to ours: what the builders of nodes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fuseloom.dataflow.samml.exchange.levels import accumulator_order
from fuseloom.dataflow.samml.exchange.record import ImportRepair, RepairRule
from fuseloom.dataflow.samml.exchange.sam_file import SamEdge, SamFile, SamNode
from fuseloom.dataflow.samml.exchange.streams import (
    ancestors,
    maybe_empty,
    raw,
    reference_origin,
    value_path,
)
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput, Wiring
from fuseloom.dataflow.samml.graph import Scalar, StreamKind
from fuseloom.errors import DataError, GraphError
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL
BIT_HINT = "write the function itself: a node of type exp gives e to the power of its operand"
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Bits:
    """The part of a value on an edge of bit patterns: integer, fraction, or 2**fraction."""

    role: str
    value: DraftOutput


class SamBuild:
    """Wires by edge of the file, index variables by coordinate stream, repairs so far."""

    def __init__(self, file: SamFile, shapes: Shapes) -> None:
        self.file = file
        self.wiring = Wiring()
        self.tensors = {name: t.shaped(_shape(t.rank, name, shapes))
                        for name, t in file.operands.items()}  # fmt: skip
        self.wires: dict[int, DraftOutput] = {}
        self.bits: dict[int, Bits] = {}
        self.indices: dict[tuple[int, int], str] = {}
        self.repairs: list[ImportRepair] = []
        self.in_bfloat16: list[SamNode] = []
        results = {tensor.name for tensor in file.results}
        self.result_indices = {
            node.attributes["index"]
            for node in file.nodes.values()
            if node.type == "fiberwrite"
            and "index" in node.attributes
            and node.get("tensor") in results
        }

    def repair(self, rule: RepairRule, node: SamNode, change: str) -> None:
        self.repairs.append(ImportRepair(rule, node.name, change))

    def wire(self, edge: SamEdge) -> DraftOutput:
        """The wire of an edge, which must be of the edge's type."""
        made = self.wires.get(edge.number)
        if made is None and edge.number in self.bits:
            raise GraphError(
                f"edge {edge.tail} -> {edge.head} carries the bits of a part of a bfloat16 number",
                hint=BIT_HINT,
            )
        if made is None:
            raise GraphError(
                f"edge {edge.tail} -> {edge.head}: its producer puts nothing there",
                hint="leave the edge out, or connect its producer",
            )
        if made.kind is not edge.kind:
            raise GraphError(
                f"edge {edge.tail} -> {edge.head} is a {edge.kind.value} stream, "
                f"its producer puts {made.kind.value}",
                hint=f'write type="{made.kind.value}" for the edge, or take it from another node',
            )
        return made

    def add(
        self,
        node: SamNode,
        op: str,
        inputs: Sequence[DraftOutput],
        outputs: int | None = None,
        params: Mapping[str, Scalar] | None = None,
    ) -> tuple[DraftOutput, ...]:
        label = f"{node.name}: {node.attributes['label'] or node.type}"
        return self.wiring.add(op, inputs, outputs, params, label)

    def give(self, node: SamNode, wires: Mapping[StreamKind, DraftOutput]) -> None:
        """Hand every outgoing edge the output of its type."""
        for edge in node.outputs:
            if edge.kind not in wires:
                raise GraphError(
                    f"edge {edge.tail} -> {edge.head}: {node.title} has no {edge.kind.value} "
                    "output",
                    hint=f"its outputs: {', '.join(sorted(kind.value for kind in wires))}",
                )
            self.wires[edge.number] = wires[edge.kind]

    def one(self, node: SamNode, *kinds: StreamKind) -> SamEdge:
        """The only incoming edge of those types."""
        edges = node.of_kind(*kinds)
        if len(edges) != 1:
            wanted = " or ".join(kind.value for kind in kinds)
            raise GraphError(
                f"{node.title} takes one {wanted} stream, it has {len(edges)}",
                hint=f"connect one edge of type {wanted} to it",
            )
        return edges[0]

    def source(self, node: SamNode) -> DraftOutput:
        """The incoming reference, or the root where none comes in."""
        if not node.of_kind(REF, VAL):
            if node.attributes.get("root") == "false":
                raise GraphError(
                    f"{node.title} has no incoming reference and is not a root",
                    hint='connect it, or write root="true"',
                )
            return self.wiring.add("root", (), label="root")[0]
        return self.wire(self.one(node, REF, VAL))

    def tensor(self, node: SamNode) -> Tensor:
        name = node.get("tensor")
        if name not in self.tensors:
            raise GraphError(
                f"{node.title} reads {name!r}, which the graph's comment does not list",
                hint=f"operands: {', '.join(self.tensors)}",
            )
        return self.tensors[name]

    def label_index(self, wire: DraftOutput, index: str) -> None:
        self.indices[id(wire.part), wire.port] = index

    def index_of(self, wire: DraftOutput) -> str:
        return self.indices.get((id(wire.part), wire.port), "")

    def reduce(self, node: SamNode, val: DraftOutput) -> DraftOutput:
        """A sum over the innermost level, 0 where it is empty.

        In flat tokens an empty fiber and no fiber look alike (``docs/spec/machine.md`` §1.7), so
        where some level outside may be empty, the coordinates of the next one guide the reducer.
        """
        params: dict[str, Scalar] = {"fn": "add", "empty_is_zero": True}
        loops = self.loops(val)
        inputs = [val]
        if val.depth - 1 in loops and any(maybe_empty(loops[d]) for d in loops if d < val.depth):
            inputs.append(loops[val.depth - 1])
        return self.add(node, "reduce", inputs, params=params)[0]

    def loops(self, val: DraftOutput) -> dict[int, DraftOutput]:
        """The coordinates of the loops that values were computed in, by depth.

        Where values were dropped with their coordinates, those that were kept.
        """
        behind = ancestors(val)
        parts = [part for part in self.wiring.parts if id(part) in behind]
        joined = {raw(wire) for part in parts if part.op in ("intersect", "union")
                  for wire in part.inputs[::2]}  # fmt: skip
        found = {
            wire.depth: wire
            for part in parts
            for wire in part.outs
            if wire.kind is CRD and self.index_of(wire) and wire == raw(wire) and wire not in joined
        }
        for part in value_path(val):
            if part.op == "fiber_align":
                found[part.inputs[1].depth] = part.inputs[1]
        return found

    def size(self, wire: DraftOutput) -> int | None:
        """Number of places of a level, if known; its coordinates come from a lookup."""
        while True:
            wire = raw(wire)
            part = wire.part
            if "dim" in part.params and part.op == "dense_scan":
                return int(part.params["dim"])
            if part.op == "scan":
                tensor = self.tensors[str(part.params["tensor"])]
                return tensor.shape[tensor.format.mode_order[int(part.params["level"])]]
            if accumulator_order(part.op):
                wire = part.inputs[wire.port + 1]
            elif part.op in ("intersect", "union"):
                wire = part.inputs[0]
            elif part.op in ("zerodrop", "valdrop"):
                wire = part.inputs[1]
            else:
                return None

    def check_source(self, node: SamNode, tensor: Tensor, level: int, source: DraftOutput) -> None:
        """References of a level, or of values, are those the level above of the tensor gave."""
        above = reference_origin(source)
        if above is None:
            return
        found = (
            (str(above.params["tensor"]), int(above.params["level"])) if above.params else ("", -1)
        )
        if found == (tensor.name if level else "", level - 1):
            return
        what = "values" if level == tensor.rank else f"level {level}"
        got = f"level {found[1]} of {found[0]}" if found[0] else "the root"
        wanted = f"of its level {level - 1}" if level else "of the root"
        raise GraphError(
            f"{node.title} reads {what} of {tensor.name} by references of {got}, not {wanted}",
            hint="give the modes in the order of the lookups in the graph's comment, as in "
            f"{tensor.name}=ss10 where dimension 1 is looked up first",
        )


def _shape(rank: int, name: str, shapes: Shapes) -> tuple[int, ...]:
    if name not in shapes:
        if not rank:
            return ()
        raise DataError(
            f"the data of operand {name} are missing", hint=f"there are: {', '.join(shapes)}"
        )
    if len(shapes[name]) != rank:
        raise DataError(
            f"operand {name} has {counted(rank, 'dimension')} in the graph, its data have "
            f"{len(shapes[name])}",
            hint="the letters of its format in the graph's comment are its dimensions",
        )
    return shapes[name]
