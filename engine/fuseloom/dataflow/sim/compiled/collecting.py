"""The destination of writers: a buffer at first, then memory of their own.

That memory is reserved address space (:mod:`fuseloom.dataflow.sim.compiled.pools`), so what is
written stays where it is and is copied by nobody.  Where none can be reserved, a full buffer is
emptied into pieces, which are joined in the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.traits import Stored
from fuseloom.dataflow.sim.compiled.arrays import ChannelMemory, GrowingArray
from fuseloom.dataflow.sim.compiled.pools import reserved

Array = npt.NDArray[Any]

STEP = 1 << 17
"""Entries by which an array grows at least."""
KEPT = 1 << 20
"""Bytes from which an array stays in its address space; a smaller one is copied out of it."""

_SLOTS = {
    Stored.SEGMENTS.value: ("ends", "ends_held"),
    Stored.COORDINATES.value: ("buffer", "held"),
    Stored.VALUES.value: ("buffer", "held"),
}
"""Per array, the slots of its writer that say where its buffer is and how much lies there."""


class WriterOutput:
    """The output of one writer.

    Parameters
    ----------
    arrays : iterable of Stored
        What it writes.
    """

    def __init__(self, arrays: Iterable[Stored]) -> None:
        self.names = [array.value for array in arrays]
        self.places: dict[str, Array] = {}
        # The first fiber begins at 0.
        self.pieces: dict[str, list[Array]] = {
            name: [np.zeros(1, np.int64)] if name == Stored.SEGMENTS.value else []
            for name in self.names
        }

    def drain(self, node: Any, memory: ChannelMemory) -> None:
        """Make room for more; ``node`` is the writer's record."""
        counts = {name: int(node[_SLOTS[name][1]]) for name in self.names}
        if not self.places:
            places = {name: reserved(_pool(name, memory).array.dtype) for name in self.names}
            if any(place is None for place in places.values()):
                self._empty(node, memory)
                return
            for name, place in places.items():
                assert place is not None
                place[: counts[name]] = self._buffer(name, node, memory)
                self.places[name] = place
        more = max(STEP, max(counts.values()) // 4)
        size = sum(place.itemsize for place in self.places.values())
        memory.take(more * size)
        node["capacity"] = max(counts.values()) + more
        self.point(node, memory)

    def point(self, node: Any, memory: ChannelMemory) -> None:
        """Tell the writer where its arrays are, seen from the pools, which may have moved."""
        for name, place in self.places.items():
            pool = _pool(name, memory).array
            node[_SLOTS[name][0]] = (place.ctypes.data - pool.ctypes.data) // place.itemsize

    def arrays(self, node: Any, memory: ChannelMemory) -> dict[str, Array]:
        """All it has written."""
        if not self.places:
            self._empty(node, memory)
            return {name: np.concatenate(pieces) for name, pieces in self.pieces.items()}
        made = {}
        for name, place in self.places.items():
            whole = place[: int(node[_SLOTS[name][1]])]
            first = self.pieces[name]
            made[name] = np.concatenate([*first, whole]) if first or whole.nbytes < KEPT else whole
        return made

    def _empty(self, node: Any, memory: ChannelMemory) -> None:
        """Take over what is in its buffers."""
        for name in self.names:
            held = self._buffer(name, node, memory)
            memory.take(held.nbytes)
            self.pieces[name].append(held.copy())
            node[_SLOTS[name][1]] = 0

    @staticmethod
    def _buffer(name: str, node: Any, memory: ChannelMemory) -> Array:
        where, count = _SLOTS[name]
        start = int(node[where])
        return _pool(name, memory).array[start : start + int(node[count])]


def _pool(name: str, memory: ChannelMemory) -> GrowingArray:
    return memory.floats if name == Stored.VALUES.value else memory.ints
