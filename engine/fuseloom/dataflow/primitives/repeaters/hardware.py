"""Repeat signals and repeaters as hardware (``docs/spec/machine.md`` §4.1, §4.2)."""

from __future__ import annotations

from amaranth.hdl import C, Module, Mux, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep


class RepeatSignalUnit(PrimitiveUnit):
    """Puts a value for each leaf and a stop for each stop, both without a word."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        token = step.take(0)
        nothing = C(0, WORD_BITS)
        signal = choose(
            (token.is_leaf, TokenWires.value(nothing)),
            (token.is_stop, TokenWires.stop(nothing)),
            otherwise=TokenWires.done(),
        )
        step.put(0, signal)
        step.end(last=token.is_done)


class RepeaterUnit(PrimitiveUnit):
    """Puts the token in front once per signal, and closes its group at the signal's stop."""

    def __init__(self) -> None:
        super().__init__(2, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        draining = Signal()
        held = step.peek(0)
        order = step.take(1, ~draining)
        repeats = ~draining & order.is_value
        closes = ~draining & order.is_stop
        ends = draining | order.is_done
        step.fault_if(repeats & ~held.is_leaf | closes & held.is_done | ends & held.is_leaf)
        step.take(0, closes)
        groups = closes & held.is_leaf
        following = step.peek(0, groups)
        merges = groups & following.is_stop
        step.take(0, merges)
        level = Mux(held.is_stop, held.data + 1, Mux(following.is_stop, following.data + 1, 0))[
            :WORD_BITS
        ]
        token = choose(
            (repeats, held),
            (closes, TokenWires.stop(level)),
            otherwise=TokenWires.done(),
        )
        step.put(0, token, ~draining)
        step.take(0, ends)
        step.end(last=ends & held.is_done)
        with m.If(step.complete & ends):
            m.d.sync += draining.eq(1)


@hardware("repsig")
def repsig(spec: NodeSpec) -> PrimitiveUnit:
    """Build a maker of repeat signals."""
    return RepeatSignalUnit()


@hardware("repeat")
def repeat(spec: NodeSpec) -> PrimitiveUnit:
    """Build a repeater."""
    return RepeaterUnit()
