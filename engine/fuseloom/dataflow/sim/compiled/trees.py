"""Sums by several coordinates, found by a hash and put in order by a merge sort.

A *tree* is described by ten and more integers at the offset a node knows: where its keys, sums,
hash table and the two arrays of the sort are, how many entries it has room for and has, and the
coordinates on the way to the entry at hand.  When it is full, the node waits and the engine
doubles it (see :meth:`fuseloom.dataflow.sim.compiled.stores.Stores.serve`).
"""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import functions, rings, runs
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState

KEYS, SUMS, TABLE, MASK, ROOM, COUNT, ORDER, SPARE, REHASH, WIDTH, NUMBERS, KEY = range(12)
"""Offsets in a tree's description.  ``WIDTH``: coordinates of a key; ``NUMBERS``: of a sum."""


@inline
def address(s: SimulationState, c: Int, r: Int, e: Int, size: Int) -> Int:
    """Return the position in the floats of value ``e`` of a run: a number, or a tile."""
    if s.ch[c].val:
        p = s.run[r]
        return p.v + e if p.x & runs.STEP else p.v
    return rings.number(s, r, e) * size


@inline
def _slot_of(s: SimulationState, f: Int, key: Int) -> Int:
    """Return the slot of the hash table at which the search for a key begins."""
    h = np.int64(0)
    for k in range(s.ints[f + WIDTH]):
        h = (h + s.ints[key + k] + 1) * np.int64(-7046029254386353131)
        h ^= (h >> 32) & 0xFFFFFFFF
    return h & s.ints[f + MASK]


@inline
def rehash(s: SimulationState, f: Int) -> None:
    """Enter all keys into an empty table."""
    table, mask, width = s.ints[f + TABLE], s.ints[f + MASK], s.ints[f + WIDTH]
    for w in range(mask + 1):
        s.ints[table + w] = 0
    for e in range(s.ints[f + COUNT]):
        w = _slot_of(s, f, s.ints[f + KEYS] + e * width)
        while s.ints[table + w]:
            w = (w + 1) & mask
        s.ints[table + w] = e + 1
    s.ints[f + REHASH] = 0


@inline
def accumulate(s: SimulationState, f: Int, rc: Int, cv: Int, rv: Int, m: Int, fold: Int) -> None:
    """Fold ``m`` values of a run into the entries of ``m`` innermost coordinates.

    There is room for that many new entries.  ``fold``: 0 add, 1 maximum, 2 add to a 0.  With
    ``rc`` -1 the one coordinate is in the key already.
    """
    width, size = s.ints[f + WIDTH], s.ints[f + NUMBERS]
    keys, sums, table, mask = (
        s.ints[f + KEYS],
        s.ints[f + SUMS],
        s.ints[f + TABLE],
        s.ints[f + MASK],
    )
    last = f + KEY + width - 1
    if s.run[rv].x & runs.KIND != runs.LEAF:
        return
    for e in range(m):
        if rc >= 0:
            s.ints[last] = rings.number(s, rc, e)
        w = _slot_of(s, f, f + KEY)
        entry = s.ints[table + w] - 1
        while entry >= 0:
            k = 0
            while k < width and s.ints[keys + entry * width + k] == s.ints[f + KEY + k]:
                k += 1
            if k == width:
                break
            w = (w + 1) & mask
            entry = s.ints[table + w] - 1
        given = address(s, cv, rv, e, size)
        if entry < 0:
            entry = s.ints[f + COUNT]
            s.ints[f + COUNT] = entry + 1
            s.ints[table + w] = entry + 1
            for k in range(width):
                s.ints[keys + entry * width + k] = s.ints[f + KEY + k]
            total = sums + entry * size
            if fold == 2:
                for k in range(size):
                    s.floats[total + k] = np.float32(0) + s.floats[given + k]
            else:
                for k in range(size):
                    s.floats[total + k] = s.floats[given + k]
        else:
            total = sums + entry * size
            if fold == 1:
                for k in range(size):
                    s.floats[total + k] = functions.larger(s.floats[total + k], s.floats[given + k])
            else:
                for k in range(size):
                    s.floats[total + k] += s.floats[given + k]


@inline
def first_difference(s: SimulationState, f: Int, a: Int, b: Int) -> Int:
    """The first coordinate in which two entries differ."""
    width = s.ints[f + WIDTH]
    a, b = s.ints[f + KEYS] + a * width, s.ints[f + KEYS] + b * width
    k = 0
    while k < width and s.ints[a + k] == s.ints[b + k]:
        k += 1
    return k


@inline
def _before(s: SimulationState, f: Int, a: Int, b: Int) -> Int:
    """Return whether entry ``a`` comes before entry ``b``."""
    k = first_difference(s, f, a, b)
    width = s.ints[f + WIDTH]
    return s.ints[s.ints[f + KEYS] + a * width + k] < s.ints[s.ints[f + KEYS] + b * width + k]


@inline
def sort(s: SimulationState, f: Int) -> None:
    """List the entries in the order of their keys."""
    count = s.ints[f + COUNT]
    order, spare = s.ints[f + ORDER], s.ints[f + SPARE]
    for e in range(count):
        s.ints[order + e] = e
    width = 1
    while width < count:
        start = 0
        while start < count:
            middle, end = min(start + width, count), min(start + 2 * width, count)
            i, j = start, middle
            for w in range(start, end):
                left = i < middle
                if left and j < end:
                    left = not _before(s, f, s.ints[order + j], s.ints[order + i])
                if left:
                    s.ints[spare + w] = s.ints[order + i]
                    i += 1
                else:
                    s.ints[spare + w] = s.ints[order + j]
                    j += 1
            start = end
        order, spare = spare, order
        width *= 2
    s.ints[f + ORDER], s.ints[f + SPARE] = order, spare


@inline
def clear(s: SimulationState, f: Int) -> None:
    """Forget all entries."""
    table, mask = s.ints[f + TABLE], s.ints[f + MASK]
    if s.ints[f + COUNT] * 8 > mask:
        for w in range(mask + 1):
            s.ints[table + w] = 0
    else:
        width, keys = s.ints[f + WIDTH], s.ints[f + KEYS]
        for e in range(s.ints[f + COUNT]):
            w = _slot_of(s, f, keys + e * width)
            while s.ints[table + w]:
                s.ints[table + w] = 0
                w = (w + 1) & mask
    s.ints[f + COUNT] = 0


@inline
def tile(s: SimulationState, pool: Int) -> Int:
    """A free tile; there is one."""
    n = s.ints[pool] - 1
    s.ints[pool] = n
    return s.ints[s.ints[pool + 1] + n]


@inline
def unused(s: SimulationState, pool: Int) -> Int:
    """Return the number of free tiles."""
    return s.ints[pool]
