"""Intersecter and unioner of any number of operands (``docs/spec/machine.md`` §4.4, §4.5)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Channel, Process, Request
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, Token, is_leaf, same


def peek_all(channels: Sequence[Channel]) -> Generator[Request, Any, list[Token]]:
    """The heads of several channels, waited for in order."""
    heads: list[Token] = []
    for channel in channels:
        head = yield channel.peek
        heads.append(head)
    return heads


def smallest(node: Process, heads: Sequence[Token]) -> int:
    """The coordinate that a step with unequal heads consumes."""
    stops = {head for head in heads if isinstance(head, Stop)}
    coordinates = [head for head in heads if isinstance(head, int)]
    if len(stops) > 1 or EMPTY in heads or DONE in heads or not coordinates:
        node.fail("operands disagree on where fibers end", *heads)
    return min(coordinates)


def check_payloads(node: Process, crds: Sequence[Token], payloads: Sequence[Token]) -> None:
    """A coordinate comes with a leaf, a stop with the same stop."""
    for crd, payload in zip(crds, payloads, strict=True):
        if not same(crd, payload) and not (is_leaf(crd) and is_leaf(payload)):
            node.fail("an operand's coordinate and payload disagree", crd, payload)


@golden_model("intersect")
def intersect(node: Process) -> Behaviour:
    """Walk the operands' coordinates in order; put those that all have."""
    crds, payloads = node.inputs[::2], node.inputs[1::2]
    crd_out, payloads_out = node.outputs[0], node.outputs[1:]
    while True:
        heads = yield from peek_all(crds)
        loads = yield from peek_all(payloads)
        check_payloads(node, heads, loads)
        if all(head == heads[0] for head in heads):
            yield crd_out.put(heads[0])
            for crd, payload, load, out in zip(crds, payloads, loads, payloads_out, strict=True):
                yield out.put(load)
                yield crd.take
                yield payload.take
            if heads[0] is DONE:
                return
        else:
            least = smallest(node, heads)
            for crd, payload, head in zip(crds, payloads, heads, strict=True):
                if head == least:
                    yield crd.take
                    yield payload.take
        node.clock += 1


@golden_model("union")
def union(node: Process) -> Behaviour:
    """Walk the operands' coordinates in order; put each, with N for operands that lack it.

    With ``gate`` = g > 0, a fiber in which the first g operands have nothing is empty: the
    others are consumed, one coordinate a cycle, without output.
    """
    gate = int(node.param("gate", 0))
    crds, payloads = node.inputs[::2], node.inputs[1::2]
    crd_out, payloads_out = node.outputs[0], node.outputs[1:]
    fresh = True  # nothing of this fiber has been put
    while True:
        heads = yield from peek_all(crds)
        loads = yield from peek_all(payloads)
        check_payloads(node, heads, loads)
        if EMPTY in heads:
            node.fail("an operand has the empty token as a coordinate", *heads)
        if all(head == heads[0] for head in heads):
            yield crd_out.put(heads[0])
            for crd, payload, load, out in zip(crds, payloads, loads, payloads_out, strict=True):
                yield out.put(load)
                yield crd.take
                yield payload.take
            if heads[0] is DONE:
                return
            fresh = isinstance(heads[0], Stop)
        else:
            least = smallest(node, heads)
            gated = gate > 0 and fresh and all(isinstance(head, Stop) for head in heads[:gate])
            announced = gated
            for crd, payload, head, load, out in zip(
                crds, payloads, heads, loads, payloads_out, strict=True
            ):
                if head != least:
                    if not gated:
                        yield out.put(EMPTY)
                    continue
                if not announced:
                    yield crd_out.put(least)
                    announced = True
                if not gated:
                    yield out.put(load)
                yield crd.take
                yield payload.take
            fresh = gated
        node.clock += 1
