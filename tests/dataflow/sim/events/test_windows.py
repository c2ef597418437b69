"""Columns, bars and figures of windows of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.sim.events.windows import (
    area_of,
    columns_of,
    edges_of,
    intervals_of,
    most_intervals,
)
from fuseloom.dataflow.sim.observe import ACTIVITIES, BUSY
from tests.dataflow.sim.events.stores import random_store

WINDOWS = ((0, 700, 96), (13, 687, 50), (100, 101, 8), (300, 340, 1000), (0, 700, 1))


def test_edges_are_as_even_as_whole_cycles_allow() -> None:
    assert edges_of(10, 20, 4).tolist() == [10, 12, 15, 17, 20]
    assert edges_of(10, 13, 100).tolist() == [10, 11, 12, 13]
    assert edges_of(5, 9, 0).tolist() == [5, 9]
    assert edges_of(0, 1 << 45, 3)[-1] == 1 << 45


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("window", WINDOWS)
def test_columns_are_exact(seed: int, window: tuple[int, int, int], tmp_path: Path) -> None:
    store, activity = random_store(seed, tmp_path / "run.events")
    edges = edges_of(*window)
    columns = columns_of(store, edges)
    for kind in range(len(ACTIVITIES)):
        wanted = np.add.reduceat(activity[:, : window[1]] == kind, edges[:-1], axis=1, dtype=int)
        assert np.array_equal(columns[:, kind], wanted)
    assert (columns.sum(axis=1) == np.diff(edges)).all()
    some = columns_of(store, edges, [2, 0])
    assert np.array_equal(some, columns[[2, 0]])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("window", WINDOWS)
def test_intervals_are_whole_and_cover_the_window(
    seed: int, window: tuple[int, int, int], tmp_path: Path
) -> None:
    store, activity = random_store(seed, tmp_path / "run.events")
    start, stop, _ = window
    found = intervals_of(store, start, stop)
    assert len(found) <= most_intervals(store, start, stop)
    for node in range(store.nodes):
        own = found.node == node
        starts, stops, kinds = found.start[own], found.stop[own], found.activity[own]
        assert starts[0] <= start
        assert stops[-1] >= stop
        assert np.array_equal(starts[1:], stops[:-1])
        for since, until, kind in zip(starts, stops, kinds, strict=True):
            assert since < stop
            assert until > start
            assert (activity[node, since:until] == kind).all()
            if since > 0:
                assert activity[node, since - 1] != kind
            if until < store.cycles:
                assert activity[node, until] != kind


def test_figures_of_an_area(tmp_path: Path) -> None:
    store, activity = random_store(5, tmp_path / "run.events")
    area = area_of(store, 32, 672, [0, 3], columns=10)
    shares = (activity[[0, 3], 32:672] == BUSY).reshape(2, 10, 64).mean(axis=2)
    assert (area.cell, area.token_cell) == (64, 16)
    assert area.busy.least == shares.min()
    assert area.busy.most == shares.max()
    assert area.busy.mean == (activity[[0, 3], 32:672] == BUSY).mean()
    node, cycle = area.busy.most_at
    assert shares[[0, 3].index(node), (cycle - 32) // 64] == shares.max()
    put = store.tokens[[0, 3], 2:42]
    assert area.tokens is not None
    assert area.tokens.most == put.max() / 16
    assert area.tokens.least == put.min() / 16
    assert area.tokens.mean == pytest.approx(put.sum() / (2 * 640))
    assert (area.token_start, area.token_stop) == (32, 672)


def test_tokens_of_an_area_are_those_of_whole_bins(tmp_path: Path) -> None:
    store, _ = random_store(5, tmp_path / "run.events")
    area = area_of(store, 10, 60, [1])
    assert (area.token_start, area.token_stop) == (16, 48)
    assert area_of(store, 17, 31, [1]).tokens is None
    last = area_of(store, 680, 700, [1])
    assert (last.token_start, last.token_stop) == (688, 700)
    assert last.tokens is not None
    assert last.tokens.mean == store.tokens[1, -1] / 12
