"""The source of traversals, and the ends of test benches, as hardware."""

from __future__ import annotations

from amaranth.hdl import C, Module, Mux, ResetSignal, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import TOKEN_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep, StoredWords


class RootUnit(PrimitiveUnit):
    """Puts the reference 0 and the end."""

    merges = False
    ticks_at_end = True

    def __init__(self) -> None:
        super().__init__(0, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        second = Signal()
        token = choose((second, TokenWires.done()), otherwise=TokenWires.value(C(0, 32)))
        step.put(0, token)
        step.end(last=second)
        with m.If(step.complete):
            m.d.sync += second.eq(1)


class SourceUnit(PrimitiveUnit):
    """Puts stored tokens, each not before its time (``tokens``; ``times`` where there are).

    Parameters
    ----------
    count : int
        Number of tokens.
    timed : bool
        Whether they have times.
    stride : int
        Tokens from the beginning of one stream to that of the next, which a reset begins; 0 where
        there is one stream.
    """

    def __init__(self, count: int, timed: bool, stride: int = 0) -> None:
        reads = {"tokens": StoredWords(count, TOKEN_BITS)}
        if timed:
            reads["times"] = StoredWords(count)
        self.timed = timed
        self.stride = stride
        self.ticks_at_end = not timed
        super().__init__(0, 1, reads)

    def describe(self, m: Module, step: RequestStep) -> None:
        position = Signal.like(self.tokens_address)
        begin = Signal.like(self.tokens_address, reset_less=True)
        started = Signal(reset_less=True)
        if self.stride:
            m.d.sync += started.eq(~ResetSignal())
            with m.If(ResetSignal() & started):
                m.d.sync += begin.eq(begin + self.stride)
        m.d.comb += self.tokens_address.eq(begin + position)
        token = TokenWires.of(self.tokens_word)
        if self.timed:
            now = Signal(32)
            m.d.sync += now.eq(now + 1)
            m.d.comb += self.times_address.eq(begin + position)
            step.wait(now + 1 >= self.times_word)
        step.put(0, token)
        step.end(last=token.is_done)
        with m.If(step.complete):
            m.d.sync += position.eq(position + 1)


class SinkUnit(PrimitiveUnit):
    """Takes one token a cycle and writes it, its kind above its word, with its cycle.

    Parameters
    ----------
    pauses : int
        Cycles of which it stands still in between, at most: it counts through a pseudorandom
        sequence, so that channels fill up.
    """

    merges = False
    ticks_at_end = True

    def __init__(self, pauses: int = 0) -> None:
        self.pauses = pauses
        super().__init__(1, 0, writes=("kind", "word"))

    def describe(self, m: Module, step: RequestStep) -> None:
        if self.pauses:
            state = Signal(16, init=0xACE1)
            rest = Signal(range(self.pauses + 1))
            m.d.sync += state.eq(Mux(state[0], (state >> 1) ^ 0xB400, state >> 1))
            with m.If(step.complete):
                m.d.sync += rest.eq(state % (self.pauses + 1))
            with m.Elif(rest != 0):
                m.d.sync += rest.eq(rest - 1)
            step.wait(rest == 0)
        token = step.take(0)
        step.end(last=token.is_done)
        m.d.comb += [
            self.kind_valid.eq(step.complete),
            self.kind_word.eq(token.kind),
            self.word_valid.eq(step.complete),
            self.word_word.eq(token.data),
        ]


@hardware("root")
def root(spec: NodeSpec) -> PrimitiveUnit:
    """Build a root."""
    return RootUnit()


@hardware("source")
def source(spec: NodeSpec) -> PrimitiveUnit:
    """Build a source of a test bench; its parameter ``stride`` is that of :class:`SourceUnit`."""
    stride = int(spec.param("stride", 0))
    return SourceUnit(len(spec.arrays["tokens"]), "times" in spec.arrays, stride)


@hardware("sink")
def sink(spec: NodeSpec) -> PrimitiveUnit:
    """Build a sink of a test bench; the parameter ``pauses`` makes it stand still at times."""
    return SinkUnit(int(spec.param("pauses", 0)))
