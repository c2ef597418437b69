"""Random nested streams for primitives that random graphs seldom have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuseloom.dataflow.samml.graph import Node, Stream, StreamKind
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, Token
from tests.dataflow.rtl.streams import PrimitiveCases, sized
from tests.property.random_graphs import STORED

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL
Draw = Callable[[], Token]


class _Drawn:
    """Streams one below the other: each leaf of one opens a fiber of the next."""

    def __init__(self, rng: np.random.Generator, depth: int, draws: list[Draw]) -> None:
        self.rng = rng
        self.streams: list[list[Token]] = [[] for _ in draws]
        self._fibers(depth, draws)
        for stream in self.streams:
            stream.append(DONE)

    def _fibers(self, depth: int, draws: list[Draw]) -> None:
        """A fiber of ``depth`` levels of the first stream, with what lies below."""
        for _ in range(int(self.rng.integers(0, 4))):
            if depth > 1:
                self._fibers(depth - 1, draws)
            else:
                self._leaf(0, draws)
        self._close(depth - 1)

    def _leaf(self, level: int, draws: list[Draw]) -> None:
        self.streams[level].append(draws[level]())
        if level + 1 == len(draws):
            return
        for _ in range(int(self.rng.integers(0, 4))):
            self._leaf(level + 1, draws)
        for below, stream in enumerate(self.streams[level + 1 :]):
            _closed(stream, below, stream_has_more=below > 0)

    def _close(self, level: int) -> None:
        for below, stream in enumerate(self.streams):
            _closed(stream, level + below, stream_has_more=level + below > 0)


def _closed(stream: list[Token], level: int, *, stream_has_more: bool) -> None:
    """Close a fiber: the stop of what was last inside it, if anything was, goes up a level."""
    if stream_has_more and stream and stream[-1] == Stop(level - 1):
        stream[-1] = Stop(level)
    else:
        stream.append(Stop(level))


def searcher_cases(count: int, seed: int) -> PrimitiveCases:
    """References, some of them absent, and coordinates to be searched for below them."""
    rng = np.random.default_rng(seed)
    draws: list[Draw] = [
        lambda: EMPTY if rng.random() < 0.1 else int(rng.integers(STORED)),
        lambda: int(rng.integers(12)),
    ]
    node = Node(0, "search", (0, 1), (2, 3), {}, "search")
    streams = tuple(Stream(k, kind, 0, "") for k, kind in enumerate((REF, CRD, CRD, REF)))
    made = PrimitiveCases(node, streams)
    for _ in range(count):
        made.inputs.append(tuple(map(tuple, _Drawn(rng, int(rng.integers(1, 3)), draws).streams)))
    return made


def accumulator_cases(count: int, seed: int) -> PrimitiveCases:
    """Outermost coordinates, rows, columns and values, of which some are absent."""
    rng = np.random.default_rng(seed)

    def coordinate() -> Token:
        return int(rng.integers(5))

    node = Node(0, "spacc2", (0, 1, 2, 3), (4, 5, 6), {"fn": "add"}, "spacc2")
    kinds = (CRD, CRD, CRD, VAL, CRD, CRD, VAL)
    made = PrimitiveCases(node, tuple(Stream(k, kind, 0, "") for k, kind in enumerate(kinds)))
    for _ in range(count):
        crds = _Drawn(rng, int(rng.integers(1, 3)), [coordinate] * 3).streams
        values: list[Any] = [
            token
            if isinstance(token, Stop) or token is DONE
            else EMPTY
            if rng.random() < 0.2
            else np.float32(rng.standard_normal())
            for token in crds[2]
        ]
        made.inputs.append((*map(tuple, crds), tuple(values)))
    made.node = sized(node, [case[1:3] for case in made.inputs])
    return made
