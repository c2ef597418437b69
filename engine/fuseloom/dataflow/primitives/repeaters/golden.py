"""Repeat signals, repeaters and replayers (``docs/spec/machine.md`` §4.1 to §4.3)."""

from __future__ import annotations

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process, finish
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, REPEAT, SIGNAL_STOP, Stop


@golden_model("repsig")
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


@golden_model("repeat")
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


@golden_model("replay")
def replay(node: Process) -> Behaviour:
    """Put a whole subtree once per coordinate of a fiber of the driver.

    The stream has one subtree of ``levels`` levels per fiber of the driver (per element of the
    level outside both).  Of a fiber of m > 0 coordinates that the driver closes with ``Sn``, the
    output has the subtree m times: each copy but the last ends in the stop of level ``levels - 1``
    with which a subtree ends, the last in ``S(levels + n)``, which closes the driver's fiber and
    n outside it too.  A fiber of no coordinates consumes the subtree and leaves that stop alone.
    So the output nests like the driver with the subtree inside::

        replay levels=1   in 5 7 S0 D             driver 0 1 2 S0 D    out 5 7 S0 5 7 S0 5 7 S1 D
        replay levels=1   in 5 S0 S0 7 S1 D       driver 0 S0 1 2 S0 S1 D
                                                  out 5 S1 S0 S1 S2 D
        replay levels=2   in 5 S0 6 7 S1 D        driver 0 1 S0 D
                                                  out 5 S0 6 7 S1 5 S0 6 7 S2 D

    The stream's stop must close as many fibers outside the subtree as the driver's does.  A cycle
    per token put: the first copy streams through as its tokens arrive, the others come from the
    buffer, in which the tokens are stored meanwhile at no cost.  Each token of a subtree that is
    dropped takes a cycle too.
    """
    stream, driver = node.inputs
    (out,) = node.outputs
    levels = int(node.param("levels"))
    while True:
        head = yield driver.take
        if head is DONE:
            token = yield stream.take
            if token is not DONE:
                node.fail("the driver ends before the stream", token)
            yield out.put(DONE)
            return
        buffer = []
        while True:
            token = yield stream.take
            if token is DONE:
                node.fail("the stream ends inside a fiber of the driver", head)
            if isinstance(token, Stop) and token.level >= levels - 1:
                break
            if not isinstance(head, Stop):
                buffer.append(token)
                yield out.put(token)
            node.clock += 1
        while not isinstance(head, Stop):
            head = yield driver.take
            if head is DONE:
                node.fail("the driver ends inside a fiber", token)
            if not isinstance(head, Stop):
                yield out.put(Stop(levels - 1))
                node.clock += 1
                for kept in buffer:
                    yield out.put(kept)
                    node.clock += 1
        if token.level != levels - 1 + head.level:
            node.fail("stream and driver disagree on where fibers end", head, token)
        yield out.put(Stop(levels + head.level))
        node.clock += 1
