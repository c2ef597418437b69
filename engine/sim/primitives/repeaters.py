"""Repeat signals and repeaters (``samml.md`` §2.3, §2.4)."""

from __future__ import annotations

from engine.sim.primitives.registry import twin
from engine.sim.process import Behaviour, Process, finish
from engine.sim.tokens import DONE, EMPTY, REPEAT, SIGNAL_STOP, Stop


@twin("repsig")
def repsig(node: Process) -> Behaviour:
    """Turn leaves into R and stops into S."""
    (stream,) = node.inputs
    (signal,) = node.outputs
    while True:
        token = yield stream.take
        if token is DONE:
            yield signal.put(DONE)
            return
        yield signal.put(SIGNAL_STOP if isinstance(token, Stop) else REPEAT)
        node.clock += 1


@twin("repeat")
def repeat(node: Process) -> Behaviour:
    """Put the held token at each R; at S close its group, merging a stop that follows it."""
    held, signal = node.inputs
    (out,) = node.outputs
    while True:
        token = yield held.peek
        order = yield signal.take
        if order is REPEAT:
            if isinstance(token, Stop) or token is DONE:
                node.fail("repeat signal without a token to repeat", token)
            yield out.put(token)
        elif order is SIGNAL_STOP:
            yield held.take
            if isinstance(token, Stop):  # closes an empty fiber of held tokens
                yield out.put(Stop(token.level + 1))
            elif token is EMPTY and node.quirks.repeat_ignores_stop_after_empty:
                yield out.put(Stop(0))
            else:
                following = yield held.peek
                merges = isinstance(following, Stop)
                if merges:
                    yield held.take
                yield out.put(Stop(following.level + 1 if merges else 0))
        else:
            yield out.put(DONE)
            yield from finish(node, held)
            return
        node.clock += 1
