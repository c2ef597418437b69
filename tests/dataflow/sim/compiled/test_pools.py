"""Arrays in the making: offsets hold once the array is built."""

from __future__ import annotations

import numpy as np

from engine.dataflow.sim.compiled.pools import Pool


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
