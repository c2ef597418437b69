"""Arrays in the making: offsets hold once the array is built."""

from __future__ import annotations

import mmap
import resource
import sys
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.sim.compiled import pools
from fuseloom.dataflow.sim.compiled.arrays import GrowingArray
from fuseloom.dataflow.sim.compiled.pools import RESERVED, Pool, reserved


def test_pieces_lie_where_their_offsets_say() -> None:
    pool = Pool(np.int64)
    first = pool.add([1, 2, 3])
    room = pool.reserve(4)
    second = pool.add(np.array([[7, 8], [9, 10]]))
    array = pool.build(spare=5)
    assert (first, room, second) == (0, 3, 7)
    assert array[first : first + 3].tolist() == [1, 2, 3]
    assert array[second : second + 4].tolist() == [7, 8, 9, 10]
    assert array.size == 11 + 5
    assert array.dtype == np.int64


def test_aligned_offsets_are_multiples() -> None:
    pool = Pool(np.float32)
    pool.add([1.0])
    pool.align(8)
    assert pool.add([2.0]) == 8
    pool.align(8)
    assert pool.reserve(0) == 16
    pool.align(8)  # it is already
    assert pool.size == 16


def test_nothing_is_an_array_of_its_spare() -> None:
    assert Pool(np.int64).build().size == 0
    assert Pool(np.int64).build(3).size == 3


def test_numbers_take_the_type_of_the_pool() -> None:
    pool = Pool(np.float32)
    pool.add(np.array([1 / 3]))
    assert pool.build()[0] == np.float32(1 / 3)


def test_large_arrays_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = np.arange(1000.0, dtype=np.float32), np.arange(5.0, dtype=np.float32)
    monkeypatch.setattr(pools, "LARGE", large.nbytes)
    pool = pools.Pool(np.float32)
    begin = pool.add([7.0])
    where, there = pool.refer(large), pool.refer(small)
    wide = pool.refer(large.astype(np.float64))
    behind = pool.refer(large[::-1])
    place = pool.place
    assert place is not None
    assert place.ctypes.data + 4 * where == large.ctypes.data
    assert pool.size == 1 + 5 + 1000 + 1000
    region = GrowingArray(pool, lambda size: None)
    assert region.nbytes == 4 * pool.size
    offsets = np.array([begin, where, where + 999, there + 4, wide + 2, behind])
    assert region.at(offsets).tolist() == [7, 0, 999, 4, 2, 999]
    assert region.array is place
    more = region.extend(10_000_000)
    assert region.array is place
    region.array[more + 9_999_999] = 3
    assert region.at(np.array([where + 5, more + 9_999_999])).tolist() == [5, 3]


def test_without_address_space_all_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "LARGE", 8)
    monkeypatch.setattr(pools, "reserved", lambda dtype: None)
    pool = pools.Pool(np.int64)
    pool.add([9])
    assert pool.refer(np.arange(4)) == 1
    assert pool.build().tolist() == [9, 0, 1, 2, 3]


linux = pytest.mark.skipif(sys.platform != "linux", reason="address space is reserved on Linux")


@linux
def test_it_takes_memory_as_it_is_written_to() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = [reserved(np.int64) for _ in range(10)]
    for array in arrays:
        assert array is not None
        assert array.nbytes == RESERVED
        array[:5] = range(5)
        assert array[:7].tolist() == [0, 1, 2, 3, 4, 0, 0]
        array[len(array) - 1] = 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB


def test_where_it_is_refused_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    assert reserved(np.float32) is None
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "win32")
    assert reserved(np.float32) is None
