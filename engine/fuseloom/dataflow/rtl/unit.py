"""A primitive as a hardware module: its ports, and the step that it repeats.

A golden model is a generator of requests (:mod:`fuseloom.dataflow.sim.process`); a unit is the same
list of requests as a circuit.  All requests of a step are made in one cycle where each finds its
token or its slot; the first that does not, waits, and those before it are remembered as done.  So a
unit waits where the golden model waits, takes and puts what it takes and puts, and a graph of units
deadlocks where the simulator says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import C, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from fuseloom.dataflow.rtl.channel import PUT_SIDE, TAKE_SIDE, HardwareModule
from fuseloom.dataflow.rtl.tokens import (
    TOKEN_BITS,
    WORD_BITS,
    TokenWires,
    any_of,
    choose,
    number_of,
)


@dataclass(frozen=True)
class StoredWords:
    """An array that a unit reads: its words, and the bits of each.

    Attributes
    ----------
    count : int
        Number of words.
    width : int
        Bits of a word.
    chained : bool
        Whether an address may follow from what another memory gives in the same cycle.  Such a
        memory is read without delay; all others take their address in the middle of the cycle in
        which it is known, as block memories can.
    output : int or None
        The output for which alone it is read, if there is one.
    """

    count: int
    width: int = WORD_BITS
    chained: bool = False
    output: int | None = None

    @property
    def address_bits(self) -> int:
        return max(1, (max(self.count, 1) - 1).bit_length())


class PrimitiveUnit(HardwareModule):
    """A primitive as a module.

    Its ports are ``in0`` … and ``out0`` …, one side of a channel each; ``done``, high from the
    cycle on that is the primitive's final clock; ``fault``, high once the tokens contradict a rule;
    ``<name>_address`` and ``<name>_word`` per array that it reads; and ``<name>_valid`` and
    ``<name>_word`` per array that it writes.

    Parameters
    ----------
    inputs, outputs : int
        Numbers of ports.
    reads : mapping, optional
        The arrays that it reads.
    writes : tuple of str
        The arrays that it writes, word by word.

    Attributes
    ----------
    late_outputs : tuple of int
        The outputs whose values come later than they are put
        (:class:`fuseloom.dataflow.rtl.channel.ChannelBuffer`).
    merges : bool
        Whether synthesis merges gates of it with those of the channels around it.
    ticks_at_end : bool
        Whether its clock ticks once more after the end.
    puts_apart : bool
        Whether another step than the one it describes, its own, does the puts.
    """

    late_outputs: tuple[int, ...] = ()
    merges = True
    puts_apart = False
    ticks_at_end = False

    def __init__(
        self,
        inputs: int,
        outputs: int,
        reads: Mapping[str, StoredWords] | None = None,
        writes: tuple[str, ...] = (),
    ) -> None:
        self.reads = dict(reads or {})
        self.writes = writes
        members: dict[str, Any] = {f"in{k}": Out(TAKE_SIDE) for k in range(inputs)}
        members |= {f"out{k}": Out(PUT_SIDE) for k in range(outputs)}
        members |= {"done": Out(1), "fault": Out(1)}
        for name, words in self.reads.items():
            members[f"{name}_address"] = Out(words.address_bits)
            members[f"{name}_word"] = In(words.width)
        for name in writes:
            members |= {f"{name}_valid": Out(1), f"{name}_word": Out(WORD_BITS)}
        super().__init__(members)
        self.sources = [getattr(self, f"in{k}") for k in range(inputs)]
        self.sinks = [getattr(self, f"out{k}") for k in range(outputs)]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        step = RequestStep(m, self.sources, () if self.puts_apart else self.sinks)
        self.describe(m, step)
        step.finish()
        m.d.comb += [
            self.done.eq(step.ended if self.ticks_at_end else step.ended | step.over),
            self.fault.eq(step.failed),
        ]
        return m

    def describe(self, m: Module, step: RequestStep) -> None:
        """Make the requests of a step, and end it."""
        raise NotImplementedError


@dataclass
class _Side:
    """The requests so far of a step at one channel."""

    positions: Any = field(default_factory=lambda: C(0, 2))
    fired: list[Any] = field(default_factory=list)
    tokens: list[Any] = field(default_factory=list)


class RequestStep:
    """The requests of one step, in order, and when they are made.

    Every request may have a condition, which must not change before the step ends: it is made of
    the unit's registers and of tokens that the step has peeked at or taken.

    Parameters
    ----------
    m : Module
        What it adds to.
    sources, sinks : sequence of PureInterface
        The sides of channels that it takes from and puts into; no other step may use them.
    """

    def __init__(self, m: Module, sources: Sequence[Any], sinks: Sequence[Any]) -> None:
        self.m = m
        self.sources = sources
        self.sinks = sinks
        self.ended = Signal(name="ended")
        """The unit has ended."""
        self.waiting = Signal(name="waiting")
        """The interval of the last step is not over."""
        self.ready: Any = ~self.ended & ~self.waiting
        """All requests so far are made."""
        self.complete = Signal(name="complete")
        """The step ends in this cycle."""
        self.over = Signal(name="over")
        """It is the last one."""
        self.failed = Signal(name="failed")
        """Tokens have contradicted a rule."""
        self._takes = [_Side() for _ in sources]
        self._puts = [_Side() for _ in sinks]
        self._held = [[Signal(TOKEN_BITS) for _ in range(2)] for _ in sources]
        self._gone = [Signal(2, name=f"gone_{k}") for k in range(len(sources))]
        self._made: list[tuple[Any, Any]] = []
        self._faults: list[Any] = []
        self._end: Any = C(0, 1)

    def _named(self, what: str, value: Any, shape: Any = 1) -> Any:
        signal = Signal(shape, name=what)
        self.m.d.comb += signal.eq(value)
        return signal

    def _token(self, channel: int) -> tuple[Any, TokenWires]:
        """Whether the next token of a channel can be seen, and the token."""
        source, side = self.sources[channel], self._takes[channel]
        held, gone = self._held[channel], self._gone[channel]
        second = side.positions[0]
        seen = Mux(
            second,
            (gone == 2) | ((gone == 1) & (source.count != 0)) | ((gone == 0) & source.count[1]),
            (gone != 0) | (source.count != 0),
        )
        bits = Mux(
            second,
            Mux(gone == 2, held[1], Mux(gone == 1, source.head, source.following)),
            Mux(gone != 0, held[0], source.head),
        )
        count = len(self._made)
        return (
            self._named(f"seen_{channel}_{count}", seen),
            TokenWires.of(self._named(f"token_{channel}_{count}", bits, TOKEN_BITS)),
        )

    def _request(self, possible: Any, when: Any) -> tuple[Any, Any]:
        """Add a request; return when it is made, and whether it was in an earlier cycle."""
        count = len(self._made)
        made = Signal(name=f"made_{count}")
        fire = self._named(f"fire_{count}", self.ready & when & ~made & possible)
        self._made.append((made, fire))
        self.ready = self._named(f"ready_{count}", self.ready & (~when | made | possible))
        return fire, made

    def peek(self, channel: int, when: Any = 1) -> TokenWires:
        """Wait for the next token of an input that the step has not taken; leave it."""
        seen, token = self._token(channel)
        self.ready = self._named(
            f"peeked_{channel}_{len(self._made)}", self.ready & (~_bool(when) | seen)
        )
        return token

    def take(self, channel: int, when: Any = 1) -> TokenWires:
        """Wait for the next token of an input, and take it; at most two in a step."""
        when = _bool(when)
        seen, token = self._token(channel)
        side = self._takes[channel]
        fire, made = self._request(seen, when)
        for position, held in enumerate(self._held[channel]):
            with self.m.If(fire & (side.positions == position)):
                self.m.d.sync += held.eq(token.bits)
        side.positions = self._named(
            f"position_{channel}_{len(self._made)}", side.positions + when, 2
        )
        side.fired.append((fire, made))
        return token

    def take_costly(
        self, channel: int, is_free: Callable[[TokenWires], Any], when: Any = 1
    ) -> TokenWires:
        """Take the next token of an input and, where that costs no cycle, the one after it too.

        The golden model takes any number of tokens that cost nothing in one cycle, hardware one.

        Returns
        -------
        TokenWires
            The last one taken, which may itself cost nothing.
        """
        first = self.take(channel, when)
        skips = self._named(f"skips_{len(self._made)}", _bool(when) & is_free(first))
        second = self.take(channel, skips)
        return choose((skips, second), otherwise=first)

    def request(self, possible: Any, when: Any = 1) -> Any:
        """Wait until something of the unit's own is possible.

        Returns
        -------
        Value
            High in the cycle in which it happens, once in a step.
        """
        fire, _ = self._request(possible, _bool(when))
        return fire

    def wait(self, condition: Any) -> None:
        """Wait until this holds; it must hold until the step ends, or requests come twice."""
        self.ready = self._named(f"waited_{len(self._made)}", self.ready & condition)

    def room(self, channel: int) -> None:
        """Wait for a free slot of an output."""
        self.wait(self.sinks[channel].room != 0)

    def put(self, channel: int, token: TokenWires, when: Any = 1) -> None:
        """Wait for a free slot of an output and put a token; at most two in a step."""
        side = self._puts[channel]
        earlier = any_of([fire for fire, _ in side.fired])
        room = self.sinks[channel].room
        possible = (room > earlier) if side.fired else (room != 0)
        fire, _ = self._request(possible, _bool(when))
        side.fired.append((fire, earlier))
        side.tokens.append(token.bits)

    def fault_if(self, condition: Any) -> None:
        """Report a fault where this holds once all requests so far are made."""
        self._faults.append(self.ready & condition)

    def end(self, last: Any = 0, interval: int = 1) -> None:
        """End the step: with it the unit, where ``last`` holds; the next begins an interval later.

        Parameters
        ----------
        last : Value
            Whether it is the unit's last.
        interval : int
            Cycles.
        """
        self._end = _bool(last)
        self.m.d.comb += self.complete.eq(self.ready)
        if interval > 1:
            rest = Signal(range(interval))
            self.m.d.comb += self.waiting.eq(rest != 0)
            with self.m.If(self.complete):
                self.m.d.sync += rest.eq(interval - 1)
            with self.m.Elif(self.waiting):
                self.m.d.sync += rest.eq(rest - 1)

    def finish(self) -> None:
        """Connect the channels; called once, after everything else."""
        m = self.m
        for made, fire in self._made:
            with m.If(self.complete):
                m.d.sync += made.eq(0)
            with m.Elif(fire):
                m.d.sync += made.eq(1)
        for source, side, gone in zip(self.sources, self._takes, self._gone, strict=True):
            m.d.comb += [
                source.pop.eq(number_of([fire for fire, _ in side.fired])),
                gone.eq(number_of([made for _, made in side.fired])),
            ]
        for sink, side in zip(self.sinks, self._puts, strict=True):
            first, second = C(0, TOKEN_BITS), C(0, TOKEN_BITS)
            for (fire, earlier), bits in reversed(list(zip(side.fired, side.tokens, strict=True))):
                first = Mux(fire & ~earlier, bits, first)
                second = Mux(fire & earlier, bits, second)
            m.d.comb += [
                sink.push.eq(number_of([fire for fire, _ in side.fired])),
                sink.first.eq(first),
                sink.second.eq(second),
            ]
        m.d.comb += self.over.eq(self.complete & self._end)
        with m.If(self.over):
            m.d.sync += self.ended.eq(1)
        with m.If(any_of(self._faults)):
            m.d.sync += self.failed.eq(1)


def _bool(condition: Any) -> Any:
    return C(condition, 1) if isinstance(condition, int) else condition
