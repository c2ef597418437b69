"""Broadcasts, forks and joins of lanes as hardware (``docs/spec/machine.md`` §8)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Const, Module, Mux, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, any_of, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep


class BroadcastUnit(PrimitiveUnit):
    """Copies each token to all outputs, once all have room."""

    def __init__(self, copies: int) -> None:
        self.copies = copies
        super().__init__(1, copies)

    def describe(self, m: Module, step: RequestStep) -> None:
        token = step.take(0)
        for k in range(self.copies):
            step.room(k)
        for k in range(self.copies):
            step.put(k, token)
        step.end(last=token.is_done)


class ForkUnit(PrimitiveUnit):
    """Deals leaves to the lanes in turn; everything else goes to every lane."""

    ticks_at_end = True

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(1, lanes)

    def describe(self, m: Module, step: RequestStep) -> None:
        turn = Signal(range(max(2, self.lanes)))
        token = step.take(0)
        for k in range(self.lanes):
            step.put(k, token, ~token.is_leaf | (turn == k))
        step.end(last=token.is_done)
        with m.If(step.complete & token.is_leaf):
            m.d.sync += turn.eq(Mux(turn == self.lanes - 1, 0, turn + 1))


class JoinUnit(PrimitiveUnit):
    """Collects one fiber from each lane in turn; only the last lane's stops keep their level."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(lanes, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        turn = Signal(range(max(2, self.lanes)))
        tokens = [step.take(k, turn == k) for k in range(self.lanes)]
        token = TokenWires.of(Array([token.bits for token in tokens])[turn])
        last = turn == self.lanes - 1
        closing = choose((last, token), otherwise=TokenWires.stop(Const(0, WORD_BITS)))
        step.put(0, choose((token.is_stop, closing), otherwise=token), ~token.is_done | last)
        step.end(last=token.is_done & last)
        with m.If(step.complete & ~token.is_leaf):
            m.d.sync += turn.eq(Mux(last, 0, turn + 1))


class OrderedJoinUnit(PrimitiveUnit):
    """Collects from each lane in turn what one coordinate of the guide, input 0, opened.

    Parameters
    ----------
    lanes : int
        Number of lanes.
    levels : int
        Levels of a lane below the guide's.
    """

    def __init__(self, lanes: int, levels: int) -> None:
        self.lanes = lanes
        self.levels = levels
        super().__init__(lanes + 1, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        levels = self.levels
        turn = Signal(range(max(2, self.lanes)))
        inside = Signal()  # of a subtree
        closed = Signal(self.lanes)  # the lanes that have ended the guide's fiber
        head = step.take(0, ~inside)
        passes = inside | head.is_leaf
        tokens = [step.take(k + 1, passes & (turn == k)) for k in range(self.lanes)]
        token = TokenWires.of(Array([token.bits for token in tokens])[turn])
        ends = passes & token.is_stop & (token.data + 1 >= levels)
        over = ends & (token.data >= levels)
        following = step.peek(0, ends)
        merges = ends & ~following.is_leaf
        step.take(0, merges)
        guide = choose((inside | head.is_leaf, following), otherwise=head)
        closes = merges | ~passes
        shut = Signal(self.lanes)
        m.d.comb += shut.eq(closed | Mux(over, 1 << turn, 0))
        closing = choose(
            (guide.is_stop, TokenWires.stop((guide.data + levels)[:WORD_BITS])),
            otherwise=TokenWires.done(),
        )
        rest: list[Any] = []
        for k in range(self.lanes):
            late = closes & ~shut[k]
            end = step.take(k + 1, late)
            rest.append(late & ~end.same(closing))
        step.fault_if(
            any_of(rest)
            | passes & (token.is_done | closed.bit_select(turn, 1) | (ends & (levels == 0)))
        )
        between = TokenWires.stop(Const(max(levels - 1, 0), WORD_BITS))
        step.put(0, choose((closes, closing), (ends, between), otherwise=token))
        step.end(last=closes & guide.is_done)
        leaves = passes & (ends | (token.is_leaf & (levels == 0)))
        with m.If(step.complete):
            m.d.sync += [
                inside.eq(passes & ~leaves),
                closed.eq(Mux(closes, 0, shut)),
            ]
            with m.If(leaves):
                m.d.sync += turn.eq(Mux(turn == self.lanes - 1, 0, turn + 1))


@hardware("broadcast")
def broadcast(spec: NodeSpec) -> PrimitiveUnit:
    """Build a broadcast."""
    return BroadcastUnit(len(spec.node.outputs))


@hardware("fork")
def fork(spec: NodeSpec) -> PrimitiveUnit:
    """Build a fork."""
    return ForkUnit(len(spec.node.outputs))


@hardware("join")
def join(spec: NodeSpec) -> PrimitiveUnit:
    """Build a join of lanes whose fibers have multiples of their number."""
    return JoinUnit(len(spec.node.inputs))


@hardware("ordered_join")
def ordered_join(spec: NodeSpec) -> PrimitiveUnit:
    """Build a join of lanes of any length."""
    return OrderedJoinUnit(len(spec.node.inputs) - 1, int(spec.param("levels")))
