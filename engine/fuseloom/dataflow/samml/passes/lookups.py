"""Dense levels: looked up at the coordinates of another operand, or scanned and joined.

A dense level has every coordinate, so intersecting with it filters nothing; looking it up costs
a cycle per coordinate wanted instead of one per coordinate there is (``docs/spec/fusion.md`` §6.4).
"""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, StreamKind
from fuseloom.dataflow.samml.passes.cleanup import Rewriting
from fuseloom.dataflow.samml.passes.fanout_free import FanoutFreeGraph, unwoven, woven
from fuseloom.dataflow.samml.traits import Empties, Role

_PLACES = ("tensor", "level", "dim")


def insert_locators(graph: Graph) -> Graph:
    """Look dense operands of intersecters up instead of scanning and joining them.

    ::

        dcrd, dref = dense_scan(parent)                  sig = repsig(crd)
        out, a, b = intersect(crd, ref, dcrd, dref)      b = locate(crd, repeat(parent, sig))
                                                         out, a = crd, ref

    The first operand stays where all are dense.  An operand whose parent may be the empty token
    stays too: its fiber would be empty, where a locator passes the coordinates on.
    """
    fanout_free = unwoven(graph)
    work = Rewriting(fanout_free)
    for node in fanout_free.nodes:
        inputs = work.inputs(node)
        dense = _dense_operands(fanout_free, node) if _is(node, Role.INTERSECTER) else []
        if not dense:
            work.nodes.append(replace(node, inputs=inputs))
            continue
        pairs = list(zip(inputs[::2], inputs[1::2], strict=True))
        kept = [k for k in range(len(pairs)) if k not in dense]
        crd_out, *payloads_out = node.outputs
        crd = pairs[kept[0]][0]
        if len(kept) == 1:
            work.now(crd_out, crd)
            work.now(payloads_out[kept[0]], pairs[kept[0]][1])
        else:
            assert crd_out is not None
            crd = crd_out
            flat = tuple(s for k in kept for s in pairs[k])
            outputs = (crd_out, *(payloads_out[k] for k in kept))
            work.nodes.append(replace(node, inputs=flat, outputs=outputs))
        for k in dense:
            scan = fanout_free.nodes[fanout_free.producer[node.inputs[2 * k]]]
            (parent,) = work.inputs(scan)
            sig = work.stream(crd, StreamKind.SIG, "repeat")
            held = work.stream(crd, StreamKind.REF, "parent repeated")
            work.node("repsig", (crd,), (sig,), {}, "repeat signal", node.origin)
            work.node("repeat", (parent, sig), (held,), {}, f"Rep {scan.origin}", scan.origin)
            label = f"Locate {scan.origin}"
            work.node("locate", (crd, held), (payloads_out[k],), _place(scan), label, scan.origin)
    return woven(work.done())


def remove_locators(graph: Graph) -> Graph:
    """Scan dense levels and intersect with them instead of looking them up.

    The rewrite of :func:`insert_locators` backwards: for comparing the two.  Locators whose
    parent may be the empty token, or is not repeated over the coordinates, stay.
    """
    fanout_free = unwoven(graph)
    work = Rewriting(fanout_free)
    for node in fanout_free.nodes:
        inputs = work.inputs(node)
        parent = _parent(fanout_free, node)
        if parent is None:
            work.nodes.append(replace(node, inputs=inputs))
            continue
        crd = inputs[0]
        params, origin = _place(node), node.origin
        scanned = work.stream(crd, StreamKind.CRD, f"{origin} crd")
        found = work.stream(crd, StreamKind.REF, f"{origin} ref")
        kept = work.stream(crd, StreamKind.CRD, f"{origin} joined crd")
        carried = work.stream(crd, StreamKind.CRD, f"{origin} unused")
        source = work.same.get(parent, parent)
        work.node("dense_scan", (source,), (scanned, found), params, f"LS {origin}", origin)
        joined = (crd, crd, scanned, found)
        outputs = (kept, carried, node.outputs[0])
        work.node("intersect", joined, outputs, {}, f"I {origin}", origin)
    return woven(work.done())


def _is(node: Node, role: Role) -> bool:
    return primitive(node.op).role is role


def _place(node: Node) -> dict[str, Scalar]:
    return {name: node.params[name] for name in _PLACES if name in node.params}


def _dense_operands(fanout_free: FanoutFreeGraph, node: Node) -> list[int]:
    """Operands that can be looked up, at least one operand left out."""
    found = []
    for k, (crd, payload) in enumerate(zip(node.inputs[::2], node.inputs[1::2], strict=True)):
        scan = fanout_free.nodes[fanout_free.producer[crd]]
        whole = _is(scan, Role.DENSE_LEVEL) and scan.outputs == (crd, payload)
        if whole and "tensor" in scan.params and not _may_be_empty(fanout_free, scan.inputs[0]):
            found.append(k)
    return found[1:] if len(found) == len(node.inputs) // 2 else found


def _parent(fanout_free: FanoutFreeGraph, node: Node) -> int | None:
    """The reference a locator looks coordinates up under, once per fiber of them."""
    if not _is(node, Role.LOCATOR):
        return None
    crd, held = node.inputs
    repeat = fanout_free.nodes[fanout_free.producer[held]]
    if not _is(repeat, Role.REPEATER):
        return None
    signal = fanout_free.nodes[fanout_free.producer[repeat.inputs[1]]]
    if not _is(signal, Role.SIGNAL) or signal.inputs != (crd,):
        return None
    return None if _may_be_empty(fanout_free, repeat.inputs[0]) else repeat.inputs[0]


def _may_be_empty(fanout_free: FanoutFreeGraph, stream: int) -> bool:
    """Return whether some reference of a stream may be the empty token."""
    waiting, seen = [stream], {stream}
    while waiting:
        s = waiting.pop()
        maker = fanout_free.nodes[fanout_free.producer[s]]
        empties = primitive(maker.op).empties
        if empties is Empties.NONE:
            continue
        if empties is Empties.POSSIBLE:
            return True
        for source in maker.inputs:
            if source not in seen and fanout_free.streams[source].kind is StreamKind.REF:
                seen.add(source)
                waiting.append(source)
    return False
