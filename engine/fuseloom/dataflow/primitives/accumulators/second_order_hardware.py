"""Accumulators of order 2 as hardware (``docs/spec/machine.md`` §6.4).

As for order 1, one bank of sums is filled while the other is put: rows on one output, a pair of a
column and a sum a cycle on the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib.memory import Memory

from fuseloom.dataflow.rtl.bits import lowest
from fuseloom.dataflow.rtl.channel import ROOM_BITS
from fuseloom.dataflow.rtl.float32.units import float_unit
from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose, number_of
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep
from fuseloom.errors import GraphError
from fuseloom.wording import counted

MOST_COORDINATES = 4096
"""Rows or columns, at most: each row has a flip-flop, and each column a bit of a memory's word."""


class MatrixBank:
    """The sums of one flush, and which pairs of coordinates there are: two memories, by row."""

    def __init__(self, m: Module, rows: int, columns: int, name: str) -> None:
        self.column_bits = max(1, (columns - 1).bit_length())
        depth = max(2, rows)
        sums = Memory(shape=WORD_BITS, depth=depth << self.column_bits, init=[])
        present = Memory(shape=columns, depth=depth, init=[])
        m.submodules[f"{name}_sums"] = sums
        m.submodules[f"{name}_present"] = present
        self.load, self.store = sums.read_port(domain="comb"), sums.write_port()
        self.present, self.mark = present.read_port(domain="comb"), present.write_port()
        self.filled = Signal(rows, name=f"{name}_filled")
        self.pairs = Signal(range(rows * columns + 1), name=f"{name}_pairs")

    def look(self, row: Any, column: Any) -> list[Any]:
        """Read, and be ready to write, the sum of a pair and the pairs of its row."""
        place = Cat(column[: self.column_bits], row)[: len(self.store.addr)]
        return [
            self.load.addr.eq(place),
            self.store.addr.eq(place),
            self.present.addr.eq(row),
            self.mark.addr.eq(row),
        ]


@dataclass(frozen=True)
class MatrixFlush:
    """A flush of the bank that was filled.

    Attributes
    ----------
    start : Value
        High in the cycle in which it begins.
    closing : TokenWires
        The stop that ends it, or the end.
    filling : Signal
        Which bank is filled; until ``start``, the one that is to be put.
    busy : Signal
        Whether it goes on since an earlier cycle.
    fits : Signal
        Whether all that is left has room.
    """

    start: Any
    closing: TokenWires
    filling: Any
    busy: Any
    fits: Any


class MatrixAccumulatorUnit(PrimitiveUnit):
    """Folds values with equal pairs of inner coordinates, and puts them in order at a stop.

    Parameters
    ----------
    function : str
        ``add`` or ``max``.
    rows, columns : int
        The outer and the inner ones of the pairs lie below them.
    """

    puts_apart = True

    def __init__(self, function: str, rows: int, columns: int) -> None:
        self.function = function
        self.rows = rows
        self.columns = columns
        super().__init__(4, 3)

    def describe(self, m: Module, step: RequestStep) -> None:
        in_outer, in_row = Signal(), Signal()  # where the next step is, outside them at first
        closes_row, closes_outer, flush_next = Signal(), Signal(), Signal()
        level, kept_level, kept_row = (Signal(WORD_BITS) for _ in range(3))

        # Stops of the streams outside, which come with the last one of those inside.
        closing_row = step.take(1, closes_row)
        step.fault_if(closes_row & ~_is_stop(closing_row, level - 1))
        closes_both = closes_row & (level != 1)
        closes = closes_outer | closes_both
        closing = step.take(0, closes)
        step.fault_if(closes & ~_is_stop(closing, Mux(closes_both, level - 2, level - 1)))
        flushes = closes | flush_next

        # The outermost coordinate, the row, the column and the value, as far as they are new.
        at_top = ~flushes & ~in_outer & ~in_row
        head = step.take(0, at_top)
        ends, empty = at_top & head.is_done, at_top & head.is_stop
        takes_row = (at_top & head.is_leaf) | (in_outer & ~flushes)
        row = step.take(1, takes_row | ends | empty)
        row_stops = takes_row & row.is_stop
        step.fault_if(
            (ends & ~row.is_done)
            | (empty & ~_is_stop(row, head.data + 1))
            | (takes_row & ~row.is_value & ~row.is_stop)
        )
        takes_column = (takes_row & row.is_value) | (in_row & ~flushes)
        column = step.take(2, takes_column | row_stops | ends | empty)
        column_stops = takes_column & column.is_stop
        folds = takes_column & column.is_value
        step.fault_if(
            (ends & ~column.is_done)
            | (empty & ~_is_stop(column, head.data + 2))
            | (row_stops & ~_is_stop(column, row.data + 1))
            | (takes_column & ~column.is_value & ~column.is_stop)
        )
        value = step.take(3, takes_column | row_stops | ends | empty)
        place = Signal(WORD_BITS)
        m.d.comb += place.eq(Mux(in_row, kept_row, row.data))
        outside = (place >= self.rows) | (column.data >= self.columns)
        step.fault_if(
            (ends & ~value.is_done)
            | (empty & ~_is_stop(value, head.data + 2))
            | (row_stops & ~_is_stop(value, row.data + 1))
            | (column_stops & ~_is_stop(value, column.data))
            | (folds & (~value.is_leaf | (value.is_value & outside)))
        )

        filling, busy, fits = Signal(), Signal(), Signal()
        start = step.request(~busy, flushes | ends)
        step.wait(~flushes | fits)
        step.end(last=ends)
        over = Signal(WORD_BITS)
        m.d.comb += over.eq(Mux(column_stops, column.data, row.data))
        with m.If(step.complete):
            m.d.sync += [
                flush_next.eq(empty),
                kept_level.eq(head.data),
                level.eq(over),
                kept_row.eq(place),
                closes_row.eq(column_stops & (over != 0)),
                closes_outer.eq(row_stops & (over != 0)),
                in_row.eq(folds),
                in_outer.eq(column_stops & (over == 0)),
            ]
        with m.If(start):
            m.d.sync += filling.eq(~filling)
        banks = [MatrixBank(m, self.rows, self.columns, f"bank{k}") for k in range(2)]
        adds = Signal()
        m.d.comb += adds.eq(step.complete & folds & value.is_value)
        self._fold(m, banks, filling, adds, (place, column.data), value.data)
        stop = TokenWires.stop(Mux(closes, closing.data, kept_level))
        end = choose((ends, TokenWires.done()), otherwise=stop)
        self._drain(m, banks, MatrixFlush(start, end, filling, busy, fits))

    def _fold(
        self,
        m: Module,
        banks: list[MatrixBank],
        filling: Any,
        adds: Any,
        at: tuple[Any, Any],
        word: Any,
    ) -> None:
        function = float_unit(self.function)
        m.submodules.fold = function
        row, column = at[0], at[1][: banks[0].column_bits]
        row_bits = max(1, (self.rows - 1).bit_length())
        others, present = Signal(self.columns), Signal()
        known = [bank.filled.bit_select(row[:row_bits], 1) for bank in banks]  # after a reset, too
        marks = [Mux(there, bank.present.data, 0) for there, bank in zip(known, banks, strict=True)]
        m.d.comb += [
            function.a.eq(Mux(filling, banks[1].load.data, banks[0].load.data)),
            function.b.eq(word),
            others.eq(Mux(filling, marks[1], marks[0])),
            present.eq(others.bit_select(column, 1)),
        ]
        for k, bank in enumerate(banks):
            m.d.comb += [
                *bank.look(row, column),
                bank.store.data.eq(Mux(present, function.z, word)),
                bank.store.en.eq(adds & (filling == k)),
                bank.mark.data.eq(others | (C(1, 1) << column)),
                bank.mark.en.eq(bank.store.en),
            ]
            with m.If(bank.store.en):
                m.d.sync += bank.filled.bit_select(row[:row_bits], 1).eq(1)
                with m.If(~present):
                    m.d.sync += bank.pairs.eq(bank.pairs + 1)

    def _drain(self, m: Module, banks: list[MatrixBank], flush: MatrixFlush) -> None:
        """Put what was filled: rows on one side, pairs and the stops of rows on the other.

        A pair waits for its row.  A row waits for the pairs before it, unless all that is left has
        room: then it does not matter, and all rows are put as if at once.
        """
        active, bank = Signal(), Signal()
        kept = Signal(len(flush.closing.bits))
        busy = flush.busy
        end = TokenWires.of(Mux(busy, kept, flush.closing.bits))
        m.d.comb += [
            active.eq(busy | flush.start),
            bank.eq(Mux(busy, ~flush.filling, flush.filling)),
        ]
        filled = Mux(bank, banks[1].filled, banks[0].filled)

        def going_on(shape: Any, first: Any, name: str) -> tuple[Any, Any]:
            """A register that begins anew with every flush: what it is now, and what it keeps."""
            now, later = Signal(shape, name=name), Signal(shape, name=f"{name}_kept")
            m.d.comb += now.eq(Mux(busy, later, first))
            return now, later

        unput, next_unput = going_on(self.rows, filled, "unput")
        unclosed, next_unclosed = going_on(self.rows, filled, "unclosed")
        single, next_single = going_on(1, ~filled.any() | end.is_done, "single")
        rows_ended, next_rows_ended = going_on(1, C(0, 1), "rows_ended")
        pairs_ended, next_pairs_ended = going_on(1, C(0, 1), "pairs_ended")

        more_rows = unput.any() & ~single
        pairs = Mux(bank, banks[1].pairs, banks[0].pairs)
        left = Signal(ROOM_BITS), Signal(ROOM_BITS)
        rooms = [sink.room for sink in self.sinks]
        m.d.comb += [
            left[0].eq(Mux(rows_ended, 0, Mux(single, 1, number_of([*unput]) + 1))),
            left[1].eq(Mux(pairs_ended, 0, Mux(single, 1, pairs + number_of([*unclosed])))),
            flush.fits.eq(
                (left[0] <= rooms[0]) & (left[1] <= rooms[1]) & (left[1] <= rooms[2]),
            ),
        ]
        row, current = (Signal(range(max(2, self.rows)), name=name) for name in ("row", "current"))
        m.d.comb += [row.eq(lowest(m, unput)), current.eq(lowest(m, unclosed))]

        outer = RequestStep(m, (), self.sinks[:1])
        in_turn = Mux(more_rows, row == current, single | pairs_ended)
        outer.wait(active & ~rows_ended & (flush.fits | in_turn))
        outer.put(0, choose((more_rows, TokenWires.value(_word(m, row))), otherwise=end))
        outer.end()
        outer.finish()

        present = Signal(self.columns)
        column = Signal(range(max(2, self.columns)))
        m.d.comb += [
            present.eq(Mux(bank, banks[1].present.data, banks[0].present.data)),
            column.eq(lowest(m, present)),
        ]
        for k, one in enumerate(banks):
            with m.If(active & (bank == k)):
                m.d.comb += one.look(current, column)
        total = Mux(bank, banks[1].load.data, banks[0].load.data)
        more_pairs = present.any() & ~single
        last = Signal()
        m.d.comb += last.eq(single | ((unclosed & (unclosed - 1)) == 0))
        inner = RequestStep(m, (), self.sinks[1:])
        put_row = ~unput.bit_select(current, 1) | (outer.complete & (row == current))
        announced = Mux(single, rows_ended | outer.complete, put_row)
        inner.wait(active & ~pairs_ended & announced)
        closing = choose(
            (end.is_done, end),
            (last, TokenWires.stop((end.data + 1)[:WORD_BITS])),
            otherwise=TokenWires.stop(C(0, WORD_BITS)),
        )
        inner.put(0, choose((more_pairs, TokenWires.value(_word(m, column))), otherwise=closing))
        inner.put(1, choose((more_pairs, TokenWires.value(total)), otherwise=closing))
        inner.end()
        inner.finish()

        with m.If(flush.start):
            m.d.sync += kept.eq(flush.closing.bits)
        ends_rows = rows_ended | (outer.complete & ~more_rows)
        ends_pairs = pairs_ended | (inner.complete & ~more_pairs & last)
        with m.If(active):
            m.d.sync += [
                next_unput.eq(Mux(outer.complete, unput & (unput - 1), unput)),
                next_unclosed.eq(
                    Mux(inner.complete & ~more_pairs, unclosed & (unclosed - 1), unclosed)
                ),
                next_single.eq(single),
                next_rows_ended.eq(ends_rows),
                next_pairs_ended.eq(ends_pairs),
                busy.eq(~(ends_rows & ends_pairs)),
            ]
        for k, one in enumerate(banks):
            with m.If(active & (bank == k)):
                m.d.sync += one.filled.eq(0)
                with m.If(inner.complete & more_pairs):
                    m.d.sync += one.pairs.eq(one.pairs - 1)
                    m.d.comb += [one.mark.data.eq(present & (present - 1)), one.mark.en.eq(1)]


def _is_stop(token: TokenWires, level: Any) -> Any:
    """Return a signal that is high where a token is the stop of that level."""
    return token.is_stop & (token.data == level[:WORD_BITS])


def _word(m: Module, value: Any) -> Any:
    """A value as a word of a token."""
    word = Signal(WORD_BITS)
    m.d.comb += word.eq(value)
    return word


@hardware("spacc2")
def spacc2(spec: NodeSpec) -> PrimitiveUnit:
    """Build an accumulator of order 2."""
    node = spec.node
    named = f"{node.label or node.op} (node {node.id})"
    sizes = [spec.param(name) for name in ("dim1", "dim")]
    if None in sizes:
        raise GraphError(
            f"{named}: an accumulator in hardware has known numbers of coordinates",
            hint="give the node the parameters dim and dim1",
        )
    rows, columns = (int(size) for size in sizes)
    if max(rows, columns) > MOST_COORDINATES:
        raise GraphError(
            f"{named}: {counted(max(rows, columns), 'coordinate')} have no hardware",
            hint=f"at most {MOST_COORDINATES:,}; or another order of the region's indices",
        )
    return MatrixAccumulatorUnit(str(spec.param("fn", "add")), rows, columns)
