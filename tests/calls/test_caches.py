"""Caches of the machine, and bytes that schedules move through them, counted by hand."""

from __future__ import annotations

import numpy as np

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.caches import cache_sizes, level_traffic
from fuseloom.calls.commands import BreakBefore
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.fused import FusedFunction

from .programs import EXP

A, B, C = (DataHandle(name, Matrix()) for name in "abc")
GIVEN = {"a": np.zeros((12, 10)), "c": np.zeros((12, 10))}
WHOLE = 12 * 10 * 8


def test_caches_are_those_of_data() -> None:
    assert all(size >= 1024 for size in cache_sizes())


def test_intermediates_of_tiles_stay_in_a_cache() -> None:
    counts = FusedFunction([EXP(A, B), EXP(B, C)]).counts(**GIVEN, tr=4)
    tile = 4 * 10 * 8
    assert counts.whole_bytes == 2 * WHOLE
    assert counts.tile_bytes == 2 * WHOLE
    assert counts.working_set == 3 * tile
    for size, level in ((3 * tile, 0), (3 * tile - 1, 1)):
        traffic = level_traffic(counts, (size, 10 * tile))
        assert [x.bytes for x in traffic][level] == 2 * WHOLE
        assert traffic[-1].bytes == 2 * WHOLE
    assert [x.bytes for x in level_traffic(counts, (8,))] == [0, 4 * WHOLE]


def test_what_is_kept_whole_comes_from_memory() -> None:
    counts = FusedFunction([EXP(A, B), EXP(B, C)], [BreakBefore(1)]).counts(**GIVEN, tr=4, b_tr=3)
    assert (counts.tile_bytes, counts.whole_bytes) == (0, 4 * WHOLE)
    assert counts.working_set == 2 * 4 * 10 * 8
