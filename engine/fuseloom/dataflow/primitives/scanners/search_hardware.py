"""Searchers of compressed levels as hardware (``docs/spec/machine.md`` §3.6).

A coordinate is searched for by halving its fiber, all halvings in one cycle, each with a read port
of the coordinates of its own.  Where the machine has a longer latency, the result waits in
registers, which synthesis can move between the halvings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from amaranth.hdl import C, Module, Mux, Signal

from fuseloom.dataflow.rtl.float32.component import delayed
from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, any_of, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep, StoredWords


class SearcherUnit(PrimitiveUnit):
    """Puts those of the coordinates given for each reference that its fiber stores.

    It reads the bounds of a fiber (``bounds``: end above start) and coordinates (``crd0`` …, the
    same array at as many ports as there are halvings).

    Parameters
    ----------
    fibers, positions : int
        Of the level.
    halvings : int
        Bits of the length of the longest fiber.
    latency, interval : int
        As the machine has it.
    """

    def __init__(
        self, fibers: int, positions: int, halvings: int, latency: int, interval: int
    ) -> None:
        self.fibers = fibers
        self.halvings = halvings
        self.latency = latency
        self.interval = interval
        if latency > 1:
            self.late_outputs = (0, 1)
        reads = {"bounds": StoredWords(fibers, 2 * WORD_BITS)}
        reads |= {f"crd{k}": StoredWords(positions, chained=True) for k in range(halvings)}
        super().__init__(2, 2, reads)

    def describe(self, m: Module, step: RequestStep) -> None:
        inside = Signal()  # of the coordinates given for a reference
        kept, kept_end = Signal(WORD_BITS), Signal(WORD_BITS)
        start, end = Signal(WORD_BITS), Signal(WORD_BITS)
        reference = step.take(0, ~inside)
        step.fault_if(~inside & reference.is_value & (reference.data >= self.fibers))
        m.d.comb += self.bounds_address.eq(reference.data)
        with m.If(inside):
            m.d.comb += [start.eq(kept), end.eq(kept_end)]
        with m.Elif(reference.is_value):
            m.d.comb += [
                start.eq(self.bounds_word[:WORD_BITS]),
                end.eq(self.bounds_word[WORD_BITS:]),
            ]
        wanted = step.take(1)
        active = inside | reference.is_leaf
        searches = active & wanted.is_value
        found, position = self._search(m, wanted.data, start, end)

        closes = active & ~searches
        merges = closes & ~(wanted.is_stop & (wanted.data == 0))
        closing = step.take(0, merges)
        outer = choose((active, closing), otherwise=reference)
        deeper = outer.is_stop & wanted.is_stop & (wanted.data == (outer.data + 1)[:WORD_BITS])
        ends = ~active & reference.is_done & wanted.is_done
        step.fault_if((merges | ~active) & ~deeper & ~ends)

        hit = searches & found
        begins = step.request(1, hit)
        results = (wanted.data, position)
        for port, word in enumerate(results):
            token = choose((searches, TokenWires.value(word)), otherwise=wanted)
            step.put(port, token, hit | ~searches)
            if self.latency > 1:
                late = self.latency - 1
                m.d.comb += [
                    self.sinks[port].late_valid.eq(delayed(m, begins, late)),
                    self.sinks[port].late_word.eq(delayed(m, word, late)),
                ]
        step.end(last=ends, interval=self.interval)
        with m.If(step.complete):
            m.d.sync += [inside.eq(searches), kept.eq(start), kept_end.eq(end)]

    def _search(self, m: Module, wanted: Any, start: Any, end: Any) -> tuple[Any, Any]:
        """Return whether a fiber has a coordinate, and at which position."""
        passed: Any = start  # all before it are smaller than the coordinate, or are it
        hits = []
        for k in range(self.halvings):
            tried, after = Signal(WORD_BITS + 1), Signal(WORD_BITS)
            word = getattr(self, f"crd{k}_word")
            m.d.comb += [
                tried.eq(passed + (1 << (self.halvings - 1 - k))),
                getattr(self, f"crd{k}_address").eq(tried - 1),
            ]
            reaches = (tried <= end) & (word <= wanted)
            m.d.comb += after.eq(Mux(reaches, tried, passed))
            hits.append(reaches & (word == wanted))
            passed = after
        position = Signal(WORD_BITS)
        m.d.comb += position.eq(passed - C(1, 1))
        return any_of(hits), position


@hardware("search")
def search(spec: NodeSpec) -> PrimitiveUnit:
    """Build a searcher of a compressed level."""
    seg = spec.arrays["seg"]
    longest = int(np.diff(seg).max(initial=0))
    halvings = max(1, longest.bit_length())
    positions = len(spec.arrays["crd"])
    return SearcherUnit(len(seg) - 1, positions, halvings, spec.latency, spec.interval)
