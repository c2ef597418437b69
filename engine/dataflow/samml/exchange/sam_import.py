"""From a SAM/Custard graph to ours: ports by their comments, roots, repairs.

Some of these graphs are wrong as written; every repair is reported (``sam-dot.md``, last
section).  Their accumulators take coordinate points, ours take fibers
(:mod:`engine.dataflow.samml.exchange.sam_accumulate`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.dataflow.samml.exchange.record import Imported, Rule
from engine.dataflow.samml.exchange.sam_accumulate import accumulate
from engine.dataflow.samml.exchange.sam_build import SamBuild, Shapes
from engine.dataflow.samml.exchange.sam_file import SamEdge, SamFile, SamNode
from engine.dataflow.samml.exchange.streams import maybe_empty, peel, tensors_behind
from engine.dataflow.samml.exchange.wiring import Wire
from engine.dataflow.samml.graph import Scalar, StreamKind
from engine.dataflow.samml.verify import verify
from engine.errors import DataError, GraphError
from engine.program.formats import Format, LevelFormat
from engine.program.types import Tensor

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
_TAKES: Mapping[str, frozenset[StreamKind]] = {
    "fiberlookup": frozenset({REF}),
    "repsiggen": frozenset({CRD, REF, VAL}),
    "repeat": frozenset({REF, VAL, SIG}),
    "intersect": frozenset({CRD, REF, VAL}),
    "union": frozenset({CRD, REF, VAL}),
    "arrayvals": frozenset({REF}),
    "mul": frozenset({VAL}),
    "add": frozenset({VAL}),
    "reduce": frozenset({VAL}),
    "spaccumulator": frozenset({CRD, VAL}),
    "crddrop": frozenset({CRD, VAL}),
    "crdhold": frozenset({CRD, VAL}),
    "broadcast": frozenset(StreamKind),
    "fiberwrite": frozenset({CRD, VAL}),
}


def import_sam(file: SamFile, shapes: Shapes) -> Imported:
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
        self.levels: dict[int, tuple[Wire, SamNode]] = {}
        self.values: tuple[Wire, SamNode] | None = None
        self.builders: Mapping[str, Callable[[SamNode], None]] = {
            "fiberlookup": self._lookup,
            "repsiggen": self._repeat_signal,
            "repeat": self._repeat,
            "intersect": self._join,
            "union": self._join,
            "arrayvals": self._array,
            "mul": self._compute,
            "add": self._compute,
            "reduce": self._reduce,
            "spaccumulator": self._accumulator,
            "crddrop": self._drop,
            "crdhold": self._hold,
            "broadcast": self._broadcast,
            "fiberwrite": self._write,
        }

    def run(self) -> Imported:
        for name in self.file.order:
            node = self.file.nodes[name]
            if node.type not in self.builders:
                raise GraphError(
                    f"node {name} has type {node.type!r}, which the machine has no primitive for",
                    hint=f"nodes that can be read: {', '.join(self.builders)}",
                )
            for edge in node.inputs:
                if edge.kind not in _TAKES[node.type]:
                    wanted = " or ".join(sorted(kind.value for kind in _TAKES[node.type]))
                    raise GraphError(
                        f"edge {edge.tail} -> {edge.head}: {node.title} takes {wanted}, "
                        f"got {edge.kind.value}"
                    )
            self.builders[node.type](node)
        output = self._finish_output()
        graph = self.wiring.finish(self.file.name or "SAM")
        verify(graph)
        zeroless = frozenset(name for name, t in self.file.operands.items() if t.zeroless)
        return Imported(graph, self.tensors, (output,), tuple(self.repairs), zeroless)

    # Levels and references --------------------------------------------------------------------

    def _lookup(self, node: SamNode) -> None:
        tensor, mode = self.tensor(node), node.number("mode")
        if mode >= tensor.rank:
            raise GraphError(f"{node.title} reads dimension {mode} of {tensor.name}, "
                             f"which has {tensor.rank}")  # fmt: skip
        level, index = tensor.format.mode_order.index(mode), node.get("index")
        dim = tensor.shape[mode]
        if self.dims.setdefault(index, dim) != dim:
            raise DataError(
                f"index {index} is {self.dims[index]} long, but {tensor.name} has {dim} "
                f"in dimension {mode}",
                hint="give tensors whose shapes fit each other",
            )
        params: dict[str, Scalar] = {"tensor": tensor.name, "level": level}
        dense = tensor.format.levels[level] is LevelFormat.DENSE
        if dense:
            params["dim"] = dim
        crd, ref = self.add(
            node, "dense_scan" if dense else "scan", (self.source(node),), params=params
        )
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
        inputs: list[Wire] = []
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

    def _broadcast(self, node: SamNode) -> None:
        if len(node.inputs) != 1:
            raise GraphError(f"{node.title} has {len(node.inputs)} inputs, it takes one")
        wire = self.wire(node.inputs[0])
        if not node.outputs:
            return
        made = self.wiring.add("broadcast", (wire,), len(node.outputs), label="")
        for edge, copy in zip(node.outputs, made, strict=True):
            self.wires[edge.number] = copy

    def _hold(self, node: SamNode) -> None:
        if self._is_on_values(node):  # one value per coordinate: nothing to repeat
            crd, val = self.wire(self.one(node, CRD)), self.wire(self.one(node, VAL))
            self.give(node, {CRD: crd, VAL: val})
            return
        inner, outer = self._inner_outer(node)
        held = self.add(node, "crdhold", (inner, outer))
        self._give_inner_outer(node, held)

    def _drop(self, node: SamNode) -> None:
        if self._is_on_values(node):
            values, crds = self.wire(self.one(node, VAL)), self.wire(self.one(node, CRD))
            val, crd = self.add(node, "zerodrop", (values, crds))
            self.label_index(crd, node.get("outer"))
            self.give(node, {VAL: val, CRD: crd})
            return
        inner, outer = self._inner_outer(node)
        names = node.get("outer"), node.get("inner")
        if names[1] not in self.result_indices:
            change = f"bypass crddrop {node.name}({','.join(names)})"
            self.repair(Rule.R3, node, change)
            self._give_inner_outer(node, (inner, outer))
            return
        kept = self.add(node, "crddrop", (inner, outer))
        for wire, index in zip(kept, reversed(names), strict=True):
            self.label_index(wire, index)
        self._give_inner_outer(node, kept)

    @staticmethod
    def _is_on_values(node: SamNode) -> bool:
        return node.flag("vals") or node.get("inner") in ("vals", "val")

    def _inner_outer(self, node: SamNode) -> tuple[Wire, Wire]:
        """The two coordinate inputs; their comments name the index, bare or with a prefix."""
        found: dict[str, Wire] = {}
        for edge in node.of_kind(CRD):
            for port in ("inner", "outer"):
                if edge.index == node.get(port):
                    found[port] = self.wire(edge)
        if len(found) != 2 or len(node.inputs) != 2:
            raise GraphError(
                f"{node.title} takes coordinates of {node.get('inner')} and {node.get('outer')}",
                hint="each edge's comment ends in the index it carries",
            )
        return found["inner"], found["outer"]

    def _give_inner_outer(self, node: SamNode, wires: Sequence[Wire]) -> None:
        names = {node.get("inner"): wires[0], node.get("outer"): wires[1]}
        for edge in node.outputs:
            index = edge.index or self.file.nodes[edge.head].attributes.get("index", "")
            if index not in names or edge.kind is not CRD:
                raise GraphError(
                    f"edge {edge.tail} -> {edge.head}: {node.title} has no output {index!r}",
                    hint=f"outputs: outer-{node.get('outer')}, inner-{node.get('inner')}",
                )
            self.wires[edge.number] = names[index]

    # Values -----------------------------------------------------------------------------------

    def _array(self, node: SamNode) -> None:
        tensor = self.tensor(node)
        (val,) = self.add(node, "array", (self.source(node),), params={"tensor": tensor.name})
        self.give(node, {VAL: val})

    def _compute(self, node: SamNode) -> None:
        edges = node.of_kind(VAL)
        fn = node.type
        if len(edges) < 2 or len(edges) < len(node.inputs):
            raise GraphError(f"{node.title} takes two or more value streams, it has {len(edges)}")
        if fn == "add" and node.flag("sub"):
            fn, edges = "sub", self._subtraction(node, edges)
        total = self.wire(edges[0])
        for edge in edges[1:]:
            (total,) = self.add(node, "binary", (total, self.wire(edge)), params={"fn": fn})
        self.give(node, {VAL: total})

    def _subtraction(self, node: SamNode, edges: list[SamEdge]) -> list[SamEdge]:
        """The minuend first: the operand with the smaller node id.

        Ids follow the expression only in graphs the compiler numbered.  The graph's comment
        lists tensors in the order of the expression, so where the operands differ in their
        first tensor, that decides.
        """
        names = list(self.file.operands)

        def place(edge: SamEdge) -> int:
            return min(map(names.index, tensors_behind(self.wire(edge))), default=len(names))

        def by_id(edge: SamEdge) -> float:
            home = self.file.nodes[edge.tail].name
            return int(home) if home.isdecimal() else float("inf")

        ordered = sorted(edges, key=lambda e: (place(e), by_id(e), e.number))
        text = f"node {ordered[0].tail} is the minuend of subtraction {node.name}"
        if ordered[0] is not min(edges, key=by_id):
            text += ", as its tensor comes first in the graph's comment"
        self.repair(Rule.R5, node, text)
        return ordered

    def _reduce(self, node: SamNode) -> None:
        self.give(node, {VAL: self.reduce(node, self.wire(self.one(node, VAL)))})

    def _accumulator(self, node: SamNode) -> None:
        accumulate(self, node)

    # Writers ----------------------------------------------------------------------------------

    def _write(self, node: SamNode) -> None:
        result = self.file.result
        if node.get("tensor") != result.name:
            raise GraphError(
                f"{node.title} writes {node.get('tensor')}, the graph's result is {result.name}",
                hint="the graph's comment lists the result first",
            )
        if node.get("mode") == "vals":
            self.values = self.wire(self.one(node, VAL)), node
            return
        mode = node.number("mode")
        if mode >= result.rank:
            raise GraphError(f"{node.title} writes dimension {mode} of {result.name}")
        level = result.format.mode_order.index(mode)
        if level in self.levels:
            raise GraphError(f"{node.title} writes a level that another writer writes too")
        self.levels[level] = self.wire(self.one(node, CRD)), node

    def _finish_output(self) -> Tensor:
        """The writers, with droppers where a level's fibers may be empty and the file has none."""
        result = self.file.result
        missing = [k for k in range(result.rank) if k not in self.levels]
        if missing or self.values is None:
            what = f"level {missing[0]}" if missing else "the values"
            raise GraphError(f"no node writes {what} of the result {result.name}",
                             hint="a fiberwrite per level and one with mode=vals")  # fmt: skip
        crds = [self.levels[k][0] for k in range(result.rank)]
        for k in range(result.rank - 2, -1, -1):
            drop = peel(crds[k])
            dropped = (
                drop.part.op == "crddrop"
                and drop.port == 1
                and peel(drop.part.inputs[0]) == peel(crds[k + 1])
            )
            if dropped or not maybe_empty(crds[k + 1]):
                continue
            node = self.levels[k][1]
            index = node.get("index")
            crds[k + 1], crds[k] = self.wiring.add(
                "crddrop", (crds[k + 1], crds[k]), label=f"drop empty {index}"
            )
            self.repair(Rule.R6, node, f"drop coordinates of {index} whose fiber is empty")
        shape = [0] * result.rank
        for k, crd in enumerate(crds):
            node, mode = self.levels[k][1], result.format.mode_order[k]
            shape[mode] = self._dim(node)
            self.add(node, "crdwrite", (crd,), params={"tensor": result.name, "level": k})
        wire, node = self.values
        self.add(node, "valwrite", (wire,), params={"tensor": result.name})
        order = result.format.mode_order
        return Tensor(result.name, tuple(shape), Format.compressed(result.rank, order))

    def _dim(self, node: SamNode) -> int:
        index = node.get("index")
        if index not in self.dims:
            raise GraphError(f"{node.title} writes index {index}, which no operand has")
        return self.dims[index]
