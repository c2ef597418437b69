"""Intersecters and unioners as hardware (``docs/spec/machine.md`` §4.4, §4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

from amaranth.hdl import C, Module, Mux, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, any_of, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep


def smallest(m: Module, heads: Sequence[TokenWires]) -> Any:
    """The smallest coordinate among the heads that are coordinates."""
    candidates = [(head.is_value, head.data) for head in heads]
    while len(candidates) > 1:
        pairs = zip(candidates[::2], candidates[1::2], strict=False)
        odd = candidates[len(candidates) // 2 * 2 :]
        candidates = []
        for (left, a), (right, b) in pairs:
            valid, word = Signal(), Signal(WORD_BITS)
            m.d.comb += [valid.eq(left | right), word.eq(Mux(left & (~right | (a <= b)), a, b))]
            candidates.append((valid, word))
        candidates += odd
    return candidates[0][1]


@dataclass(frozen=True)
class JoinStep:
    """The tokens in front of a joiner.

    Attributes
    ----------
    heads, loads : sequence of TokenWires
        The coordinates and the payloads, by operand.
    equal : Value
        True where all coordinates are the same token.
    least : Value
        The smallest coordinate.
    has : sequence of Value
        By operand, true where its coordinate is the smallest.
    """

    heads: Sequence[TokenWires]
    loads: Sequence[TokenWires]
    equal: Any
    least: Any
    has: Sequence[Any]


class JoinerUnit(PrimitiveUnit):
    """Walks the coordinates of ``pairs`` operands in order, each with its payload."""

    def __init__(self, pairs: int) -> None:
        self.pairs = pairs
        super().__init__(2 * pairs, pairs + 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        heads = [step.peek(2 * k) for k in range(self.pairs)]
        loads = [step.peek(2 * k + 1) for k in range(self.pairs)]
        equal = Signal()
        m.d.comb += equal.eq(reduce(and_, [heads[0].same(head) for head in heads], C(1, 1)))
        least = smallest(m, heads)
        has = [head.is_value & (head.data == least) for head in heads]
        stops = any_of(
            [a.is_stop & b.is_stop & ~a.same(b) for a in heads for b in heads if a is not b]
        )
        ends = any_of([head.is_done | head.is_empty for head in heads])
        alone = ~any_of([head.is_value for head in heads])
        pairs = zip(heads, loads, strict=True)
        wrong = any_of([~head.same(load) & ~(head.is_leaf & load.is_leaf) for head, load in pairs])
        step.fault_if(wrong | ~equal & (stops | ends | alone))
        self.join(m, step, JoinStep(heads, loads, equal, least, has))
        step.end(last=equal & heads[0].is_done)

    def join(self, m: Module, step: RequestStep, now: JoinStep) -> None:
        """Put and take what a step does."""
        raise NotImplementedError


class IntersecterUnit(JoinerUnit):
    """Puts the coordinates that all operands have."""

    def join(self, m: Module, step: RequestStep, now: JoinStep) -> None:
        step.put(0, now.heads[0], now.equal)
        for k, load in enumerate(now.loads):
            step.put(k + 1, load, now.equal)
            step.take(2 * k, now.equal | now.has[k])
            step.take(2 * k + 1, now.equal | now.has[k])


class UnionerUnit(JoinerUnit):
    """Puts the coordinates that any operand has, with the empty token for those that lack it.

    Parameters
    ----------
    gate : int
        Of a fiber in which that many operands at the front have nothing, nothing is put.
    """

    def __init__(self, pairs: int, gate: int) -> None:
        self.gate = gate
        super().__init__(pairs)

    def join(self, m: Module, step: RequestStep, now: JoinStep) -> None:
        fresh = Signal(init=1)
        gated = Signal()
        if self.gate:
            front = [head.is_stop for head in now.heads[: self.gate]]
            m.d.comb += gated.eq(~now.equal & fresh & reduce(and_, front))
        step.put(0, now.heads[0], now.equal)
        announced: Any = now.equal | gated
        for k, load in enumerate(now.loads):
            step.put(0, TokenWires.value(now.least), now.has[k] & ~announced)
            announced = announced | now.has[k]
            payload = choose((now.equal | now.has[k], load), otherwise=TokenWires.empty())
            step.put(k + 1, payload, ~gated)
            step.take(2 * k, now.equal | now.has[k])
            step.take(2 * k + 1, now.equal | now.has[k])
        with m.If(step.complete):
            m.d.sync += fresh.eq(Mux(now.equal, now.heads[0].is_stop, gated))


@hardware("intersect")
def intersect(spec: NodeSpec) -> PrimitiveUnit:
    """Build an intersecter."""
    return IntersecterUnit(len(spec.node.inputs) // 2)


@hardware("union")
def union(spec: NodeSpec) -> PrimitiveUnit:
    """Build a unioner."""
    return UnionerUnit(len(spec.node.inputs) // 2, int(spec.param("gate", 0)))
