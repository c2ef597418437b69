"""The reference simulator's queues (``docs/spec/comal.md`` §3) and the ideal memory, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.dram import Ideal, MemoryStats, Queues, build, controller
from fuseloom.dataflow.dram.state import LAST
from tests.dataflow.dram.driving import plain, run


def serve(*bundles: tuple[int, int, int, int], config: Queues | Ideal | None = None) -> list[int]:
    """Answers to bundles: cycle, port, words, write."""
    m = build(config or Queues(), 1e9, 64, 4)
    for k, (time, port, words, write) in enumerate(bundles):
        controller.push(m, time, port, 0, words, write, k)
    times = [0] * len(bundles)
    while count := controller.advance(m):
        for k in range(count):
            times[controller.answer_tag(m, k)] = int(controller.answer_time(m, k))
    return times


def test_an_unloaded_request_takes_19_cycles() -> None:
    # Seen at 1, starts at 2, answered 17 later.
    assert serve((0, 0, 1, 0)) == [19]
    assert serve((1000, 0, 1, 1)) == [1019]


def test_eight_words_meet_every_queue_once() -> None:
    assert serve((0, 0, 8, 0)) == [19]


def test_nine_words_meet_the_first_queue_again() -> None:
    # Offsets 0 1 3 6 2 7 5 4, then 4 + 8 = 4: that queue is free 2 cycles later.
    assert serve((0, 0, 9, 0)) == [21]


def test_a_batch_deals_one_sequence_over_readers_then_writers() -> None:
    # Readers' 2 words: offsets 0, 1.  The writer's 3: 1 + 2 = 3, 3 + 3 = 6, 6 + 4 = 2.
    # After 5 words: 2 + 5 = 7; the words of the next cycle: 7, then 7 + 1 = 0, free at 4 = 3 + 1.
    assert serve((0, 0, 3, 1), (0, 7, 2, 0), (1, 0, 2, 0)) == [19, 19, 4 + 17]
    # 16 words of one batch: every queue twice.  Port 0's 8 come first, whoever asked first.
    assert serve((0, 1, 8, 0), (0, 0, 8, 0), (0, 0, 1, 1)) == [21, 19, 23]


def test_an_answer_leads_to_no_earlier_batch() -> None:
    m = build(Queues(), 1e9, 2, 2)
    controller.push(m, 0, 0, 0, 1, 0, 0)
    controller.push(m, 18, 0, 0, 1, 0, 1)
    controller.push(m, 19, 0, 0, 1, 0, 2)
    assert controller.earliest(m) == 19
    # The bundle of 18 comes before any that the answer of 19 can cause; that of 19 may not.
    assert controller.advance(m) == 2
    assert controller.advance(m) == 1
    assert controller.answer_time(m, 0) == 38
    assert controller.advance(m) == 0


@pytest.mark.deep
def test_all_queues_busy_take_four_words_a_cycle() -> None:
    config = Queues()
    requests = np.zeros((8, 400, 4), np.int64)
    requests[:, :, 2] = 8
    m, _ = run(config, requests, outstanding=16)
    stats = MemoryStats.of(m, config, int(m[LAST]))
    assert stats.bytes == 8 * 400 * 8 * 4
    assert stats.requested == stats.bytes
    assert 0.95 < stats.share <= 1
    assert stats.peak == 16e9
    assert stats.hit_rate == 0


def test_queues_as_machine_code_are_the_same() -> None:
    rng = np.random.default_rng(0)
    requests = rng.integers(0, 20, (5, 80, 4))
    requests[:, :, 3] %= 2
    for outstanding in (1, 3):
        slow_m, slow = run(Queues(), requests, outstanding=outstanding, drive=plain)
        fast_m, fast = run(Queues(), requests, outstanding=outstanding)
        np.testing.assert_array_equal(slow, fast)
        np.testing.assert_array_equal(slow_m, fast_m)


def test_ideal_answers_everything_after_its_latency() -> None:
    config = Ideal(7)
    assert serve((0, 0, 1000, 0), (3, 1, 4, 1), config=config) == [7, 10]
    requests = np.zeros((2, 10, 4), np.int64)
    requests[:, :, 2] = 100
    m, answers = run(config, requests, outstanding=1)
    assert answers[1, :, 1].tolist() == [7 * k for k in range(1, 11)]
    stats = MemoryStats.of(m, config, 70)
    assert (stats.reads, stats.bytes, stats.read_latency) == (20, 2000, 7)
    assert stats.share == 0
    assert controller.min_latency(m) == 7
