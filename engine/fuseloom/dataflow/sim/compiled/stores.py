"""The storage of kernels besides rings: tiles of values, and trees of sums.

A value stream whose tokens are tiles carries *handles*: a tile's address in the floats divided by
its size.  So every kernel that only passes values on does with tiles what it does with
references, and a stored array of tiles is read where it is.  A tile that a kernel computes goes
into a free slot of the *pool* of its size; when there is none, the node waits, and whatever no
channel and no node holds any more is free again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.graph import Graph, Node, StreamKind
from fuseloom.dataflow.samml.tile_values import axes_of_output, axes_of_streams
from fuseloom.dataflow.sim.compiled import replay_layout, runs, trees

if TYPE_CHECKING:
    from fuseloom.dataflow.sim.compiled.arrays import ChannelMemory
    from fuseloom.dataflow.sim.compiled.pools import Pool

Int64 = npt.NDArray[np.int64]
FIRST_FLOATS = 1 << 18
"""Numbers in a new pool, roughly: it stays in a core's cache."""
FEWEST_TILES = 64
FIRST_ROOM = 64
"""Entries a new tree has room for."""


@dataclass
class TilePool:
    """Slots for tiles of one size: where its list of free ones is, and all there are."""

    record: int
    size: int
    handles: Int64


class Stores:
    """Tiles and trees of one simulation.

    Attributes
    ----------
    axes : tuple of str
        Per stream, the axes of its tiles; none where values are numbers.
    """

    def __init__(self, graph: Graph, ints: Pool, floats: Pool) -> None:
        self.graph = graph
        self.ints, self.floats = ints, floats
        self.axes = axes_of_streams(graph)
        blocks = [int(n.params["block"]) for n in graph.nodes if "tile" in n.params]
        self.edge = blocks[0] if blocks else 1
        self.pools: dict[int, TilePool] = {}
        self.trees: dict[int, int] = {}
        self.buffers: dict[int, int] = {}

    # ------------------------------------------------------------------ while setting up

    def values(self, node: Node) -> list[int]:
        """The value streams that a node takes."""
        return [s for s in node.inputs if self.graph.streams[s].kind is StreamKind.VAL]

    def elements(self, stream: int) -> int:
        """Numbers in one value of a stream."""
        return int(self.edge ** len(self.axes[stream]))

    def carries_tiles(self, node: Node, port: int) -> bool:
        """Return whether an output port, maybe without a reader, carries tiles."""
        return bool(axes_of_output(self.graph, node, port, self.axes))

    def pool(self, size: int) -> int:
        """Return the position of a tile pool: the number of free tiles, and their list."""
        if size not in self.pools:
            count = max(FIRST_FLOATS // size, FEWEST_TILES)
            self.floats.align(size)
            handles = self.floats.reserve(count * size) // size + np.arange(count)
            free = self.ints.add(handles[::-1])
            self.pools[size] = TilePool(self.ints.add([count, free]), size, handles)
        return self.pools[size].record

    def stored(self, tiles: npt.NDArray[Any], size: int) -> int:
        """Handle of the first of an array of tiles."""
        self.floats.align(size)
        return self.floats.add(tiles) // size

    def tree(self, node: int, order: int, size: int) -> int:
        """Return the position of the description of a node's tree."""
        room = FIRST_ROOM
        entry = np.zeros(trees.KEY + order, np.int64)
        entry[trees.KEYS] = self.ints.reserve(room * order)
        entry[trees.SUMS] = self.floats.reserve(room * size)
        entry[trees.TABLE] = self.ints.add(np.zeros(2 * room, np.int64))
        entry[trees.ORDER], entry[trees.SPARE] = self.ints.reserve(room), self.ints.reserve(room)
        entry[trees.MASK], entry[trees.ROOM] = 2 * room - 1, room
        entry[trees.WIDTH], entry[trees.NUMBERS] = order, size
        self.trees[node] = self.ints.add(entry)
        return self.trees[node]

    def buffer(self, node: Node) -> int:
        """Return the position of the description of a replayer's buffer."""
        is_number = self.graph.streams[node.inputs[0]].kind is StreamKind.VAL
        is_number = is_number and not self.axes[node.inputs[0]]
        data = (self.floats if is_number else self.ints).reserve(FIRST_ROOM)
        run_data = self.ints.reserve(3 * FIRST_ROOM)
        entry = [data, 0, FIRST_ROOM, run_data, 0, FIRST_ROOM, int(is_number)]
        self.buffers[node.id] = self.ints.add(entry)
        return self.buffers[node.id]

    # ------------------------------------------------------------------------- at run time

    def serve(self, node: int, memory: ChannelMemory, nodes: npt.NDArray[Any]) -> None:
        """Give a node that waits for it the space it lacks."""
        ints = memory.ints.array
        if node in self.trees:
            description = ints[self.trees[node] :]
            if description[trees.COUNT] == description[trees.ROOM]:
                self._grow_tree(self.trees[node], memory)
        if node in self.buffers:
            self._grow_buffer(self.buffers[node], memory)
        for pool in self.pools.values():
            if memory.ints.array[pool.record] == 0:
                self._collect(pool, memory, nodes)

    @staticmethod
    def _grow_tree(at: int, memory: ChannelMemory) -> None:
        old = memory.ints.array[at : at + trees.KEY].copy()
        room, width, size = (int(old[k]) for k in (trees.ROOM, trees.WIDTH, trees.NUMBERS))
        keys = memory.ints.extend(2 * room * width)
        table = memory.ints.extend(4 * room)
        order, spare = memory.ints.extend(2 * room), memory.ints.extend(2 * room)
        sums = memory.floats.extend(2 * room * size)
        ints, floats = memory.ints.array, memory.floats.array
        ints[keys : keys + room * width] = ints[old[trees.KEYS] :][: room * width]
        floats[sums : sums + room * size] = floats[old[trees.SUMS] :][: room * size]
        new = ints[at : at + trees.KEY]
        new[[trees.KEYS, trees.SUMS, trees.TABLE]] = keys, sums, table
        new[[trees.ORDER, trees.SPARE]] = order, spare
        new[[trees.MASK, trees.ROOM, trees.REHASH]] = 4 * room - 1, 2 * room, 1

    @staticmethod
    def _grow_buffer(at: int, memory: ChannelMemory) -> None:
        """Double the data or the runs, whichever are full."""
        is_number = memory.ints.array[at + replay_layout.IS_NUMBER]
        for where, width, region in (
            (replay_layout.DATA, 1, memory.floats if is_number else memory.ints),
            (replay_layout.RUNS, 3, memory.ints),
        ):
            start, count, room = memory.ints.array[at + where : at + where + 3].tolist()
            if count < room:
                continue
            new = region.extend(2 * room * width)
            region.array[new : new + room * width] = region.array[start : start + room * width]
            memory.ints.array[[at + where, at + where + 2]] = new, 2 * room

    def _collect(self, pool: TilePool, memory: ChannelMemory, nodes: npt.NDArray[Any]) -> None:
        """Free the slots that nothing holds; double the pool if most are held."""
        held = np.concatenate([*self._in_channels(pool, memory), *self._in_nodes(memory, nodes)])
        free = np.setdiff1d(pool.handles, held)
        if 2 * len(free) < len(pool.handles):
            count, size = len(pool.handles), pool.size
            memory.floats.extend(-memory.floats.used % size)
            more = memory.floats.extend(count * size) // size + np.arange(count)
            pool.handles = np.concatenate([pool.handles, more])
            free = np.concatenate([free, more])
            memory.ints.array[pool.record + 1] = memory.ints.extend(2 * count)
        ints = memory.ints.array
        start = int(ints[pool.record + 1])
        ints[start : start + len(free)] = free[::-1]
        ints[pool.record] = len(free)

    def _in_channels(self, pool: TilePool, memory: ChannelMemory) -> Iterable[Int64]:
        """Handles of the tiles in all channels of that size, void ones left out."""
        ints = memory.ints.array
        for stream, axes in enumerate(self.axes):
            if not axes or self.elements(stream) != pool.size:
                continue
            q = memory.channels[stream]
            where = int(q["ro"]) + (np.arange(q["hr"], q["tr"]) & int(q["rm"]))
            found = memory.runs.array[where]
            found = found[(found["x"] & runs.KIND) == runs.LEAF]
            counts = np.where(found["x"] & runs.STEP, found["n"], 1)
            first = np.cumsum(counts) - counts
            handles = (
                np.repeat(found["v"], counts) + np.arange(counts.sum()) - np.repeat(first, counts)
            )
            inside = np.repeat((found["x"] & runs.MEM) != 0, counts)
            handles[inside] = ints[handles[inside]]
            yield handles

    def _in_nodes(self, memory: ChannelMemory, nodes: npt.NDArray[Any]) -> Iterable[Int64]:
        """Handles that nodes hold, and other numbers, which do no harm."""
        yield nodes["hv"].astype(np.int64)
        ints = memory.ints.array
        for at in self.buffers.values():
            start, count = int(ints[at]), int(ints[at + 1])
            if not ints[at + replay_layout.IS_NUMBER]:
                yield ints[start : start + count].copy()

    def shaped(self, node: Node, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the values that a values writer collected, tile by tile."""
        axes = "".join(self.axes[s] for s in self.values(node))
        return values.reshape(-1, *(self.edge for _ in axes)) if len(values) else values

    def tile(self, stream: int, handle: int, memory: ChannelMemory) -> npt.NDArray[np.float32]:
        """A copy of the tile of that handle."""
        size = self.elements(stream)
        numbers = memory.floats.array[handle * size : (handle + 1) * size].copy()
        return numbers.reshape((self.edge,) * len(self.axes[stream]))
