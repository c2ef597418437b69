"""Samples of an outermost index: some of its coordinates, and how many each of them stands for.

A coordinate is in a sample with a probability that goes with the root of the work it means, so
that hubs are always in; its weight is the inverse.  Samples are drawn systematically, in the order
of the coordinates, since it matters whether heavy ones come first or last.  Rules:
``docs/spec/estimate.md`` §5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType

import numpy as np

from fuseloom.dataflow.cost.exact.fiber_levels import Floats, Ints, Standing
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.primitive import Family, Nesting
from fuseloom.dataflow.samml.traits import Traversal
from fuseloom.program.levels import coordinates
from fuseloom.program.storage import StoredTensor

HUB = 0.5
"""A hub has so many times as much of something as a sample has on average."""
SEED = 20_260_901
FLOOR = 0.25
"""The probability of coordinates without work, as a fraction of the mean."""
NOTHING = 3
"""Of how many that have nothing there is a sample, at least, if there are so many."""
EACH = 3
"""Coordinates of a sample for each total that its weights are to meet, at least."""
LEAST = 0.2
"""The lower limit of the factor by which weights are calibrated to meet totals."""
ROUNDS = 5
NEAR = 1e-3
"""The tolerance within which calibrated weights meet the totals."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some coordinates of an index.

    Attributes
    ----------
    coords : (S,) array
        Sorted.
    weights : (S,) array
        How many coordinates each stands for.
    extent : int
        How many coordinates there are.
    met : (m, S) array
        Of each coordinate, the measures whose totals are met.
    work : (extent,) array or None
        Of every coordinate, the measure that most work goes with, if it is known.
    """

    coords: Ints
    weights: Floats
    extent: int
    met: Floats = field(repr=False)
    work: Floats | None = field(default=None, repr=False)

    @cached_property
    def key(self) -> tuple[int, bytes, bytes, bytes]:
        """Equal for samples of the same coordinates with the same weights, out of the same."""
        every = b"" if self.work is None else blake2b(self.work.tobytes()).digest()
        return self.extent, self.coords.tobytes(), self.weights.tobytes(), every

    @cached_property
    def standing(self) -> Standing:
        """The number of coordinates that each coordinate represents."""
        made = np.zeros(self.extent)
        made[self.coords] = self.weights
        return Standing(made, work=self.work)

    @property
    def whole(self) -> bool:
        """True if the sample has every coordinate."""
        return len(self.coords) == self.extent

    @classmethod
    def of(cls, measures: Floats, size: int) -> Sample:
        """About ``size`` coordinates of n.

        Parameters
        ----------
        measures : (m, n) array
            Of each coordinate, how much there is of several things that work may go with, the most
            telling ones first; but the very first one decides how probable it is.
        """
        n = measures.shape[1]
        if size >= n:
            return cls(np.arange(n), np.ones(n), n, np.zeros((0, n)))
        share = np.sqrt(measures[0])
        share = share + max(FLOOR * float(share.mean()), 1.0)
        hubs = _hubs(measures, size)
        chance = np.minimum(1.0, size * share / share.sum())
        chance[hubs] = 1.0
        for _ in range(20):  # what is certain leaves more to the others
            certain = chance >= 1.0
            rest = size - int(certain.sum())
            if rest <= 0:
                break
            again = np.minimum(1.0, rest * share / share[~certain].sum())
            again[certain] = 1.0
            if np.allclose(again, chance):
                break
            chance = again
        nothing = measures[0] == 0
        if nothing.any():
            chance[nothing] = np.maximum(chance[nothing], min(1.0, NOTHING / nothing.sum()))
        order = np.concatenate([np.flatnonzero(~nothing), np.flatnonzero(nothing)])
        reached = np.cumsum(chance[order])
        start = np.random.default_rng(SEED).random()
        before = np.concatenate(([0.0], reached[:-1]))
        coords = order[np.floor(reached - start) > np.floor(before - start)]
        coords = np.union1d(coords, np.flatnonzero(chance >= 1.0))
        weights, met = _calibrated(coords, 1.0 / chance[coords], measures, share[coords])
        return cls(coords, weights, n, met, measures[0])

    @classmethod
    def of_windows(cls, measures: Floats, part: float, count: int) -> Sample:
        """All coordinates in some windows, evenly apart, which together are this part of all."""
        extent = measures.shape[1]
        if part >= 1.0:
            return cls(np.arange(extent), np.ones(extent), extent, np.zeros((0, extent)))
        size = max(round(extent * part / count), 1)
        starts = ((np.arange(count) + 0.5) * extent / count - size / 2.0).astype(np.int64)
        coords = np.unique(np.clip(starts[:, None] + np.arange(size), 0, extent - 1))
        return cls(coords, np.ones(len(coords)), extent, np.zeros((0, len(coords))), measures[0])

    def deviation(self, work: Floats) -> float:
        """The standard deviation of the total of some work, as far as no measure explains it.

        Parameters
        ----------
        work : (S,) array
            Of each coordinate.
        """
        free = self.weights != 1.0
        if free.sum() < 2:
            return 0.0
        root, mine = np.sqrt(self.weights[free]), self.met[:, free]
        fit = np.linalg.lstsq((mine * root).T, work[free] * root, rcond=1e-9)[0]
        rest = self.weights[free] * (work[free] - fit @ mine)
        left = len(rest) / max(len(rest) - len(mine), 1)
        return float(np.sqrt(left * np.sum(np.diff(rest) ** 2) / 2.0))


def _calibrated(
    coords: Ints, weights: Floats, measures: Floats, share: Floats
) -> tuple[Floats, Floats]:
    """Weights with which the sample has as much of each measure as there is; and the measures.

    Coordinates that stand for themselves only keep their weight; the others are changed as little
    as possible (a generalised regression estimate).  Where no weights near those meet all totals,
    only the first ones are met, or the most telling one alone.
    """
    free = weights > 1.0
    every = np.vstack([np.ones(measures.shape[1]), measures[1:], measures[:1]])
    missing = every.sum(axis=1) - every[:, coords[~free]] @ weights[~free]
    mine, base = every[:, coords[free]], weights[free]
    most = min(len(every), int(free.sum()) // EACH)
    met = [slice(0, rows) for rows in range(most, 1, -1)]
    if most:  # of one, what work goes with tells more than how many coordinates there are
        met += [slice(1, 2), slice(0, 1)][: len(every)]
    for rows in met:
        factors, off = _factors(mine[rows], missing[rows], base, 1.0 / share[free])
        if off < NEAR:
            made = weights.copy()
            made[free] = base * factors
            return made, every[rows, coords]
    return weights, np.zeros((0, len(coords)))


def _factors(mine: Floats, missing: Floats, base: Floats, ease: Floats) -> tuple[Floats, float]:
    """Factors of weights that bring measures to what is missing, and how far they are off still."""
    scale = np.sqrt((mine**2) @ (base * ease))
    some = scale > 0
    mine, missing = mine[some] / scale[some, None], missing[some] / scale[some]
    factors, fixed = np.ones(len(base)), np.zeros(len(base), dtype=bool)
    for _ in range(ROUNDS):
        rest = missing - mine[:, fixed] @ (base * factors)[fixed] - mine[:, ~fixed] @ base[~fixed]
        towards = mine[:, ~fixed] * (base * ease)[~fixed]
        found = np.linalg.lstsq(towards @ mine[:, ~fixed].T, rest, rcond=1e-9)[0]
        factors[~fixed] = 1.0 + ease[~fixed] * (found @ mine[:, ~fixed])
        beyond = (factors < LEAST) | (factors > 1.0 / LEAST)
        factors = np.clip(factors, LEAST, 1.0 / LEAST)
        if fixed[beyond].all() or beyond.all():
            break
        fixed |= beyond
    off = np.abs(mine @ (base * factors) / np.maximum(missing, 1e-300) - 1.0)
    return factors, float(off.max(initial=0.0))


def _hubs(measures: Floats, size: int) -> Ints:
    """Coordinates with so much of something that no sample may miss them; most of it at most."""
    totals = measures.sum(axis=1)
    parts = measures[totals > 0] / totals[totals > 0][:, None]
    if not len(parts):
        return np.zeros(0, dtype=np.int64)
    most = parts.max(axis=0)
    heavy = np.flatnonzero(most * size > HUB)
    return np.asarray(heavy[np.argsort(-most[heavy], kind="stable")][: size * 3 // 4])


NO_SAMPLES: Mapping[str, Sample] = MappingProxyType({})
"""Every coordinate of every index."""


def traversed(graph: Graph, node: Node) -> str | None:
    """The index whose coordinates a node takes from a tensor or a range; None if it takes none."""
    if primitive(node.op).traversal not in (Traversal.STORED_FIBER, Traversal.DENSE_FIBER):
        return None
    outputs = [s for s in node.outputs if s is not None]
    indices = graph.streams[outputs[0]].indices if outputs else ()
    return indices[-1] if indices else None


def outermost(graph: Graph) -> tuple[str, ...]:
    """The outermost indices of a graph's streams."""
    return tuple(dict.fromkeys(s.indices[0] for s in graph.streams if s.indices))


View = Mapping[str, Ints]
"""Coordinates of a tensor's elements, by index."""


def unfolded(graph: Graph) -> tuple[str, ...]:
    """Indices inside the outermost that nothing is folded over, the outer ones first.

    What is there at other indices does not depend on which of their coordinates are executed.
    Where coordinates are shifted, there is none.
    """
    if any("offset" in node.params for node in graph.nodes):
        return ()
    depths: dict[str, int] = {}
    for stream in graph.streams:
        for depth, x in enumerate(stream.indices[1:]):
            depths[x] = max(depth, depths.get(x, 0))
    for node in graph.nodes:
        if primitive(node.op).family is Family.REDUCE:
            for x in graph.streams[node.inputs[0]].indices[-1:]:
                depths.pop(x, None)
    return tuple(sorted(depths, key=lambda x: depths[x]))


HOPS = 3
"""The number of hops over which work is followed from an outermost coordinate."""


Traversals = tuple[tuple[str, str, tuple[tuple[str, int], ...]], ...]
"""Views that a graph traverses: tensor, mode order, and which level each index goes through."""


def measures_of(
    traversals: Traversals, index: str, extent: int, tensors: Callable[[str], StoredTensor | None]
) -> Floats:
    """Return measures that may be proportional to the work of each coordinate of an index.

    How many elements the tensors that are traversed by it have there; and how many the tensors
    traversed by the other coordinates of these elements have at those; and so on.

    Parameters
    ----------
    tensors : callable
        The data of a tensor, if they are known.

    Returns
    -------
    (m, extent) array
    """
    views: list[View] = []
    for name, order, levels in traversals:
        stored = tensors(name)
        if stored is None:
            continue
        modes = [int(m) for m in order.split(",")] if order else stored.tensor.format.mode_order
        coords = coordinates(stored.tensor, stored.levels)
        views.append({x: np.ascontiguousarray(coords[:, modes[level]]) for x, level in levels})
    own = [_counts(view, index, extent) for view in views]
    chance, *hops = _followed(views, index, extent)[::-1] or [np.ones(extent)]
    there = [np.minimum(found, 1.0) for found in own]
    rest = [*_through(views, index, extent), *own, *there, *hops[::-1]]
    different = {found.tobytes(): found for found in rest if found.any()}
    measures = [chance, *different.values()]
    return np.stack(measures)


def _counts(view: View, index: str, extent: int) -> Floats:
    """Count the elements of a view at each coordinate of an index."""
    if index not in view:
        return np.zeros(extent)
    found = np.bincount(view[index], minlength=extent)[:extent]
    return found.astype(np.float64)


def _through(views: list[View], index: str, extent: int) -> list[Floats]:
    """Count the elements of one view that those of another lead to, for each pair of views."""
    found = []
    for view in views:
        for y, at in view.items() if index in view else ():
            for other in views:
                if y == index or other is view or y not in other:
                    continue
                reached = np.bincount(other[y], minlength=int(at.max(initial=0)) + 1)[at]
                made = np.bincount(view[index], reached, minlength=extent)
                found.append(np.asarray(made[:extent], dtype=np.float64))
    return found


def _followed(views: list[View], index: str, extent: int) -> list[Floats]:
    """Count the elements that each coordinate of an index leads to, hop by hop."""
    measures: list[Floats] = []
    before: dict[str, Floats] = {}
    for _ in range(HOPS):
        reached: dict[str, Floats] = {}
        for view in views:
            for x, here in view.items():
                size = extent if x == index else int(here.max(initial=0)) + 1
                weight = None if not before else np.zeros(len(here))
                for y, at in view.items():
                    if weight is not None and y != x and y in before:
                        known = before[y]
                        if int(at.max(initial=0)) >= len(known):
                            known = _added(known, np.zeros(int(at.max()) + 1))
                        weight += known[at]
                made = np.bincount(here, weight, minlength=size)
                found = np.asarray(made[:size], dtype=np.float64)
                old = reached.get(x)
                reached[x] = found if old is None else _added(old, found)
        before = reached
        if index in reached:
            measures.append(_added(np.zeros(extent), reached[index])[:extent])
    return measures


def _added(a: Floats, b: Floats) -> Floats:
    made = np.zeros(max(len(a), len(b)))
    made[: len(a)] += a
    made[: len(b)] += b
    return made


def traversals_of(graph: Graph) -> Traversals:
    """Return the views that a graph traverses; squared tensors twice, those in lanes once."""
    levels: dict[int, dict[str, int]] = {}
    heads: dict[int, int] = {}
    beside = _other_lanes(graph)
    for k in graph.topological():
        node = graph.nodes[k]
        index = _looked_at(graph, node)
        if index is None or k in beside:
            continue
        above = _above(graph, node)
        heads[k] = k if above is None else heads[above]
        levels.setdefault(heads[k], {})[index] = int(node.params["level"])
    found = []
    for head, indices in levels.items():
        name, _, order = str(graph.nodes[head].params["tensor"]).partition("@")
        found.append((name, order, tuple(indices.items())))
    return tuple(sorted(found))


def _other_lanes(graph: Graph) -> set[int]:
    """Nodes in lanes that do the same as the first one."""
    lanes: dict[int, frozenset[tuple[str, int]]] = {}
    found = set()
    for k in graph.topological():
        node = graph.nodes[k]
        outside = [lanes[s] for s in node.inputs]
        nesting = primitive(node.op).nesting
        joined = frozenset.intersection if nesting is Nesting.COLLECTS else frozenset.union
        mine = joined(*outside) if outside else frozenset()
        if any(lane for _, lane in mine):
            found.add(k)
        for port, stream in enumerate(node.outputs):
            if stream is not None:
                dealt = graph.streams[stream].indices[-1:] if nesting is Nesting.DEALS else ()
                lanes[stream] = mine | {(x, port) for x in dealt}
    return found


def _looked_at(graph: Graph, node: Node) -> str | None:
    """The index of the level of a tensor that a node traverses, or looks coordinates up in."""
    outputs = [s for s in node.outputs if s is not None]
    if not outputs or "tensor" not in node.params or "level" not in node.params:
        return None
    indices = graph.streams[outputs[0]].indices
    return indices[-1] if indices else None


def _above(graph: Graph, node: Node) -> int | None:
    """The traversal of the level outside, whose references a traversal takes; None at the root."""
    outside = int(node.params["level"]) - 1
    stream = node.inputs[0]
    while outside >= 0 and stream in graph.producer:
        maker = graph.nodes[graph.producer[stream]]
        same = maker.params.get("tensor") == node.params["tensor"]
        if same and maker.params.get("level") == outside and _looked_at(graph, maker):
            return maker.id
        if not maker.inputs:
            return None
        port = maker.outputs.index(stream)
        joins = primitive(maker.op).family is Family.JOIN
        stream = maker.inputs[2 * port - 1 if joins and port else 0]
    return None
