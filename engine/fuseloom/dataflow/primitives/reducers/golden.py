"""Reducers: one value per innermost fiber (``docs/spec/machine.md`` §6.1, §6.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.tile_values import latency, tile_of
from fuseloom.dataflow.sim.golden.functions import larger
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, Token, is_number, same

F32 = np.float32
Value: TypeAlias = np.float32 | npt.NDArray[np.float32]


@dataclass(frozen=True)
class ReductionFunction:
    """A function that joins values, and the initial values of the reference's registers.

    They hold one value at the start of the first fiber, and one at the start of later fibers.
    """

    join: Callable[[Any, Any], Any]
    first: F32
    later: F32


FOLDS: Mapping[str, ReductionFunction] = {
    "add": ReductionFunction(lambda total, x: total + x, F32(0), F32(0)),
    "max": ReductionFunction(larger, np.finfo(F32).min, F32(0)),
}


class Register:
    """Accumulates one fiber at a time; what nothing adds up to depends on the machine."""

    def __init__(self, node: Process) -> None:
        name = node.param("fn")
        self.fold = FOLDS[name]
        quirks = node.quirks
        self.has_default = (
            quirks.max_reduce_resets_to_zero if name == "max" else quirks.sum_of_nothing_is_zero
        )
        # Sums start from 0 on every machine, so that -0 comes out alike.
        self.start: Value | None = None
        self.later: Value | None = None
        spec = tile_of(node.node)
        shape = spec.shape if spec is not None else ()
        if self.has_default or name == "add":
            self.start = np.full(shape, self.fold.first)[()]
            self.later = np.full(shape, self.fold.later)[()]
        self.delay = latency(node.node, node.machine.blocks)
        self.total: Value | None = self.start
        self.filled = False
        self.zero: Value | None = None
        if node.param("empty_is_zero", False):
            self.zero = np.zeros(shape, F32)[()]

    def add(self, value: Value) -> None:
        self.total = value if self.total is None else self.fold.join(self.total, value)
        self.filled = True

    def pop(self) -> Token:
        """The total of the fiber that ends here."""
        result: Token = EMPTY if self.zero is None else self.zero
        if self.total is not None and (self.filled or self.has_default):
            result = self.total
        self.total = self.later
        self.filled = False
        return result


@golden_model("reduce")
def reduce(node: Process) -> Behaviour:
    """Fold each innermost fiber to one value, put together with the stop that follows it.

    Empty values are skipped and cost nothing.
    """
    if len(node.inputs) == 2:
        yield from guided_reduce(node)
        return
    (values,) = node.inputs
    (out,) = node.outputs
    register = Register(node)
    while True:
        token = yield values.take
        if token is EMPTY:
            continue
        if token is DONE:
            yield out.put(DONE)
            return
        if isinstance(token, Stop):
            yield out.put(register.pop(), at=node.clock + register.delay)
            if token.level > 0:
                yield out.put(Stop(token.level - 1))
        else:
            register.add(token)
        node.clock += 1


def guided_reduce(node: Process) -> Behaviour:
    """Reduce one fiber per coordinate of the guide, so that no fiber differs from an empty one.

    In flat tokens ``[]`` and ``[[]]`` are both ``S1``; the coordinates of the level outside
    tell which it is (``docs/spec/machine.md`` §1.7).
    """
    values, guide = node.inputs
    (out,) = node.outputs
    register = Register(node)
    while True:
        head = yield guide.take
        token = yield values.take
        if head is DONE:
            if token is not DONE:
                node.fail("the guide ends before the values", head, token)
            yield out.put(DONE)
            return
        if isinstance(head, Stop):  # an empty fiber of the guide: no value, only its stop
            if not same(token, Stop(head.level + 1)):
                node.fail("values and guide disagree on an empty fiber", head, token)
            yield out.put(head)
            node.clock += 1
            continue
        while not isinstance(token, Stop):
            if is_number(token):
                register.add(token)
                node.clock += 1
            elif token is DONE:
                node.fail("the values end inside a fiber", head, token)
            token = yield values.take
        if token.level == 0:
            yield out.put(register.pop(), at=node.clock + register.delay)
        else:
            closing = yield guide.take
            if closing != Stop(token.level - 1):
                node.fail("values and guide disagree on where fibers end", closing, token)
            yield out.put(register.pop(), at=node.clock + register.delay)
            yield out.put(closing)
        node.clock += 1
