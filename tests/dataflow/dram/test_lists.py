"""Clocks, lists and answers of the controller, on the array they live in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fuseloom.dataflow.dram import build, ddr4_3200, hbm2
from fuseloom.dataflow.dram.lists import (
    answer,
    clock_of,
    cycle_of,
    drop_first,
    finish_access,
    free_node,
    insert,
    log2,
    new_node,
    row_bit,
    want,
)
from fuseloom.dataflow.dram.state import (
    ANSWERS,
    AT_ANSWERS,
    AT_CHANNELS,
    BACK,
    BINS,
    C_BANKS,
    C_HEAD,
    DONE_READS,
    DONE_WRITES,
    EARLIEST,
    FREE_SLOT,
    FRONT,
    HISTOGRAM,
    LAST,
    LATENCY_READS,
    N_KEY,
    N_NEXT,
    Q_ROWS,
    S_ISSUE,
    S_LEFT,
    S_NEXT,
    S_TAG,
    WANTED,
)


def memory(config=None, clock_hz: float = 1e9) -> list[int]:
    return build(config or hbm2(), clock_hz, ports=2, outstanding=4).tolist()


@pytest.mark.parametrize("clock_hz", [1e9, 1.6e9, 0.7e9, 2.3e9])
def test_clocks_are_the_first_that_are_late_enough(clock_hz: float) -> None:
    """DDR4 runs at 625 ps; there and back, never early and never a whole clock late."""
    m = memory(ddr4_3200(), clock_hz)
    cycle_ps, tck_ps = round(1e12 / clock_hz), 625
    for cycle in (0, 1, 2, 17, 1000):
        clock = clock_of(m, cycle)
        assert clock == math.ceil((cycle + m[FRONT]) * cycle_ps / tck_ps)
        assert cycle_of(m, clock) == math.ceil(clock * tck_ps / cycle_ps) + m[BACK]
        assert cycle_of(m, clock) >= cycle + m[FRONT] + m[BACK]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 1023, 1024, (1 << 40) + 1])
def test_logarithms_are_floored(number: int) -> None:
    assert log2(number) == number.bit_length() - 1


def test_nodes_are_used_again_in_reverse() -> None:
    m = memory()
    taken = [new_node(m) for _ in range(5)]
    assert len(set(taken)) == 5
    for node in taken:
        free_node(m, node)
    assert [new_node(m) for _ in range(5)] == taken[::-1]


def test_a_channels_list_is_in_order_of_keys_and_equal_keys_of_arrival() -> None:
    m = memory()
    c = m[AT_CHANNELS]
    nodes = []
    for key in (5, 2, 9, 5, 2):
        node = new_node(m)
        m[node + N_KEY] = key
        insert(m, c, node)
        nodes.append(node)
    assert listed(m, c) == [nodes[k] for k in (1, 4, 0, 3, 2)]
    drop_first(m, c)
    assert listed(m, c) == [nodes[k] for k in (4, 0, 3, 2)]


def listed(m: list[int], c: int) -> list[int]:
    found, node = [], m[c + C_HEAD]
    while node != c:
        found.append(node)
        node = m[node + N_NEXT]
    return found


def test_rows_wanted_once_and_by_several() -> None:
    m = memory()
    queue = m[AT_CHANNELS] + C_BANKS
    want(m, queue, 3)
    assert m[queue + Q_ROWS] == row_bit(3)
    want(m, queue, 4)
    want(m, queue, 3)
    assert m[queue + Q_ROWS] == row_bit(3) | row_bit(4) | row_bit(3) << WANTED
    want(m, queue, 3 + 32)  # shares the bit: errs on the side of looking
    assert m[queue + Q_ROWS] == row_bit(3) | row_bit(4) | row_bit(3) << WANTED


def test_every_row_has_a_bit_within_its_half() -> None:
    assert all(0 < row_bit(row) < 1 << WANTED for row in range(100))


def test_answers_are_listed_counted_and_their_slots_freed() -> None:
    m = memory()
    read = m[FREE_SLOT]
    m[FREE_SLOT] = m[read + S_NEXT]
    write = m[FREE_SLOT]
    m[FREE_SLOT] = m[write + S_NEXT]
    m[read + S_TAG], m[read + S_ISSUE] = 7, 2 * 10
    m[write + S_TAG], m[write + S_ISSUE] = 8, 2 * 12 + 1
    answer(m, read, 30)
    answer(m, write, 25)
    at = m[AT_ANSWERS]
    assert m[at : at + 2 * m[ANSWERS]] == [7, 30, 8, 25]
    assert (m[EARLIEST], m[LAST]) == (25, 30)
    assert (m[DONE_READS], m[DONE_WRITES]) == (1, 1)
    assert (m[LATENCY_READS], m[LATENCY_READS + 1]) == (20, 13)
    assert m[HISTOGRAM + 4] == 1  # 20 is from 16 on
    assert m[HISTOGRAM + BINS + 3] == 1  # 13 is from 8 on
    assert m[FREE_SLOT] == write


def test_a_request_is_answered_with_its_last_access_at_the_latest_clock() -> None:
    m = memory()
    slot = m[FREE_SLOT]
    m[FREE_SLOT] = m[slot + S_NEXT]
    m[slot + S_TAG], m[slot + S_ISSUE], m[slot + S_LEFT] = 5, 0, 3
    for end in (40, 90, 60):
        assert m[ANSWERS] == 0
        finish_access(m, slot, end)
    assert m[ANSWERS] == 1
    assert m[m[AT_ANSWERS] + 1] == cycle_of(m, 90)


def test_lists_work_on_arrays_as_well() -> None:
    """The same functions run on numpy's integers, where the compiled engine builds them."""
    m = build(hbm2(), 1e9, ports=2, outstanding=4)
    node = new_node(m)
    assert isinstance(m, np.ndarray)
    m[node + N_KEY] = 3
    insert(m, int(m[AT_CHANNELS]), node)
    assert listed(m, int(m[AT_CHANNELS])) == [node]
