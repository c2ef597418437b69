"""Repeating outer coordinates along inner ones, flattening two levels to one, shifting one.

Rules: ``docs/spec/machine.md`` §7.7 to §7.9, ``docs/spec/comal.md`` §2.9, §2.15.
"""

from __future__ import annotations

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process, finish
from fuseloom.dataflow.sim.tokens import DONE, Stop, is_leaf, is_number, same


@golden_model("crdhold")
def crdhold(node: Process) -> Behaviour:
    """Put the outer coordinate once per inner one, and the inner stops; a cycle per inner token."""
    inner, outer = node.inputs
    inner_out, outer_out = node.outputs
    lags = node.quirks.hold_lags_behind
    while True:
        held = yield outer.peek
        token = yield inner.take
        yield inner_out.put(token)
        if token is DONE:
            yield outer_out.put(DONE)
            yield from finish(node, outer)
            return
        if isinstance(token, Stop):
            yield outer_out.put(token)
            if lags or is_number(held):
                yield outer.take
            if not lags and (token.level > 0 or not is_number(held)):
                closing = yield outer.take
                if closing != Stop(token.level - 1):
                    node.fail("outer and inner disagree on where fibers end", closing, token)
        else:
            if lags and isinstance(held, Stop):
                yield outer.take
                held = yield outer.peek
            if not is_number(held):
                node.fail("an inner coordinate without an outer one", held, token)
            yield outer_out.put(held)
        node.clock += 1


@golden_model("flatten")
def flatten(node: Process) -> Behaviour:
    """Merge two levels: ``outer * factor + inner``; a cycle per inner token.

    An inner stop of level n > 0, which closes an outer fiber too, gives a stop of level n - 1.
    The reference puts an outer stop only if it is in front at an inner stop.
    """
    inner, outer = node.inputs
    (out,) = node.outputs
    factor = int(node.param("factor"))
    loses_stops = node.quirks.flatten_loses_stops
    while True:
        head = yield outer.peek
        token = yield inner.take
        if token is DONE:
            yield out.put(DONE)
            yield from finish(node, outer)
            return
        if isinstance(token, Stop):
            if loses_stops:
                if isinstance(head, Stop):
                    yield out.put(head)
                yield outer.take
            else:
                if is_number(head):
                    yield outer.take
                if token.level > 0 or not is_number(head):
                    closing = yield outer.take
                    if closing != Stop(token.level - 1):
                        node.fail("outer and inner disagree on where fibers end", closing, token)
                    yield out.put(closing)
        elif not is_number(head) or not is_number(token):
            node.fail("an inner coordinate without an outer one", head, token)
        else:
            yield out.put(head * factor + token)
        node.clock += 1


@golden_model("shift")
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


@golden_model("crdmask")
def crdmask(node: Process) -> Behaviour:
    """Drop elements whose outer coordinate is greater than the inner one; a cycle per element.

    Elements of the inner level vanish, with their references; nothing else does.  A fiber of
    which nothing is left leaves its stop, and its outer coordinate stays, so that the outputs
    nest as the inputs do and a ``crddrop`` behind can drop what became empty.
    """
    if node.quirks.mask_loses_stops:
        yield from _reference_mask(node)
        return
    inner, outer, refs = node.inputs
    inner_out, outer_out, ref_out = node.outputs
    while True:
        head = yield outer.peek
        token = yield inner.take
        ref = yield refs.take
        if not same(token, ref) and not (is_leaf(token) and is_leaf(ref)):
            node.fail("coordinate and reference disagree", token, ref)
        if token is DONE:
            for out in (inner_out, ref_out, outer_out):
                yield out.put(DONE)
            yield from finish(node, outer)
            return
        if isinstance(token, Stop):
            yield inner_out.put(token)
            yield ref_out.put(ref)
            if is_number(head):
                yield outer_out.put(head)
                yield outer.take
            if token.level > 0 or not is_number(head):
                closing = yield outer.take
                if closing != Stop(token.level - 1):
                    node.fail("outer and inner disagree on where fibers end", closing, token)
                yield outer_out.put(closing)
        elif not is_number(head) or not is_number(token):
            node.fail("an inner coordinate without an outer one", head, token)
        elif head <= token:
            yield inner_out.put(token)
            yield ref_out.put(ref)
        node.clock += 1


def _reference_mask(node: Process) -> Behaviour:
    """As in the reference: a fiber that loses all elements loses its stop too.

    Rules: ``docs/spec/comal.md`` §2.9.
    """
    inner, outer, refs = node.inputs
    inner_out, outer_out, ref_out = node.outputs
    kept = False
    while True:
        head = yield outer.peek
        token = yield inner.take
        ref = yield refs.take
        if isinstance(head, Stop):
            yield outer_out.put(head)
            yield outer.take
        if token is DONE:
            for out in (inner_out, ref_out, outer_out):
                yield out.put(DONE)
            yield from finish(node, outer)
            return
        if isinstance(token, Stop):
            if kept:
                yield inner_out.put(token)
                yield ref_out.put(ref)
                yield outer_out.put(head)
            kept = False
            yield outer.take
        elif not (is_number(head) and is_number(token) and head > token):
            yield inner_out.put(token)
            yield ref_out.put(ref)
            kept = True
        node.clock += 1
