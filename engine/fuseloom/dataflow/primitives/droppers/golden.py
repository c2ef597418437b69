"""Droppers of empty fibers, of empty values and of stops (``docs/spec/machine.md`` §7)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_leaf, is_number, same


@golden_model("crddrop")
def crddrop(node: Process) -> Behaviour:
    """Drop outer coordinates whose inner fiber is empty; inner stops all stay.

    A whole inner fiber passes in one cycle if it has already arrived.
    """
    inner, outer = node.inputs
    inner_out, outer_out = node.outputs
    after_coordinate = False
    while True:
        head = yield outer.peek
        if isinstance(head, Stop):
            if not after_coordinate and not node.quirks.drop_ignores_empty_outer_fiber:
                token = yield inner.take  # an empty outer fiber has one inner stop of its own
                if token != Stop(head.level + 1):
                    node.fail("outer and inner disagree on an empty fiber", head, token)
                yield inner_out.put(token)
            yield outer_out.put(head)
            yield outer.take
            after_coordinate = False
        elif head is DONE:
            token = yield inner.take
            if token is DONE:
                yield inner_out.put(token)
            elif not node.quirks.drop_ignores_empty_outer_fiber:
                node.fail("the outer stream ends before the inner", head, token)
            yield outer_out.put(head)
            return
        else:
            keep = False
            while True:
                token = yield inner.take
                if token is DONE:
                    node.fail("the inner stream ends inside a fiber", head, token)
                yield inner_out.put(token)
                if isinstance(token, Stop):
                    break
                keep = True
            if keep:
                yield outer_out.put(head)
            yield outer.take
            after_coordinate = True
        node.clock += 1


@golden_model("valdrop")
def valdrop(node: Process) -> Behaviour:
    """Drop empty values with their coordinates; stops always pass."""
    values, crds = node.inputs
    val_out, crd_out = node.outputs
    while True:
        value = yield values.take
        crd = yield crds.take
        if not same(value, crd) and not (is_leaf(value) and is_leaf(crd)):
            node.fail("value and coordinate disagree", value, crd)
        if value is not EMPTY:
            yield val_out.put(value)
            yield crd_out.put(crd)
        if value is DONE:
            return
        node.clock += 1


@golden_model("zerodrop")
def zerodrop(node: Process) -> Behaviour:
    """Drop zeros and empty values with their coordinates; the reference drops stops too."""
    values, crds = node.inputs
    val_out, crd_out = node.outputs
    quirk = node.quirks.zerodrop_discards_stops
    discard = False
    while True:
        value = yield values.take
        crd = yield crds.take
        if is_number(value):
            if np.any(value != 0):
                yield val_out.put(value)
                yield crd_out.put(crd)
        elif value is EMPTY and not quirk:
            pass
        elif value != crd and not quirk:
            node.fail("value and coordinate disagree", value, crd)
        elif discard and value is not DONE:
            discard = False
            continue
        else:
            yield val_out.put(value)
            yield crd_out.put(crd)
            if value is DONE:
                return
            discard = quirk
        node.clock += 1


@golden_model("stopdrop")
def stopdrop(node: Process) -> Behaviour:
    """Drop a stop if nothing was put since the last one."""
    (stream,) = node.inputs
    (out,) = node.outputs
    fiber_open = False
    while True:
        token = yield stream.take
        if not isinstance(token, Stop):
            yield out.put(token)
            if token is DONE:
                return
            fiber_open = True
        elif fiber_open:
            yield out.put(token)
            fiber_open = False
        node.clock += 1


@golden_model("fiber_align")
def fiber_align(node: Process) -> Behaviour:
    """One subtree per coordinate of ``after``: dropped, passed on or empty.

    Rules: ``docs/spec/machine.md`` §7.6.

    ``before`` has the coordinates that opened the subtrees of the stream, which lie ``levels``
    levels inside.  A cycle per token of the stream and per subtree inserted.
    """
    before, after, stream = node.inputs
    (out,) = node.outputs
    levels = int(node.param("levels"))
    merged = False  # the stop that ended the last subtree closed its fiber too
    pending = False  # a subtree was put whose stop waits for what follows
    while True:
        target = yield after.peek
        have = yield before.peek
        if is_number(have) and (not is_number(target) or have <= target):
            yield before.take
            keep = have == target
            if keep and pending:
                yield out.put(Stop(levels - 1))
            token = yield stream.take
            while not isinstance(token, Stop) or token.level < levels - 1:
                if token is DONE:
                    node.fail("the stream ends inside a fiber", have)
                if keep:
                    yield out.put(token)
                node.clock += 1
                token = yield stream.take
            merged = token.level >= levels
            node.clock += 1
            if keep:
                yield after.take
                pending = True
        elif is_number(target):
            if pending:
                yield out.put(Stop(levels - 1))
            yield after.take
            pending = True
            node.clock += 1
        else:
            yield after.take
            yield before.take
            if have != target or target is EMPTY:
                node.fail("the two levels disagree on where fibers end", have, target)
            if not merged:
                token = yield stream.take
                if not same(token, DONE if target is DONE else Stop(target.level + levels)):
                    node.fail("level and stream disagree on where fibers end", target, token)
            merged = pending = False
            if target is DONE:
                yield out.put(DONE)
                return
            yield out.put(Stop(target.level + levels))
            node.clock += 1
