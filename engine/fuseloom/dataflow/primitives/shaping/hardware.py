"""Holds, flatteners, shifters and masks as hardware (``docs/spec/machine.md`` §7.5 to §7.9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Mux, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep


@dataclass(frozen=True)
class NestedStep:
    """A step of a walk through an inner stream and the outer one that it lies under.

    Attributes
    ----------
    head, token : TokenWires
        The outer token in front, and the inner one that was taken.
    stops, ended : Value
        Whether that is a stop; whether the inner stream has ended before.
    """

    head: TokenWires
    token: TokenWires
    stops: Any
    ended: Any


class NestedUnit(PrimitiveUnit):
    """Walks an inner stream, input 0, and the outer one that it lies under, input 1.

    A stop of the inner stream takes the outer coordinate that it belongs to, and the outer stop
    that it closes.
    """

    def describe(self, m: Module, step: RequestStep) -> None:
        draining = Signal()
        head = step.peek(1)
        token = step.take(0, ~draining)
        ends = draining | token.is_done
        stops = ~draining & token.is_stop
        leaves = ~draining & token.is_leaf
        step.fault_if(leaves & ~head.is_value | ends & head.is_leaf)
        self.put_before(step, NestedStep(head, token, stops, draining))
        step.take(1, stops & head.is_value)
        closes = stops & ((token.data != 0) | ~head.is_value)
        closing = step.take(1, closes)
        step.fault_if(closes & ~(closing.is_stop & (closing.data == token.data - 1)))
        self.put_after(step, closing, closes)
        step.take(1, ends)
        step.end(last=ends & head.is_done)
        with m.If(step.complete & ends):
            m.d.sync += draining.eq(1)

    def put_before(self, step: RequestStep, now: NestedStep) -> None:
        """Put what comes before the outer stream is taken."""
        raise NotImplementedError

    def put_after(self, step: RequestStep, closing: TokenWires, closes: Any) -> None:
        """Put what comes after an outer stop was taken, where ``closes``."""


class HoldUnit(NestedUnit):
    """Puts the outer coordinate once per inner one, and the inner stops."""

    def __init__(self) -> None:
        super().__init__(2, 2)

    def put_before(self, step: RequestStep, now: NestedStep) -> None:
        step.put(0, now.token, ~now.ended)
        step.put(1, choose((now.token.is_leaf, now.head), otherwise=now.token), ~now.ended)


class FlattenerUnit(NestedUnit):
    """Puts ``outer · factor + inner``, and the outer stops."""

    def __init__(self, factor: int) -> None:
        self.factor = factor
        super().__init__(2, 1)

    def put_before(self, step: RequestStep, now: NestedStep) -> None:
        merged = Signal(WORD_BITS)
        step.m.d.comb += merged.eq(now.head.data * self.factor + now.token.data)
        coordinate = TokenWires.value(merged)
        token = choose((now.token.is_done, now.token), otherwise=coordinate)
        step.put(0, token, ~now.ended & ~now.stops)

    def put_after(self, step: RequestStep, closing: TokenWires, closes: Any) -> None:
        step.put(0, closing, closes)


class MaskUnit(NestedUnit):
    """Drops elements, with their references (input 2), whose outer coordinate is greater."""

    def __init__(self) -> None:
        super().__init__(3, 3)

    def put_before(self, step: RequestStep, now: NestedStep) -> None:
        head, token, runs = now.head, now.token, ~now.ended
        reference = step.take(2, runs)
        step.fault_if(runs & ~token.same(reference) & ~(token.is_leaf & reference.is_leaf))
        keeps = runs & (~token.is_leaf | (head.data <= token.data))
        step.put(0, token, keeps)
        step.put(2, reference, keeps)
        outer = choose((token.is_done, token), otherwise=head)
        step.put(1, outer, Mux(token.is_done, runs, now.stops & head.is_value))

    def put_after(self, step: RequestStep, closing: TokenWires, closes: Any) -> None:
        step.put(1, closing, closes)


class ShifterUnit(PrimitiveUnit):
    """Adds an offset to coordinates."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        super().__init__(1, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        token = step.take(0)
        shifted = Signal(WORD_BITS)
        m.d.comb += shifted.eq(token.data + self.offset)
        step.put(0, choose((token.is_value, TokenWires.value(shifted)), otherwise=token))
        step.end(last=token.is_done)


@hardware("crdhold")
def crdhold(spec: NodeSpec) -> PrimitiveUnit:
    """Build a hold."""
    return HoldUnit()


@hardware("flatten")
def flatten(spec: NodeSpec) -> PrimitiveUnit:
    """Build a flattener."""
    return FlattenerUnit(int(spec.param("factor")))


@hardware("crdmask")
def crdmask(spec: NodeSpec) -> PrimitiveUnit:
    """Build a mask."""
    return MaskUnit()


@hardware("shift")
def shift(spec: NodeSpec) -> PrimitiveUnit:
    """Build a shifter."""
    return ShifterUnit(int(spec.param("offset")))
