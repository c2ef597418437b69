"""The properties of a wire that follow from the parts behind it."""

from __future__ import annotations

from fuseloom.dataflow.samml.exchange.levels import accumulator_order
from fuseloom.dataflow.samml.exchange.wiring import DraftNode, DraftOutput, Wiring
from fuseloom.dataflow.samml.graph import Graph

_VALUE_INPUTS = {
    "binary": (0, 1),
    "unary": (0,),
    "reduce": (0,),
    "zerodrop": (0,),
    "repeat": (0,),
    "broadcast": (0,),
    "fiber_align": (2,),
    "valdrop": (0,),
}
"""Inputs through which a value comes, by op."""


def peel(wire: DraftOutput) -> DraftOutput:
    """The wire before broadcasts and droppers that pass it on whole."""
    while wire.part.op == "broadcast" or (wire.part.op == "crddrop" and wire.port == 0):
        wire = wire.part.inputs[0]
    return wire


def raw(wire: DraftOutput) -> DraftOutput:
    """The coordinates of a level as they were made, before any dropping and holding."""
    while wire.part.op in ("broadcast", "crddrop", "crdhold"):
        wire = wire.part.inputs[0 if wire.part.op == "broadcast" else wire.port]
    return wire


def levels_behind(wire: DraftOutput) -> list[DraftOutput]:
    """All levels, as made, that a chain of holders and droppers was fed, the wire's own first."""
    found, stack = [raw(wire)], [wire]
    while stack:
        part = stack.pop().part
        if part.op in ("broadcast", "crddrop", "crdhold"):
            stack += reversed(part.inputs)
            found += [raw(source) for source in part.inputs]
    return list(dict.fromkeys(found))


def wires_of(graph: Graph) -> dict[int, DraftOutput]:
    """A finished graph's streams as wires."""
    wiring = Wiring()
    wires: dict[int, DraftOutput] = {}
    for number in graph.topological():
        node = graph.nodes[number]
        inputs = [wires[s] for s in node.inputs]
        made = wiring.add(node.op, inputs, len(node.outputs), node.params, node.label)
        wires.update({s: w for s, w in zip(node.outputs, made, strict=True) if s is not None})
    return wires


def maybe_empty(wire: DraftOutput, *, tensors: bool = True) -> bool:
    """Return whether some fiber of a coordinate stream may be empty, as far as the graph shows.

    Compressed levels are built from coordinates, so below a compressed level no fiber is
    empty; a union has one where any of its operands has.

    Parameters
    ----------
    tensors : bool
        Whether a whole tensor may be empty.
    """
    wire = peel(wire)
    match wire.part.op:
        case "union":
            return any(maybe_empty(w, tensors=tensors) for w in wire.part.inputs[::2])
        case "dense_scan":
            return False
        case "scan":
            above = _level_above(wire).part.op
            dense = above in ("dense_scan", "locate", "sam_locate")
            return dense or (above == "root" and tensors)
        case op:  # accumulators put a coordinate only with one inside it
            return not accumulator_order(op) or wire.port == 0


def _level_above(scan: DraftOutput) -> DraftOutput:
    """Return the origin of the references that a scanner follows."""
    wire = peel(scan.part.inputs[0])
    while wire.part.op in ("repeat", "intersect", "union", "fork", "join"):
        joiner = wire.part.op in ("intersect", "union")
        source = 2 * wire.port - 1 if joiner else 0
        wire = peel(wire.part.inputs[source])
    return wire


def coordinate_path(wire: DraftOutput) -> list[DraftNode]:
    """The parts that coordinates pass on their way, the last one first."""
    found: list[DraftNode] = []
    while wire.part.op in ("broadcast", "crddrop", "crdhold", "zerodrop", "valdrop"):
        found.append(wire.part)
        wire = wire.part.inputs[0 if wire.part.op == "broadcast" else wire.port]
    return found


def outer_beside(inner: DraftOutput, outer: DraftOutput) -> DraftOutput:
    """Outer coordinates, one for each fiber of an inner stream.

    A dropper leaves all fibers in its inner stream.  So of coordinates that were dropped those
    before are taken, unless the inner level was looked up by what was kept.
    """
    behind = ancestors(inner)
    passed = set(map(id, coordinate_path(inner)))
    while (part := peel(outer).part).op == "crddrop" and peel(outer).port == 1:
        if id(part) in behind and id(part) not in passed:
            break
        outer = part.inputs[1]
    return outer


def reference_origin(wire: DraftOutput) -> DraftNode | None:
    """The scanner whose references a wire carries, or the root; None if it is neither."""
    wire = peel(wire)
    while wire.part.op in ("repeat", "intersect", "union"):
        source = 2 * wire.port - 1 if wire.part.op != "repeat" else 0
        if source < 0:
            return None
        wire = peel(wire.part.inputs[source])
    return wire.part if wire.part.op in ("scan", "dense_scan", "root") else None


def value_path(wire: DraftOutput) -> list[DraftNode]:
    """The parts that values pass on their way, the first one first."""
    found: dict[int, DraftNode] = {}
    stack = [wire]
    while stack:
        part = stack.pop().part
        if id(part) in found:
            continue
        found[id(part)] = part
        if accumulator_order(part.op):
            continue
        stack += [part.inputs[k] for k in _VALUE_INPUTS.get(part.op, ())]
    return list(found.values())[::-1]


def tensors_behind(wire: DraftOutput) -> set[str]:
    """Names of the tensors whose values a value stream is computed from."""
    found: set[str] = set()
    stack, seen = [wire], set()
    while stack:
        part = stack.pop().part
        if id(part) in seen:
            continue
        seen.add(id(part))
        if part.op == "array":
            found.add(str(part.params["tensor"]))
        if accumulator_order(part.op):
            stack.append(part.inputs[-1])
            continue
        stack += [part.inputs[k] for k in _VALUE_INPUTS.get(part.op, ())]
    return found


def ancestors(wire: DraftOutput) -> set[int]:
    """Identities of all parts a wire depends on."""
    found: set[int] = set()
    stack = [wire]
    while stack:
        part = stack.pop().part
        if id(part) not in found:
            found.add(id(part))
            stack += part.inputs
    return found
