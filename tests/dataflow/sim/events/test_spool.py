"""Waits on their way to a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.sim.events import spool as spools
from fuseloom.dataflow.sim.events.spool import WaitSpool
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.observe import INPUT, ROOM
from fuseloom.errors import SimulationError
from tests.dataflow.sim.events.stores import random_store


def test_what_touches_is_one_wait(tmp_path: Path) -> None:
    spool = WaitSpool(tmp_path / "run.events", 1)
    spool.add(*np.array([(0, INPUT, 2, 5), (0, INPUT, 5, 6), (0, ROOM, 6, 7)]).T)
    spool.add(*np.array([(0, ROOM, 7, 9), (0, INPUT, 9, 10), (0, INPUT, 11, 12)]).T)
    store = EventStore(spool.finish(np.array([15]), 20))
    starts, before = store.of(0, INPUT)
    assert starts.tolist() == [2, 9, 11]
    assert before.tolist() == [0, 4, 5, 6]
    starts, before = store.of(0, ROOM)
    assert starts.tolist() == [6]
    assert before.tolist() == [0, 3]
    assert store.waits == 4


def test_the_size_of_chunks_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = random_store(3, tmp_path / "whole.events")
    monkeypatch.setattr(spools, "CHUNK", 7)
    pieces, _ = random_store(3, tmp_path / "pieces.events")
    assert whole.waits > 50
    assert whole.path.read_bytes() == pieces.path.read_bytes()


def test_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    store, _ = random_store(1, tmp_path / "run.events")
    assert list(tmp_path.iterdir()) == [store.path]


def test_a_run_without_waits_has_a_file(tmp_path: Path) -> None:
    store = EventStore(WaitSpool(tmp_path / "run.events", 2).finish(np.array([4, 0]), 4))
    assert store.totals.tolist() == [[4, 0, 0, 0, 0], [0, 0, 0, 0, 4]]
    assert store.tokens.shape == (2, 0)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="nowhere"):
        WaitSpool(tmp_path / "nowhere" / "run.events", 1)


def test_waits_too_long_for_the_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=r"a wait of 549,755,813,888 cycles"):
        WaitSpool(tmp_path / "run.events", 1).add(*np.array([(0, INPUT, 0, 1 << 39)]).T)
