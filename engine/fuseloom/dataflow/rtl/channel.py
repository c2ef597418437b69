# amaranth: UnusedElaboratable=no
"""Channels with a bound: buffers whose freed slot is usable a cycle after its token was taken.

Rules: ``docs/spec/machine.md`` §2.3.  A producer may put two tokens a cycle and a consumer may see
and take two, because a step of some primitives does; the tokens lie in two banks, of which each is
written and read once a cycle.
"""

from __future__ import annotations

from typing import Any, Self

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fuseloom.dataflow.rtl.tokens import (
    KIND_BITS,
    LEVEL_BITS,
    TOKEN_BITS,
    WORD_BITS,
    TokenKind,
    TokenWires,
)

ROOM_BITS = 32
"""Bits of a channel's number of free slots."""
UNBOUNDED = 1 << 20
"""Free slots of an output that leads nowhere."""

TAKE_SIDE = wiring.Signature(
    {"count": In(2), "head": In(TOKEN_BITS), "following": In(TOKEN_BITS), "pop": Out(2)}
)
"""A consumer's side: how many of the next two tokens can be seen, both, and how many it takes."""

PUT_SIDE = wiring.Signature(
    {
        "room": In(ROOM_BITS),
        "push": Out(2),
        "first": Out(TOKEN_BITS),
        "second": Out(TOKEN_BITS),
        "late_valid": Out(1),
        "late_word": Out(WORD_BITS),
    }
)
"""A producer's side: the free slots, up to two tokens put, and a value put earlier, now known."""


class HardwareModule(wiring.Component):
    """A module that is emitted once for all that were made with the same arguments.

    Attributes
    ----------
    configuration : tuple
        Its class and its arguments.
    """

    configuration: tuple[Any, ...]

    def __new__(cls, *arguments: Any, **named: Any) -> Self:
        made: Self = super().__new__(cls)
        made.configuration = (cls.__name__, arguments, tuple(sorted(named.items())))
        return made


class Ring(wiring.Component):
    """A circular buffer of words that takes up to two and gives up to two a cycle.

    Whoever uses it counts the words; it only stores them.

    Parameters
    ----------
    width : int
        Bits of a word.
    depth : int
        Words it must hold.
    """

    def __init__(self, width: int, depth: int) -> None:
        self.width = width
        self.address_bits = max(2, (depth - 1).bit_length())
        super().__init__(
            {
                "push": In(2),
                "first": In(width),
                "second": In(width),
                "pop": In(2),
                "head": Out(width),
                "following": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        write = Signal(self.address_bits)
        read = Signal(self.address_bits)
        m.d.sync += [write.eq(write + self.push), read.eq(read + self.pop)]
        after_write = Signal(self.address_bits)
        after_read = Signal(self.address_bits)
        m.d.comb += [after_write.eq(write + 1), after_read.eq(read + 1)]
        words = []
        for bank in range(2):
            memory = Memory(shape=self.width, depth=1 << (self.address_bits - 1), init=[])
            m.submodules[f"bank{bank}"] = memory
            store, load = memory.write_port(), memory.read_port(domain="comb")
            first = write[0] == bank
            m.d.comb += [
                store.addr.eq(Mux(first, write[1:], after_write[1:])),
                store.data.eq(Mux(first, self.first, self.second)),
                store.en.eq(Mux(first, self.push != 0, self.push == 2)),
                load.addr.eq(Mux(read[0] == bank, read[1:], after_read[1:])),
            ]
            words.append(load.data)
        m.d.comb += [
            self.head.eq(Mux(read[0], words[1], words[0])),
            self.following.eq(Mux(read[0], words[0], words[1])),
        ]
        return m


class ChannelBuffer(HardwareModule):
    """A channel of that many tokens.

    Parameters
    ----------
    capacity : int
        Tokens it holds.
    late : bool
        Whether its values may be known later than they are put: the producer then gives each with
        ``late_valid``, in order, in the cycle before the consumer may see it; at most one of them
        before its token is put.
    """

    def __init__(self, capacity: int, late: bool = False) -> None:
        self.capacity = capacity
        self.late = late
        super().__init__({"producer": In(PUT_SIDE), "consumer": In(TAKE_SIDE)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        source, sink = self.producer, self.consumer
        count = Signal(range(self.capacity + 1))
        width = KIND_BITS + LEVEL_BITS if self.late else TOKEN_BITS
        m.submodules.tokens = tokens = Ring(width, self.capacity)
        m.d.sync += count.eq(count + source.push - sink.pop)
        m.d.comb += [
            source.room.eq(self.capacity - count),
            tokens.push.eq(source.push),
            tokens.first.eq(source.first),
            tokens.second.eq(source.second),
            tokens.pop.eq(sink.pop),
        ]
        if not self.late:
            m.d.comb += [
                sink.count.eq(Mux(count > 1, 2, count)),
                sink.head.eq(tokens.head),
                sink.following.eq(tokens.following),
            ]
            return m
        # The value of the token that waits for room may be known before those in the channel leave.
        m.submodules.words = words = Ring(WORD_BITS, self.capacity + 1)
        known = Signal(range(self.capacity + 2))
        values = [ring[:KIND_BITS] == TokenKind.VALUE for ring in (tokens.head, tokens.following)]
        taken = Signal(2)
        m.d.comb += [
            taken.eq(((sink.pop != 0) & values[0]) + ((sink.pop == 2) & values[1])),
            words.push.eq(source.late_valid),
            words.first.eq(source.late_word),
            words.pop.eq(taken),
        ]
        m.d.sync += known.eq(known + source.late_valid - taken)
        first = Signal()
        second = Signal()
        m.d.comb += [
            first.eq((count > 0) & (~values[0] | (known > 0))),
            second.eq((count > 1) & first & (~values[1] | (known > values[0]))),
            sink.count.eq(first + second),
        ]
        second_word = Mux(values[0], words.following, words.head)
        for side, ring, value, word in (
            (sink.head, tokens.head, values[0], words.head),
            (sink.following, tokens.following, values[1], second_word),
        ):
            stored = TokenWires(ring[:KIND_BITS], ring[KIND_BITS:])
            m.d.comb += side.eq(Mux(value, Cat(ring[:KIND_BITS], word), stored.bits))
        return m
