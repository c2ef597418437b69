"""The view of a run between two of its cycles: columns, bars, and figures of an area."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.events.spool import REASONS
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.observe import BUSY, IDLE, Int64

Float64 = npt.NDArray[np.float64]


def edges_of(start: int, stop: int, columns: int) -> Int64:
    """Clocks between equal columns, to a cycle; no more columns than cycles."""
    columns = max(1, min(columns, stop - start))
    return start + (stop - start) * np.arange(columns + 1, dtype=np.int64) // columns


def columns_of(store: EventStore, edges: Int64, nodes: Sequence[int] | None = None) -> Int64:
    """Exact cycles of each activity between edges, (nodes, 5, columns)."""
    chosen = range(store.nodes) if nodes is None else nodes
    made = np.empty((len(chosen), IDLE + 1, len(edges) - 1), np.int64)
    for row, node in enumerate(chosen):
        made[row] = np.diff(store.spent(node, edges), axis=1)
    return made


@dataclass(frozen=True)
class Intervals:
    """Intervals of nodes, each in one activity, whole even where a window cuts them.

    Those of a node come in order and touch; ``activity`` is a row of
    :data:`~fuseloom.dataflow.sim.observe.ACTIVITIES`.
    """

    node: Int64
    activity: Int64
    start: Int64
    stop: Int64

    def __len__(self) -> int:
        return len(self.node)


def most_intervals(
    store: EventStore, start: int, stop: int, nodes: Sequence[int] | None = None
) -> int:
    """No fewer intervals than there are in a window: each wait, and the work after it."""
    chosen = range(store.nodes) if nodes is None else nodes
    found = 0
    for node in chosen:
        for reason in REASONS:
            starts, _ = store.of(node, reason)
            first, last = np.searchsorted(starts, [start, stop], "left").tolist()
            found += 2 * (last - first + 1)
        found += 1
    return found


def intervals_of(
    store: EventStore, start: int, stop: int, nodes: Sequence[int] | None = None
) -> Intervals:
    """All intervals in a window, idle ones among them."""
    chosen = range(store.nodes) if nodes is None else nodes
    parts = [_node_intervals(store, node, start, stop) for node in chosen]
    return _joined(parts)


def _node_intervals(store: EventStore, node: int, start: int, stop: int) -> Intervals:
    """A node's intervals: its waits, work in between, idleness at the end."""
    since, until, reason = _waits_around(store, node, start, stop)
    end = int(store.clocks[node])
    # Work up to each wait and to the node's end, waits, and nothing after that.
    starts = np.concatenate(([0], until, since, [end]))
    stops = np.concatenate((since, [end], until, [store.cycles]))
    activity = np.concatenate((np.full(len(since) + 1, BUSY), reason, [IDLE]))
    keep = (starts < stops) & (starts < stop) & (stops > start)
    starts, stops, activity = starts[keep], stops[keep], activity[keep]
    order = np.argsort(starts, kind="stable")
    whose = np.full(len(order), node, np.int64)
    return Intervals(whose, activity[order], starts[order], stops[order])


def _waits_around(
    store: EventStore, node: int, start: int, stop: int
) -> tuple[Int64, Int64, Int64]:
    """Waits that meet a window, and of each reason the one before and the one after it.

    Work between two waits is whole only where both are known; before the first of these there is
    at least one wait that ended before the window, or none at all.
    """
    parts: list[tuple[Int64, Int64, Int64]] = []
    for reason in REASONS:
        starts, before = store.of(node, reason)
        first = max(0, int(np.searchsorted(starts, start, "left")) - 1)
        last = min(len(starts), int(np.searchsorted(starts, stop, "left")) + 1)
        since = np.asarray(starts[first:last])
        until = since + np.diff(before[first : last + 1])
        parts.append((since, until, np.full(len(since), reason)))
    since, until, reasons = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(since, kind="stable")
    return since[order], until[order], reasons[order]


def _joined(parts: Iterable[Intervals]) -> Intervals:
    listed = list(parts)
    fields = ("node", "activity", "start", "stop")
    return Intervals(
        *(np.concatenate([np.zeros(0, np.int64), *(getattr(p, f) for p in listed)]) for f in fields)
    )


@dataclass(frozen=True)
class Figures:
    """The least, mean and most of a figure over the cells of an area: a node and some cycles each.

    ``least_at`` and ``most_at`` tell the first such cell as node and cycle from which it counts.
    """

    least: float
    mean: float
    most: float
    least_at: tuple[int, int]
    most_at: tuple[int, int]


@dataclass(frozen=True)
class Area:
    """Figures of some nodes between two cycles.

    Attributes
    ----------
    start, stop : int
        The cycles.
    busy : Figures
        Share of a cell's cycles in which the node works; the mean is the exact share of all.
    cell : int
        Most cycles of a cell of ``busy``.
    tokens : Figures or None
        Tokens that a node puts per cycle; None where the area has no whole bin of tokens.
    token_cell : int
        Cycles of a cell of ``tokens``.
    token_start, token_stop : int
        The whole bins of tokens within the area.
    """

    start: int
    stop: int
    busy: Figures
    cell: int
    tokens: Figures | None
    token_cell: int
    token_start: int
    token_stop: int


def area_of(
    store: EventStore, start: int, stop: int, nodes: Sequence[int], columns: int = 64
) -> Area:
    """Figures of an area of at least one cycle and one node, its cycles cut into columns."""
    edges = edges_of(start, stop, columns)
    cycles = columns_of(store, edges, nodes)
    shares = cycles[:, BUSY, :] / np.diff(edges)
    busy = _figures(shares, cycles[:, BUSY, :].sum() / ((stop - start) * len(nodes)), nodes, edges)
    first = -(-start // store.width)
    last = min(stop // store.width, store.tokens.shape[1])
    if stop >= store.cycles:
        last = store.tokens.shape[1]
    bins = np.minimum(np.arange(first, max(first, last) + 1) * store.width, store.cycles)
    tokens = None
    if last > first:
        put = store.tokens[list(nodes), first:last]
        mean = put.sum() / ((bins[-1] - bins[0]) * len(nodes))
        tokens = _figures(put / np.diff(bins), mean, nodes, bins)
    cell = int(np.diff(edges).max())
    return Area(start, stop, busy, cell, tokens, store.width, int(bins[0]), int(bins[-1]))


def _figures(cells: Float64, mean: float, nodes: Sequence[int], edges: Int64) -> Figures:
    places = []
    for index in (int(cells.argmin()), int(cells.argmax())):
        row, column = divmod(index, cells.shape[1])
        places.append((int(nodes[row]), int(edges[column])))
    return Figures(float(cells.min()), float(mean), float(cells.max()), places[0], places[1])
