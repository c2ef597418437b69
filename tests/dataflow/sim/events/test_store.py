"""Waits of a run, read from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.sim.events.spool import REASONS
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.observe import ACTIVITIES
from fuseloom.errors import SimulationError
from tests.dataflow.sim.events.stores import random_store


@pytest.mark.parametrize("seed", range(8))
def test_cycles_until_every_clock_are_exact(seed: int, tmp_path: Path) -> None:
    store, activity = random_store(seed, tmp_path / "run.events")
    clocks = np.arange(store.cycles + 1)
    for node in range(store.nodes):
        spent = store.spent(node, clocks)
        for kind in range(len(ACTIVITIES)):
            assert np.array_equal(spent[kind, 1:], np.cumsum(activity[node] == kind))
    assert (store.totals.sum(axis=1) == store.cycles).all()


def test_lengths_are_differences_of_sums(tmp_path: Path) -> None:
    store, activity = random_store(2, tmp_path / "run.events")
    for node in range(store.nodes):
        for reason in REASONS:
            starts, before = store.of(node, reason)
            assert len(before) == len(starts) + 1
            for start, length in zip(starts, np.diff(before), strict=True):
                assert (activity[node, start : start + length] == reason).all()
                assert activity[node, start - 1] != reason or start == 0


def test_a_file_that_is_gone_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="run again with events"):
        EventStore(tmp_path / "run.events")


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.events"
    path.write_bytes(b"something else " * 20)
    with pytest.raises(SimulationError, match="holds no events"):
        EventStore(path)
    path.write_bytes(b"")
    with pytest.raises(SimulationError, match="holds no events"):
        EventStore(path)
