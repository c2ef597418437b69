"""The arrays of a simulation and the rings in them, which grow when a run needs it.

A ring is finite even where the machine's channel is not.  When everything waits for such a
ring, it is doubled and the run goes on (Parks' scheduling of process networks), so the ring's
size never shows in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.compiled import layout, runs
from fuseloom.dataflow.sim.compiled.pools import Pool
from fuseloom.dataflow.sim.reports import Limits

RUNS = 256
TOKENS = 4096
SMALLEST = 8
_MARGIN = 4  # a put may write two runs, a take two credits


def power_of_two(size: int) -> int:
    """The smallest power of two that is at least ``size`` and :data:`SMALLEST`."""
    return max(SMALLEST, 1 << (size - 1).bit_length())


class GrowingArray:
    """An array that grows at its end: rings are never moved back, only replaced."""

    def __init__(self, pool: Pool, allow: Callable[[int], None]) -> None:
        self.used = pool.size
        self.array = pool.build()
        self.fixed = pool.place is not None
        self.outside = pool.outside
        self.allow = allow

    @property
    def nbytes(self) -> int:
        """Size of the array; of reserved address space, of what is in use of it."""
        return self.used * self.array.itemsize if self.fixed else self.array.nbytes

    def extend(self, size: int) -> int:
        """Make room for ``size`` more elements; the offset of the first."""
        offset = self.used
        if self.fixed:
            self.allow(size * self.array.itemsize)
        self.used += size
        if self.used > len(self.array):
            spare = self.used // 2
            self.allow((self.used + spare) * self.array.itemsize)  # both, while one is copied
            larger = np.empty(self.used + spare, dtype=self.array.dtype)
            larger[:offset] = self.array[:offset]
            self.array = larger
        return offset

    def at(self, offsets: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return the items at these offsets, in the array or outside."""
        inside = (offsets >= 0) & (offsets < self.used)
        made = np.zeros(len(offsets), self.array.dtype)
        made[inside] = self.array[offsets[inside]]
        for first, array in self.outside:
            there = (offsets >= first) & (offsets < first + len(array))
            made[there] = array[offsets[there] - first]
        return made


class ChannelMemory:
    """Channels and their rings.

    Parameters
    ----------
    ints, floats : Pool
        What the nodes read; the rings are laid behind it.
    capacities : list of int
        One per channel; 0 is unbounded, -1 a void output.
    is_value : list of bool
        Whether each channel carries values.
    limits : Limits
        How many bytes all arrays together may take.
    ring : int
        Tokens the rings of channels hold at first, where their capacity is not less.
    whole : collection of int
        Bounded channels whose rings hold their capacity from the start, and so never grow.
    """

    def __init__(
        self,
        ints: Pool,
        floats: Pool,
        capacities: list[int],
        is_value: list[bool],
        limits: Limits,
        ring: int = TOKENS,
        whole: Collection[int] = (),
    ) -> None:
        self.limits = limits
        self.elsewhere = 0
        count = len(capacities)
        self.channels = np.zeros(count, layout.CHANNEL)
        run_pool, credit_pool = Pool(layout.RUN), Pool(layout.CREDIT)
        for c, (capacity, value) in enumerate(zip(capacities, is_value, strict=True)):
            q = self.channels[c]
            q["val"] = value
            q["ft"] = q["fp"] = -1
            if capacity < 0:  # data go to the start of the pool, whose first tokens nobody reads
                q["cap"], q["vm"], q["rm"] = -1, TOKENS - 1, SMALLEST - 1
                q["ro"] = run_pool.reserve(SMALLEST)
                continue
            size = min(capacity, ring) if capacity and c not in whole else capacity or ring
            length = power_of_two(min(size + _MARGIN, RUNS))
            slots = power_of_two(size)
            q["rm"], q["vm"], q["cap"] = length - 1, slots - 1, capacity
            q["ro"] = run_pool.reserve(length)
            q["vo"] = (floats if value else ints).reserve(slots)
            if capacity:
                q["cm"] = power_of_two(min(capacity + _MARGIN, RUNS)) - 1
                first_credits = np.zeros(1, layout.CREDIT)  # the pool keeps it, so each its own
                first_credits["n"] = capacity
                q["co"] = credit_pool.add(first_credits)
                credit_pool.reserve(int(q["cm"]))
                q["tc"] = 1
        run_pool.reserve(1)
        credit_pool.reserve(1)
        pools = (run_pool, credit_pool, ints, floats)
        limits.check_memory(sum(pool.size * pool.dtype.itemsize for pool in pools))
        self.runs, self.credits, self.ints, self.floats = map(self._region, pools)

    def _region(self, pool: Pool) -> GrowingArray:
        return GrowingArray(pool, self.check)

    @property
    def bytes(self) -> int:
        """Size of all arrays, and of what was taken out of them and is kept elsewhere."""
        regions = (self.runs, self.credits, self.ints, self.floats)
        return self.elsewhere + sum(region.nbytes for region in regions)

    def check(self, more: int) -> None:
        """Refuse so many bytes more, where that is beyond the limit."""
        self.limits.check_memory(self.bytes, more)

    def take(self, size: int) -> None:
        """Count so many bytes that are kept elsewhere until the end."""
        self.check(size)
        self.elsewhere += size

    def artificially_full(self, c: int) -> bool:
        """Return whether a producer for this channel waits for its ring only."""
        q = self.channels[c]
        return not (q["cap"] and q["hc"] == q["tc"])

    def tokens_wait(self, c: int) -> bool:
        """Return whether a consumer of this channel waits for its ring of credits only."""
        q = self.channels[c]
        return bool(q["tr"] > q["hr"])

    def grow(self, c: int) -> None:
        """Double whichever ring of runs or data a producer lacks."""
        q = self.channels[c]
        if q["tr"] - q["hr"] > q["rm"] - 2:
            q["ro"], q["rm"] = self._move_runs(self.runs, q["ro"], q["rm"], q["hr"], q["tr"])
        else:
            self._grow_data(q)

    def grow_credits(self, c: int) -> None:
        """Double the ring of credits."""
        q = self.channels[c]
        q["co"], q["cm"] = self._move_runs(self.credits, q["co"], q["cm"], q["hc"], q["tc"])

    @staticmethod
    def _move_runs(
        region: GrowingArray, offset: Any, mask: Any, head: Any, tail: Any
    ) -> tuple[int, int]:
        size = 2 * (int(mask) + 1)
        new = region.extend(size)
        k = np.arange(head, tail)
        region.array[new + (k & (size - 1))] = region.array[offset + (k & mask)]
        return new, size - 1

    def _grow_data(self, q: Any) -> None:
        region = self.floats if q["val"] else self.ints
        old, mask = int(q["vo"]), int(q["vm"])
        size = 2 * (mask + 1)
        new = region.extend(size)
        k = np.arange(q["ht"], q["tt"])
        region.array[new + (k & (size - 1))] = region.array[old + (k & mask)]
        # Runs whose data lie in the ring now find them elsewhere.
        where = int(q["ro"]) + (np.arange(q["hr"], q["tr"]) & int(q["rm"]))
        found = self.runs.array[where]
        first = int(q["ht"]) + np.concatenate(([0], np.cumsum(found["n"])[:-1])).astype(np.int64)
        inside = (found["x"] & runs.RING) != 0
        found["v"][inside] = new + (first[inside] & (size - 1))
        self.runs.array[where] = found
        q["vo"], q["vm"] = new, size - 1

    def tokens_of(
        self, c: int, start: int, end: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Kinds, numbers and timestamps of the tokens in runs ``start`` to ``end``."""
        q = self.channels[c]
        pool = self.floats if q["val"] else self.ints
        where = int(q["ro"]) + (np.arange(start, end) & int(q["rm"]))
        found = self.runs.array[where]
        counts = found["n"]
        each = np.repeat(np.arange(len(found)), counts)
        i = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        x = found["x"][each]
        kinds = x & runs.KIND
        stamps = found["t"][each] + np.where(x & runs.SLOPE, i, 0)
        v = found["v"][each] + np.where(x & runs.STEP, i, 0)
        numbers = v.astype(np.float64)
        in_pool = (x & runs.MEM) != 0
        numbers[in_pool] = pool.at(v[in_pool])
        numbers[(kinds != runs.LEAF) & (kinds != runs.STOP)] = 0
        return kinds, numbers, stamps

    def left_in(self, c: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Of the tokens nobody took: timestamps, and which have their producer's latency."""
        q = self.channels[c]
        start, end = int(q["hr"]), int(q["tr"])
        found = self.runs.array[int(q["ro"]) + (np.arange(start, end) & int(q["rm"]))]
        late = ((found["x"] & runs.KIND) == runs.LEAF) != ((found["x"] & runs.UNUSUAL) != 0)
        _, _, stamps = self.tokens_of(c, start, end)
        return stamps, np.repeat(late, found["n"])
