"""Units and channels alone, as the parts of a flattened graph that they would be.

Synthesis of a whole graph drops what no neighbour uses: the second token that a consumer never
takes, words of streams whose tokens have none; and it merges gates across boundaries.  So a unit is
measured between channels, whose own areas are subtracted, and a channel between a producer and a
consumer that do no more than those of a graph.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fuseloom.dataflow.rtl.channel import UNBOUNDED, ChannelBuffer
from fuseloom.dataflow.rtl.tokens import TOKEN_BITS, WORD_BITS
from fuseloom.dataflow.rtl.unit import PrimitiveUnit

BETWEEN = 8
"""The capacity of the channels that a unit is measured between."""


class UnitAlone(wiring.Component):
    """A unit whose ports are those of the module."""

    def __init__(self, unit: PrimitiveUnit) -> None:
        self.unit = unit
        super().__init__(_ports(unit))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.unit = self.unit
        _join(m, self, self.unit)
        return m


class UnitBetween(wiring.Component):
    """A unit between channels, into which one token a cycle is put, and of which one is taken.

    Parameters
    ----------
    unit : PrimitiveUnit
        The unit.
    read : int
        Bits that are read of the tokens that it puts.
    unread : tuple of int
        Outputs that lead nowhere, as in a graph: behind them is no channel.
    """

    def __init__(
        self, unit: PrimitiveUnit, read: int = TOKEN_BITS, unread: tuple[int, ...] = ()
    ) -> None:
        self.unit, self.unread = unit, unread
        members = {name: kind for name, kind in _ports(unit).items() if "__" not in name}
        for k in range(len(unit.sources)):
            members |= {f"in{k}_push": In(1), f"in{k}_first": In(TOKEN_BITS), f"in{k}_free": Out(1)}
        for k in self._read_outputs():
            members |= {f"out{k}_pop": In(1), f"out{k}_head": Out(read)}
            members[f"out{k}_count"] = Out(1)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.unit = unit = self.unit
        _join(m, self, unit)
        for k, source in enumerate(unit.sources):
            m.submodules[f"before{k}"] = channel = ChannelBuffer(BETWEEN)
            wiring.connect(m, channel.consumer, source)
            m.d.comb += [
                channel.producer.push.eq(getattr(self, f"in{k}_push")),
                channel.producer.first.eq(getattr(self, f"in{k}_first")),
                getattr(self, f"in{k}_free").eq(channel.producer.room != 0),
            ]
        for k in self.unread:
            m.d.comb += unit.sinks[k].room.eq(UNBOUNDED)
        for k in self._read_outputs():
            sink = unit.sinks[k]
            m.submodules[f"after{k}"] = channel = ChannelBuffer(BETWEEN, k in unit.late_outputs)
            wiring.connect(m, sink, channel.producer)
            m.d.comb += [
                channel.consumer.pop.eq(getattr(self, f"out{k}_pop")),
                getattr(self, f"out{k}_head").eq(channel.consumer.head),
                getattr(self, f"out{k}_count").eq(channel.consumer.count != 0),
            ]
        return m

    def _read_outputs(self) -> list[int]:
        """The outputs behind which is a channel."""
        return [k for k in range(len(self.unit.sinks)) if k not in self.unread]


class ChannelAlone(wiring.Component):
    """A channel of tokens of that many bits, with as much at both ends as the neighbours use.

    Parameters
    ----------
    capacity : int
        Tokens it holds.
    late : bool
        Whether values may be known later than they are put.
    width : int
        Bits of a token that its producer writes and its consumer reads.
    puts_two, takes_two : bool
        Whether two tokens are put in a cycle, and whether two are seen.
    """

    def __init__(
        self, capacity: int, late: bool, width: int, puts_two: bool, takes_two: bool
    ) -> None:
        self.channel = ChannelBuffer(capacity, late)
        self.puts_two, self.takes_two = puts_two, takes_two
        super().__init__(
            {
                "push": In(2 if puts_two else 1),
                "first": In(width),
                "second": In(width),
                "late_valid": In(1),
                "late_word": In(WORD_BITS),
                "pop": In(2 if takes_two else 1),
                "free": Out(2 if puts_two else 1),
                "count": Out(2 if takes_two else 1),
                "head": Out(width),
                "following": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.channel = channel = self.channel
        put, take = channel.producer, channel.consumer
        m.d.comb += [
            put.push.eq(self.push),
            put.first.eq(self.first),
            put.second.eq(self.second if self.puts_two else 0),
            self.free.eq(Cat(put.room != 0, put.room > 1)),
            take.pop.eq(self.pop),
            self.count.eq(take.count if self.takes_two else take.count != 0),
            self.head.eq(take.head),
            self.following.eq(take.following if self.takes_two else 0),
        ]
        if channel.late:
            m.d.comb += [put.late_valid.eq(self.late_valid), put.late_word.eq(self.late_word)]
        return m


def _ports(unit: PrimitiveUnit) -> dict[str, Any]:
    """The ports of a unit, those of its channels with two underscores in their names."""
    return {
        "__".join(map(str, path)): (Out if member.flow == Out else In)(len(value))
        for path, member, value in unit.signature.flatten(unit)
    }


def _join(m: Module, whole: wiring.Component, unit: PrimitiveUnit) -> None:
    """Connect the ports of a unit that have their names in a whole."""
    for path, member, value in unit.signature.flatten(unit):
        name = "__".join(map(str, path))
        if name in whole.signature.members:
            port = getattr(whole, name)
            m.d.comb += port.eq(value) if member.flow == Out else value.eq(port)
