"""Accumulators of order 1 as hardware (``docs/spec/machine.md`` §6.3).

One bank of sums is filled while the other is put, a coordinate a cycle.  The accumulator goes on
once the rest of the row has room in the channels, as if the row had been put at once.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.memory import Memory

from fuseloom.dataflow.rtl.bits import lowest
from fuseloom.dataflow.rtl.channel import ROOM_BITS
from fuseloom.dataflow.rtl.float32.units import float_unit
from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep
from fuseloom.errors import GraphError
from fuseloom.wording import counted

MAX_ROW = 4096
"""Coordinates of a row, at most: each has a flip-flop that says whether it is there."""


class RowBank:
    """The sums of one row: a memory, and which coordinates it holds."""

    def __init__(self, m: Module, dim: int, name: str) -> None:
        memory = Memory(shape=WORD_BITS, depth=max(dim, 2), init=[])
        m.submodules[name] = memory
        self.present = Signal(dim, name=f"{name}_present")
        self.load = memory.read_port(domain="comb")
        self.store = memory.write_port()


class RowAccumulatorUnit(PrimitiveUnit):
    """Folds values with equal inner coordinates, and puts them in order at an outer stop.

    Parameters
    ----------
    function : str
        ``add`` or ``max``.
    dim : int
        Inner coordinates lie below it.
    """

    puts_apart = True

    def __init__(self, function: str, dim: int) -> None:
        self.function = function
        self.dim = dim
        super().__init__(3, 2)

    def describe(self, m: Module, step: RequestStep) -> None:
        banks = [RowBank(m, self.dim, f"bank{k}") for k in range(2)]
        filling = Signal()
        size = Signal(range(self.dim + 1))
        first = Signal(init=1)

        head = step.peek(0)
        leading = first & head.is_stop
        step.take(1, leading)
        step.take(2, leading)
        coordinate = step.peek(1)
        value = step.peek(2)
        flushes, ends = Signal(), Signal()
        m.d.comb += [
            flushes.eq(head.is_stop),
            ends.eq(head.is_done & coordinate.is_done),
        ]
        folds = ~flushes & ~ends
        closes = folds & coordinate.is_stop
        step.fault_if(
            folds
            & Mux(
                closes,
                ~coordinate.same(value) | head.is_done,
                ~coordinate.is_value
                | ~value.is_leaf
                | head.is_done
                | (value.is_value & (coordinate.data >= self.dim)),
            )
            | ends & ~value.is_done
        )
        busy, rest = Signal(), Signal(range(self.dim + 2))
        start = step.request(~busy, flushes | ends)
        rest_now = Signal(ROOM_BITS)
        m.d.comb += rest_now.eq(Mux(busy, rest, size + 1))
        rooms = [sink.room for sink in self.sinks]
        step.wait(~flushes | ((rest_now <= rooms[0]) & (rest_now <= rooms[1])))
        step.take(0, flushes)
        following = step.peek(0, flushes & coordinate.is_stop)
        empties = (
            flushes
            & coordinate.is_stop
            & following.is_stop
            & (coordinate.data == following.data + 1)
        )
        step.take(0, closes)
        consumes = folds | empties
        step.take(1, consumes)
        step.take(2, consumes)
        step.end(last=ends)
        with m.If(step.complete):
            m.d.sync += first.eq(0)

        adds = Signal()
        m.d.comb += adds.eq(step.complete & folds & coordinate.is_value & value.is_value)
        self._fold(m, banks, filling, adds, coordinate.data, value.data, size)
        with m.If(start):
            m.d.sync += [filling.eq(~filling), size.eq(0)]
        closing = choose((head.is_done, TokenWires.done()), otherwise=head)
        self._drain(m, banks, filling, start, closing, busy, rest, rest_now)

    def _fold(
        self,
        m: Module,
        banks: list[RowBank],
        filling: Any,
        adds: Any,
        coordinate: Any,
        word: Any,
        size: Any,
    ) -> None:
        function = float_unit(self.function)
        m.submodules.fold = function
        present = Signal()
        address = coordinate[: len(banks[0].store.addr)]
        m.d.comb += [
            function.a.eq(Mux(filling, banks[1].load.data, banks[0].load.data)),
            function.b.eq(word),
            present.eq(
                Mux(
                    filling,
                    banks[1].present.bit_select(address, 1),
                    banks[0].present.bit_select(address, 1),
                )
            ),
        ]
        for k, bank in enumerate(banks):
            m.d.comb += [
                bank.store.addr.eq(address),
                bank.store.data.eq(Mux(present, function.z, word)),
                bank.store.en.eq(adds & (filling == k)),
                bank.load.addr.eq(address),
            ]
            with m.If(bank.store.en):
                m.d.sync += bank.present.bit_select(address, 1).eq(1)
        with m.If(adds & ~present):
            m.d.sync += size.eq(size + 1)

    def _drain(
        self,
        m: Module,
        banks: list[RowBank],
        filling: Any,
        start: Any,
        closing: TokenWires,
        busy: Any,
        rest: Any,
        rest_now: Any,
    ) -> None:
        """Put what was filled when the row was closed."""
        drain = RequestStep(m, (), self.sinks)
        active, bank = Signal(), Signal()
        kept = Signal(len(closing.bits))
        present = Signal(self.dim)
        m.d.comb += [
            active.eq(busy | start),
            bank.eq(Mux(busy, ~filling, filling)),
            present.eq(Mux(bank, banks[1].present, banks[0].present)),
        ]
        position = lowest(m, present)
        end = TokenWires.of(Mux(busy, kept, closing.bits))
        more = Signal()
        m.d.comb += more.eq(present.any() & ~end.is_done)
        for k, one in enumerate(banks):
            with m.If(active & (bank == k)):
                m.d.comb += one.load.addr.eq(position)
        total = Mux(bank, banks[1].load.data, banks[0].load.data)
        coordinate = Signal(WORD_BITS)
        m.d.comb += coordinate.eq(position)
        drain.wait(active)
        drain.put(0, choose((more, TokenWires.value(coordinate)), otherwise=end))
        drain.put(1, choose((more, TokenWires.value(total)), otherwise=end))
        drain.end()
        drain.finish()
        with m.If(start):
            m.d.sync += [kept.eq(closing.bits), busy.eq(1), rest.eq(rest_now)]
        with m.If(drain.complete):
            m.d.sync += rest.eq(rest_now - 1)
            with m.If(more):
                for k, one in enumerate(banks):
                    with m.If(bank == k):
                        m.d.sync += one.present.eq(present & (present - 1))
            with m.Else():
                m.d.sync += busy.eq(0)


@hardware("spacc1")
def spacc1(spec: NodeSpec) -> PrimitiveUnit:
    """Build an accumulator of order 1."""
    node = spec.node
    dim = spec.param("dim")
    named = f"{node.label or node.op} (node {node.id})"
    if dim is None:
        raise GraphError(
            f"{named}: an accumulator in hardware has a known number of coordinates",
            hint="give the node the parameter dim",
        )
    if int(dim) > MAX_ROW:
        raise GraphError(
            f"{named}: a row of {counted(int(dim), 'coordinate')} has no hardware",
            hint=f"at most {MAX_ROW:,}",
        )
    return RowAccumulatorUnit(str(spec.param("fn")), int(dim))
