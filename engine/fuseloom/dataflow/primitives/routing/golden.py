"""Copying a stream, and dealing it to lanes and back (``docs/spec/machine.md`` §8)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Channel, Process, Request
from fuseloom.dataflow.sim.tokens import DONE, Stop, same


@golden_model("broadcast")
def broadcast(node: Process) -> Behaviour:
    """Copy each token to all outputs at once, when all have room; takes no time of its own."""
    (stream,) = node.inputs
    while True:
        token = yield stream.take
        for out in node.outputs:
            yield out.room
        for out in node.outputs:
            yield out.put(token)
        if token is DONE:
            return


@golden_model("fork")
def fork(node: Process) -> Behaviour:
    """Deal leaves to the lanes in turn, across fibers; stops go to every lane."""
    (stream,) = node.inputs
    lanes = node.outputs
    turn = 0
    while True:
        token = yield stream.take
        if isinstance(token, Stop) or token is DONE:
            for lane in lanes:
                yield lane.put(token)
        else:
            yield lanes[turn].put(token)
            turn = (turn + 1) % len(lanes)
        node.clock += 1
        if token is DONE:
            return


@golden_model("join")
def join(node: Process) -> Behaviour:
    """Collect one fiber from each lane in turn, one level below the forked one.

    Only the last lane's stops keep their level: right where the forked fibers' lengths are
    multiples of the number of lanes (``docs/spec/comal.md`` §2.10).
    """
    lanes = node.inputs
    (out,) = node.outputs
    last = len(lanes) - 1
    turn = 0
    while True:
        token = yield lanes[turn].take
        if token is DONE:
            if turn == last:
                yield out.put(DONE)
                return
        elif isinstance(token, Stop):
            yield out.put(token if turn == last else Stop(0))
        else:
            yield out.put(token)
        if isinstance(token, Stop) or token is DONE:
            turn = (turn + 1) % len(lanes)
        node.clock += 1


@golden_model("ordered_join")
def ordered_join(node: Process) -> Behaviour:
    """Collect from each lane in turn what one coordinate of the guide opened.

    The guide is the coordinate stream of the forked level, not forked; the lanes lie
    ``levels`` levels below it.  Every stop takes its level from the guide, so forked fibers of
    any length are right, empty ones included, where ``join`` is not.
    """
    guide, lanes = node.inputs[0], node.inputs[1:]
    (out,) = node.outputs
    levels = int(node.param("levels"))
    turn = 0
    closed: dict[int, Stop] = {}  # lanes that have ended the guide's current fiber
    while True:
        head = yield guide.take
        if head is not DONE and not isinstance(head, Stop):
            if turn in closed:
                node.fail(f"lane {turn} has nothing for a coordinate of the guide", head)
            end = yield from pass_subtree(node, lanes[turn], out, levels)
            if end is not None and end.level >= levels:
                closed[turn] = end
            turn = (turn + 1) % len(lanes)
            if end is None:
                continue
            following = yield guide.peek
            if not isinstance(following, Stop):
                yield out.put(Stop(levels - 1))
                node.clock += 1
                continue
            head = yield guide.take
        closing = Stop(head.level + levels) if isinstance(head, Stop) else DONE
        for number, lane in enumerate(lanes):
            token = closed[number] if number in closed else (yield lane.take)
            if not same(token, closing):
                node.fail(f"lane {number} and the guide disagree on where fibers end", head, token)
        closed.clear()
        yield out.put(closing)
        if closing is DONE:
            return
        node.clock += 1


def pass_subtree(
    node: Process, lane: Channel, out: Channel, levels: int
) -> Generator[Request, Any, Stop | None]:
    """Pass on one subtree of that many levels, a cycle per token; return its closing stop.

    The stop is taken but not put, for its level in the output is not its level in the lane.
    A subtree of no levels is one leaf and has no stop.
    """
    while True:
        token = yield lane.take
        if token is DONE or (levels == 0 and isinstance(token, Stop)):
            node.fail("a lane ends before the guide", token)
        if isinstance(token, Stop) and token.level >= levels - 1:
            return token
        yield out.put(token)
        node.clock += 1
        if levels == 0:
            return None
