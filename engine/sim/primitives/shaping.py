"""Repeating outer coordinates along inner ones, flattening two levels to one, shifting one.

The first two are as the reference has them, oddities included (``samml.md`` §2.15, §2.19, §9.9).
"""

from __future__ import annotations

from engine.sim.primitives.registry import twin
from engine.sim.process import Behaviour, Process
from engine.sim.tokens import DONE, Stop, is_number


@twin("crdhold")
def crdhold(node: Process) -> Behaviour:
    """Put the outer coordinate once per inner one; the outer stream's end stays unread."""
    inner, outer = node.inputs
    inner_out, outer_out = node.outputs
    while True:
        held = yield outer.peek
        token = yield inner.take
        yield inner_out.put(token)
        if token is DONE:
            yield outer_out.put(DONE)
            return
        if isinstance(token, Stop):
            yield outer_out.put(token)
            yield outer.take
        else:
            if isinstance(held, Stop):
                yield outer.take
                held = yield outer.peek
            yield outer_out.put(held)
        node.clock += 1


@twin("flatten")
def flatten(node: Process) -> Behaviour:
    """Merge two levels: ``outer * factor + inner``; the final stop is never put."""
    inner, outer = node.inputs
    (out,) = node.outputs
    factor = int(node.param("factor"))
    while True:
        head = yield outer.peek
        token = yield inner.take
        if token is DONE:
            yield out.put(DONE)
            return
        if isinstance(token, Stop):
            if isinstance(head, Stop):
                yield out.put(head)
            yield outer.take
        elif not isinstance(head, int):
            node.fail("an inner coordinate without an outer one", head, token)
        else:
            yield out.put(head * factor + token)
        node.clock += 1


@twin("shift")
def shift(node: Process) -> Behaviour:
    """Add the offset of an operand of a concat to its coordinates, one token a cycle."""
    (stream,) = node.inputs
    (out,) = node.outputs
    offset = int(node.param("offset"))
    while True:
        token = yield stream.take
        yield out.put(token + offset if is_number(token) else token)
        if token is DONE:
            return
        node.clock += 1
