"""Droppers and holders of SAM graphs: of coordinates, of zeros, and of values with their fibers.

A ``crddrop`` whose inner stream is a level drops the outer coordinates of empty fibers.  With
values for its inner stream it drops zeros (``inner=val``), or again the outer coordinates of empty
fibers, and those fibers with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.dataflow.samml.exchange.record import RepairRule
from fuseloom.dataflow.samml.exchange.sam_build import CRD, VAL, SamBuild
from fuseloom.dataflow.samml.exchange.sam_file import SamNode
from fuseloom.dataflow.samml.exchange.streams import levels_behind, outer_beside, value_path
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput
from fuseloom.errors import GraphError

_VALUES = ("vals", "val")


def hold(build: SamBuild, node: SamNode) -> None:
    """Build a holder: the outer coordinates, once per inner one."""
    if _is_on_values(node):  # one value per coordinate: nothing to repeat
        crd, val = build.wire(build.one(node, CRD)), build.wire(build.one(node, VAL))
        build.give(node, {CRD: crd, VAL: val})
        return
    inner, outer = _inner_outer(build, node)
    held = build.add(node, "crdhold", (inner, outer))
    _give_inner_outer(build, node, held)


def drop(build: SamBuild, node: SamNode) -> None:
    """Build a dropper (see the module)."""
    if _is_on_values(node):
        _drop_zeros(build, node)
    elif node.of_kind(VAL):
        _drop_value_fibers(build, node)
    else:
        _drop_coordinates(build, node)


def _is_on_values(node: SamNode) -> bool:
    said = node.type == "valdrop" or node.flag("vals")  # such a node need not name its inner level
    return said or node.get("inner") in _VALUES


def _drop_zeros(build: SamBuild, node: SamNode) -> None:
    values, crds = build.wire(build.one(node, VAL)), build.wire(build.one(node, CRD))
    val, crd = build.add(node, "zerodrop", (values, crds))
    build.label_index(crd, build.index_of(crds) or node.attributes.get("outer", ""))
    build.give(node, {VAL: val, CRD: crd})


def _drop_value_fibers(build: SamBuild, node: SamNode) -> None:
    """The values' own coordinates say which fibers are empty; the values follow the rest."""
    val, outer = build.wire(build.one(node, VAL)), build.wire(build.one(node, CRD))
    if val.depth != outer.depth + 1:
        raise GraphError(
            f"{node.title}: values are nested {val.depth} deep, the coordinates {outer.depth}",
            hint="it takes the values of the level inside the coordinates",
        )
    inner = _beside(build, node, val)
    _, kept = build.add(node, "crddrop", (inner, outer))
    build.label_index(kept, build.index_of(outer) or node.get("outer"))
    (aligned,) = build.add(node, "fiber_align", (outer, kept, val), params={"levels": 1})
    build.give(node, {VAL: aligned, CRD: kept})


def _beside(build: SamBuild, node: SamNode, val: DraftOutput) -> DraftOutput:
    """The coordinates of values, one for each."""
    crd = build.loops(val).get(val.depth)
    if crd is None:
        raise GraphError(f"{node.title}: the coordinates of its values are not in sight",
                         hint="drop by a coordinate stream instead")  # fmt: skip
    for part in value_path(val):
        if part.op == "fiber_align" and part.depths[0] == crd.depth:
            before, after = part.inputs[:2]
            (crd,) = build.wiring.add("fiber_align", (before, after, crd), params=part.params,
                                      label=part.label)  # fmt: skip
    return crd


def _drop_coordinates(build: SamBuild, node: SamNode) -> None:
    inner, outer = _inner_outer(build, node)
    names = node.get("outer"), node.get("inner")
    if names[1] not in build.result_indices and not _are_values_dropped(build, names):
        build.repair(RepairRule.R3, node, f"bypass crddrop {node.name}({','.join(names)})")
        _give_inner_outer(build, node, (inner, outer))
        return
    between = _levels_between(build, node, inner, outer)
    nearest = inner
    for level in between:  # an outer coordinate goes if nothing is left below it
        _, nearest = build.add(node, "crddrop", (nearest, level))
    beside = outer if between else outer_beside(inner, outer)
    kept_inner, kept_outer = build.add(node, "crddrop", (nearest, beside))
    build.label_index(kept_outer, names[0])
    if between:
        kept_inner = inner
    else:
        build.label_index(kept_inner, names[1])
    _give_inner_outer(build, node, (kept_inner, kept_outer))


def _are_values_dropped(build: SamBuild, names: tuple[str, str]) -> bool:
    """Return whether the file drops values together with the same coordinates."""
    return any(
        node.type == "crddrop"
        and node.of_kind(VAL)
        and (node.attributes.get("outer"), node.attributes.get("inner")) == names
        for node in build.file.nodes.values()
    )


def _levels_between(
    build: SamBuild, node: SamNode, inner: DraftOutput, outer: DraftOutput
) -> list[DraftOutput]:
    """The levels between two, the innermost first."""
    if inner.depth <= outer.depth + 1:
        return []
    seen = {wire.depth: wire for wire in (*build.loops(inner).values(), *levels_behind(inner))}
    found = [seen.get(depth) for depth in range(inner.depth - 1, outer.depth, -1)]
    if None in found:
        raise GraphError(
            f"{node.title}: the levels between {node.get('outer')} and {node.get('inner')} are "
            "not in sight",
            hint="drop one level at a time",
        )
    return [wire for wire in found if wire is not None]


def _inner_outer(build: SamBuild, node: SamNode) -> tuple[DraftOutput, DraftOutput]:
    """The two coordinate inputs; their comments name the index, bare or with a prefix."""
    found: dict[str, DraftOutput] = {}
    for edge in node.of_kind(CRD):
        for port in ("inner", "outer"):
            if edge.index == node.get(port):
                found[port] = build.wire(edge)
    if len(found) != 2 or len(node.inputs) != 2:
        raise GraphError(
            f"{node.title} takes coordinates of {node.get('inner')} and {node.get('outer')}",
            hint="each edge's comment ends in the index it carries",
        )
    return found["inner"], found["outer"]


def _give_inner_outer(build: SamBuild, node: SamNode, wires: Sequence[DraftOutput]) -> None:
    names = {node.get("inner"): wires[0], node.get("outer"): wires[1]}
    for edge in node.outputs:
        index = edge.index
        if index not in names:
            head = build.file.nodes[edge.head].attributes
            index = next((head[k] for k in ("index", "accum_index", "in0") if k in head), "")
        if index not in names or edge.kind is not CRD:
            raise GraphError(
                f"edge {edge.tail} -> {edge.head}: {node.title} has no output {index!r}",
                hint=f"outputs: outer-{node.get('outer')}, inner-{node.get('inner')}",
            )
        build.wires[edge.number] = names[index]
