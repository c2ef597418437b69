"""Droppers as hardware (``docs/spec/machine.md`` §7.1 to §7.4)."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep


class CoordinateDropperUnit(PrimitiveUnit):
    """Drops outer coordinates whose inner fiber is empty; an inner token passes per cycle."""

    def __init__(self) -> None:
        super().__init__(2, 2)

    def describe(self, m: Module, step: RequestStep) -> None:
        after, keep = Signal(), Signal()
        head = step.peek(1)
        inside = head.is_value
        takes = inside | head.is_done | (head.is_stop & ~after)
        token = step.take(0, takes)
        step.fault_if(
            head.is_empty
            | inside & token.is_done
            | head.is_done & ~token.is_done
            | head.is_stop & ~after & ~(token.is_stop & (token.data == head.data + 1))
        )
        step.put(0, token, takes)
        closes = inside & token.is_stop
        step.put(1, head, Mux(inside, closes & keep, 1))
        step.take(1, closes | head.is_stop)
        step.end(last=head.is_done)
        with m.If(step.complete):
            m.d.sync += [
                keep.eq(inside & ~token.is_stop),
                after.eq(Mux(inside, token.is_stop, 0)),
            ]


class ValueDropperUnit(PrimitiveUnit):
    """Drops empty values with their coordinates, and zeros where ``zeros`` says so."""

    def __init__(self, zeros: bool) -> None:
        self.zeros = zeros
        super().__init__(2, 2)

    def describe(self, m: Module, step: RequestStep) -> None:
        value = step.take(0)
        coordinate = step.take(1)
        step.fault_if(~value.same(coordinate) & ~(value.is_leaf & coordinate.is_leaf))
        keeps = ~value.is_empty
        if self.zeros:
            keeps = keeps & ~(value.is_value & (value.data[:31] == 0))
        step.put(0, value, keeps)
        step.put(1, coordinate, keeps)
        step.end(last=value.is_done)


class StopDropperUnit(PrimitiveUnit):
    """Drops a stop if nothing was put since the last one."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        fiber_open = Signal()
        token = step.take(0)
        step.put(0, token, ~token.is_stop | fiber_open)
        step.end(last=token.is_done)
        with m.If(step.complete):
            m.d.sync += fiber_open.eq(~token.is_stop)


@hardware("crddrop")
def crddrop(spec: NodeSpec) -> PrimitiveUnit:
    """Build a dropper of coordinates."""
    return CoordinateDropperUnit()


@hardware("valdrop")
def valdrop(spec: NodeSpec) -> PrimitiveUnit:
    """Build a dropper of empty values."""
    return ValueDropperUnit(zeros=False)


@hardware("zerodrop")
def zerodrop(spec: NodeSpec) -> PrimitiveUnit:
    """Build a dropper of zeros."""
    return ValueDropperUnit(zeros=True)


@hardware("stopdrop")
def stopdrop(spec: NodeSpec) -> PrimitiveUnit:
    """Build a dropper of stops."""
    return StopDropperUnit()
