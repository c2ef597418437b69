"""Writers of levels and of values as hardware (``docs/spec/machine.md`` §9)."""

from __future__ import annotations

from amaranth.hdl import Module, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep


class LevelWriterUnit(PrimitiveUnit):
    """Writes coordinates (``crd``) and, at the first stop after one, how many there are (``seg``).

    The first entry of the segments, 0, is not written.
    """

    def __init__(self) -> None:
        super().__init__(1, 0, writes=("crd", "seg"))

    def describe(self, m: Module, step: RequestStep) -> None:
        count = Signal(WORD_BITS)
        fiber_open = Signal()
        token = step.take_costly(0, lambda token: token.is_empty | token.is_stop & ~fiber_open)
        step.end(last=token.is_done)
        m.d.comb += [
            self.crd_valid.eq(step.complete & token.is_value),
            self.crd_word.eq(token.data),
            self.seg_valid.eq(step.complete & token.is_stop & fiber_open),
            self.seg_word.eq(count),
        ]
        with m.If(self.crd_valid):
            m.d.sync += [count.eq(count + 1), fiber_open.eq(1)]
        with m.If(self.seg_valid):
            m.d.sync += fiber_open.eq(0)


class ValueWriterUnit(PrimitiveUnit):
    """Writes values."""

    ticks_at_end = True

    def __init__(self) -> None:
        super().__init__(1, 0, writes=("vals",))

    def describe(self, m: Module, step: RequestStep) -> None:
        token = step.take_costly(0, lambda token: token.is_empty | token.is_stop)
        step.end(last=token.is_done)
        m.d.comb += [
            self.vals_valid.eq(step.complete & token.is_value),
            self.vals_word.eq(token.data),
        ]


@hardware("crdwrite")
def crdwrite(spec: NodeSpec) -> PrimitiveUnit:
    """Build a level writer."""
    return LevelWriterUnit()


@hardware("valwrite")
def valwrite(spec: NodeSpec) -> PrimitiveUnit:
    """Build a writer of values."""
    return ValueWriterUnit()
