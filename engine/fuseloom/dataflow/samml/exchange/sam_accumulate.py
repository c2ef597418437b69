"""Accumulators of coordinate points, built from our accumulators of fibers.

SAM's accumulator of order n takes one coordinate per value for each of n result indices (outer
ones repeated by crdhold) and adds what has equal coordinates.  Ours (``docs/spec/machine.md`` §6.4)
takes the levels as they nest and sums away the one outside.  So the levels behind the holders
are looked up, and the loops summed over are taken away one by one, from the innermost out.
"""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.exchange.levels import accumulator_order
from fuseloom.dataflow.samml.exchange.record import ImportRepair, RepairRule
from fuseloom.dataflow.samml.exchange.sam_build import SamBuild
from fuseloom.dataflow.samml.exchange.sam_file import SamNode
from fuseloom.dataflow.samml.exchange.streams import levels_behind, peel, raw
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput
from fuseloom.dataflow.samml.graph import Scalar, StreamKind
from fuseloom.errors import GraphError
from fuseloom.wording import counted

MAX_ORDER = max(map(accumulator_order, CATALOGUE))
"""Most levels an accumulator of the machine keeps below the one it sums over."""


def accumulate(build: SamBuild, node: SamNode) -> None:
    """Build the accumulators a node stands for, and hand its edges their outputs.

    Raises
    ------
    GraphError
        If its order is not supported, or its streams do not nest.
    """
    order = node.number("order")
    listed = [node.attributes[f"in{k}"] for k in range(64) if f"in{k}" in node.attributes]
    keys, outer = listed[:order], [x for x in listed[order:] if x in build.result_indices]
    if not 1 <= order <= len(listed):
        raise GraphError(f"{node.title} has order {order}, but "
                         f"{counted(len(listed), 'index', 'indices')}",
                         hint="in0 is the innermost, in<order-1> the outermost")  # fmt: skip
    if order > MAX_ORDER:
        raise GraphError(
            f"{node.title} has order {order}; the machine accumulates over at most "
            f"{MAX_ORDER} levels",
            hint="choose a loop order whose summed index lies further in",
        )
    levels = _levels(build, node, keys[0])
    depth = next(d for d, wire in levels.items() if build.index_of(wire) == keys[0])
    val = _values(build, node, depth)
    _report(build, node, keys, outer)

    kept: list[tuple[str, DraftOutput]] = []
    while depth > 0:
        crd = _level(build, node, levels, depth, val)
        index = build.index_of(crd)
        if index in keys:
            kept.insert(0, (index, crd))
        elif index in build.result_indices:
            break
        else:
            kept, val = _sum_away(build, node, crd, kept, val)
        depth -= 1
    if sorted(x for x, _ in kept) != sorted(keys):
        raise GraphError(
            f"{node.title} accumulates {', '.join(keys)}, but its streams nest as "
            f"{', '.join(build.index_of(w) for _, w in sorted(levels.items()))}",
            hint="its indices are the innermost levels of the result",
        )
    crds = dict(kept)
    outputs = {edge.index or _only(build, edge.head) for edge in node.outputs
               if edge.kind is StreamKind.CRD}  # fmt: skip
    inner_index, inner = kept[0]
    for level in range(depth, 0, -1):
        crd = _level(build, node, levels, level, val)
        if not outputs - set(crds):
            break
        inner_out, outer_out = build.add(node, "crddrop", (inner, crd))
        crds[inner_index] = inner_out
        inner_index, inner = build.index_of(crd), outer_out
        crds[inner_index] = outer_out
        build.label_index(outer_out, inner_index)
    for edge in node.outputs:
        if edge.kind is StreamKind.VAL:
            build.wires[edge.number] = val
            continue
        index = edge.index or _only(build, edge.head)
        if index not in crds:
            index = _only(build, edge.head)
        if index not in crds:
            raise GraphError(
                f"edge {edge.tail} -> {edge.head}: {node.title} has no output {index!r}",
                hint=f"outputs: {', '.join(crds)}",
            )
        build.wires[edge.number] = crds[index]


def reduce_vectors(build: SamBuild, node: SamNode) -> None:
    """Build a reducer of vectors: the sum of the fibers of one level, by coordinate.

    Raises
    ------
    GraphError
        If its streams do not nest.
    """
    if node.flag("fp"):
        build.in_bfloat16.append(node)
    given = build.wire(build.one(node, StreamKind.CRD))
    crd = raw(given)
    val = _values(build, node, crd.depth)
    levels = {wire.depth: wire for wire in levels_behind(given)}
    if crd.depth < 2:
        raise GraphError(f"{node.title} has no level outside its coordinates to sum over",
                         hint="leave it out")  # fmt: skip
    outer = _level(build, node, levels, crd.depth - 1, val)
    name = build.index_of(crd) or node.attributes.get("accum_index", "")
    ((_, summed),), val = _sum_away(build, node, outer, [(name, crd)], val)
    build.give(node, {StreamKind.CRD: summed, StreamKind.VAL: val})


def _only(build: SamBuild, head: str) -> str:
    return build.file.nodes[head].attributes.get("index", "")


def _levels(build: SamBuild, node: SamNode, innermost: str) -> dict[int, DraftOutput]:
    """The levels its coordinate inputs were made from, by depth."""
    levels: dict[int, DraftOutput] = {}
    for edge in node.of_kind(StreamKind.CRD):
        for wire in levels_behind(build.wire(edge)):
            levels.setdefault(wire.depth, wire)
    if innermost not in map(build.index_of, levels.values()):
        raise GraphError(
            f"{node.title} has no coordinate stream of {innermost}",
            hint="each edge's comment ends in the index it carries",
        )
    return levels


def _values(build: SamBuild, node: SamNode, depth: int) -> DraftOutput:
    """Its values, one per innermost coordinate; a reducer in front that sums them is bypassed."""
    edge = build.one(node, StreamKind.VAL)
    val = build.wire(edge)
    before = peel(val)
    while before.part.op == "fiber_align":  # levels and values as they were before any dropping
        val = before.part.inputs[2]
        before = peel(val)
    if before.part.op == "reduce" and val.depth == depth - 1:
        name = before.part.label.partition(":")[0]
        change = f"bypass reduce {name} before spaccumulator {node.name}"
        build.repairs.append(ImportRepair(RepairRule.R1, name, change))
        return before.part.inputs[0]
    if val.depth != depth:
        raise GraphError(
            f"{node.title}: values are nested {val.depth} deep, their coordinates {depth}",
            hint="there is one value per innermost coordinate",
        )
    return val


def _report(build: SamBuild, node: SamNode, keys: list[str], outer: list[str]) -> None:
    surplus = []
    for edge in node.of_kind(StreamKind.CRD):
        index = edge.index or build.index_of(raw(build.wire(edge)))
        if index not in keys and index not in outer:
            surplus.append(index)
    if len(keys) == 1 and not outer:
        over = ",".join(surplus) or "everything outside"
        build.repair(
            RepairRule.R4, node, f"sum over {over} in spaccumulator {node.name}, giving one fiber"
        )
        return
    for index in surplus:
        build.repair(
            RepairRule.R2, node, f"ignore crd stream {index} into spaccumulator {node.name}"
        )


def _level(
    build: SamBuild, node: SamNode, levels: Mapping[int, DraftOutput], depth: int, val: DraftOutput
) -> DraftOutput:
    """The level at a depth: one of the inputs', else the one the values were looped over."""
    found = levels.get(depth) or build.loops(val).get(depth)
    if found is None:
        raise GraphError(f"{node.title}: no coordinates of the loop at depth {depth} are in sight",
                         hint="connect that loop's coordinate stream to it")  # fmt: skip
    return found


def _sum_away(
    build: SamBuild,
    node: SamNode,
    crd: DraftOutput,
    kept: list[tuple[str, DraftOutput]],
    val: DraftOutput,
) -> tuple[list[tuple[str, DraftOutput]], DraftOutput]:
    """Sum over one loop, the levels below it kept."""
    names = [index for index, _ in kept]
    wires = [wire for _, wire in kept]
    if not kept:
        return kept, build.reduce(node, val)
    dim = build.size(wires[0])
    if dim is None:
        raise GraphError(f"{node.title}: the coordinates of {names[0]} come from no lookup",
                         hint="accumulate by coordinates of a fiberlookup")  # fmt: skip
    params: dict[str, Scalar] = {"fn": "add", "dim": dim}
    op = f"spacc{len(kept)}"
    *crds, val = build.add(node, op, (crd, *wires, val), params=params if len(kept) == 1 else {})
    for name, wire in zip(names, crds, strict=True):
        build.label_index(wire, name)
    return list(zip(names, crds, strict=True)), val
