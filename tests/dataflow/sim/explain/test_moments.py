"""The log of a stream, against the same questions answered token by token."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim.explain.moments import (
    Moments,
    StreamCauses,
    aligned,
    clock_of,
    happened,
    one_put,
    tokens_until,
)
from fuseloom.dataflow.sim.observe import Events, StreamLog

SEEDS = range(12)
NOTHING = Events.of([])


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def some_events(seed: int, first: int = 0, steps: tuple[int, ...] = (0, 1)) -> Events:
    """Runs of events one after another, in order."""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    firsts, counts, clocks, chosen = [], [], [], []
    token, clock = first, 0
    for _ in range(int(rng.integers(1, 6))):
        count, step = int(rng.integers(1, 5)), int(rng.choice(steps))
        clock += int(rng.integers(1, 4))
        firsts.append(token)
        counts.append(count)
        clocks.append(clock)
        chosen.append(step)
        token += count
        clock += (count - 1) * step
    return Events(*(np.array(x, np.int64) for x in (firsts, counts, clocks, chosen)))


def by_token(events: Events) -> dict[int, int]:
    """Clock of each token."""
    start = int(events.first[0]) if len(events.first) else 0
    return dict(enumerate(events.expanded().tolist(), start))


@pytest.mark.parametrize("seed", SEEDS)
def test_clocks_of_tokens(seed: int) -> None:
    events = some_events(seed, first=seed, steps=(0, 1, 3))
    for token, clock in by_token(events).items():
        assert clock_of(events, token) == clock


@pytest.mark.parametrize("seed", SEEDS)
def test_what_happened_at_a_clock_and_until_it(seed: int) -> None:
    events = some_events(seed, first=2, steps=(0, 1, 3))
    clocks = np.arange(-1, 40)
    known = by_token(events)
    assert happened(events, clocks).tolist() == [c in known.values() for c in clocks.tolist()]
    # counted from token 0: those before the log's first lie before all of its clocks
    expected = [2 + sum(at <= c for at in known.values()) for c in clocks.tolist()]
    assert tokens_until(events, clocks).tolist() == expected


def test_nothing_ever_happened_in_an_empty_log() -> None:
    assert not happened(NOTHING, np.arange(3)).any()
    assert not tokens_until(NOTHING, np.arange(3)).any()
    assert not len(aligned(NOTHING, some_events(1)).first)
    assert not len(aligned(some_events(1), NOTHING).first)


@pytest.mark.parametrize("seed", SEEDS)
def test_aligned_pairs_the_clocks_of_tokens_that_have_both(seed: int) -> None:
    one, other = some_events(seed), some_events(100 + seed, first=seed % 3, steps=(0, 1, 2))
    both = aligned(one, other)
    made = {}
    for k in range(len(both.first)):
        for n in range(both.count[k]):
            a = both.a[k] + n * both.a_step[k]
            made[int(both.first[k] + n)] = int(a), int(both.b[k] + n * both.b_step[k])
    a, b = by_token(one), by_token(other)
    assert made == {token: (a[token], b[token]) for token in sorted(a.keys() & b.keys())}
    long = both.count > 1  # what the step of a single token is does not matter
    assert set(both.a_step[long].tolist()) | set(both.b_step[long].tolist()) <= {0, 1}


def test_the_last_moment_before_a_clock_and_up_to_a_token() -> None:
    moments = Moments(ints(3, 10), ints(6, 10), ints(0, 8))
    assert moments.last(2) is None
    assert moments.last(5) == (5, 2)
    assert moments.last(8) == (6, 3)  # the first ends there
    assert moments.last(99) == (10, 8)
    assert moments.last(99, token=7) == (6, 7 - 4)
    assert moments.last(99, token=1) == (4, 1)
    assert moments.last(5, token=-1) is None
    assert moments.where(np.array([False, True])).last(9) is None


def log(
    puts: list[int], takes: list[int], late: bool = False, latency: int = 1,
    capacity: int | None = None,
) -> StreamCauses:  # fmt: skip
    marks = np.full(len(puts), late)
    return StreamCauses(
        StreamLog(Events.of(puts), Events.of(takes), marks, latency, capacity, False)
    )


def ends(moments: Moments) -> list[tuple[int, int]]:
    """Clock and token of each moment."""
    return [
        (start + k, token + k)
        for start, stop, token in zip(
            moments.start.tolist(), moments.stop.tolist(), moments.token.tolist(), strict=True
        )
        for k in range(stop - start + 1)
    ]


def test_a_token_taken_as_it_comes_was_waited_for_if_the_reader_was_free() -> None:
    stream = log(puts=[3, 7, 8], takes=[3, 7, 12])
    assert ends(stream.arrivals) == [(3, 0), (7, 1)]


def test_heads_that_lay_there_were_looked_at_when_they_came() -> None:
    stream = log(puts=[3, 7, 20], takes=[5, 9])
    assert ends(stream.peeks) == [(3, 0), (7, 1), (20, 2)]  # the last was never taken
    assert ends(log(puts=[3, 4], takes=[6, 7]).peeks) == [(3, 0)]  # 4 came behind another


def test_a_full_channel_releases_the_put_one_cycle_after_the_take() -> None:
    """One slot: the second token is put at 10, when the first one was taken at 9."""
    stream = log(puts=[1, 11, 13], takes=[9, 11, 14], capacity=1)
    assert stream.freed is not None
    assert by_token(stream.freed) == {1: 10, 2: 12, 3: 15}
    assert stream.puts.expanded().tolist() == [0, 10, 12]
    assert ends(stream.releases) == [(10, 1), (12, 2)]
    assert ends(log([1, 11], [9, 11]).releases) == []  # without a limit nobody waits for room


def test_the_origin_of_a_late_token_is_its_operands() -> None:
    """Latency 5: where the wait for room is shorter, it hides behind the latency."""
    stream = log(puts=[6, 9], takes=[2, 9], late=True, latency=5, capacity=1)
    assert stream.earliest.expanded().tolist() == [1, 4]
    assert stream.put_clock(0) == 1
    assert stream.origin(0) == 1
    assert stream.put_clock(1) == 4
    hidden = log(puts=[6, 9], takes=[5, 9], late=True, latency=5, capacity=1)
    assert hidden.put_clock(1) == 6  # the slot came later than the operands
    assert hidden.origin(1) == 4
    waited = log(puts=[6, 9], takes=[7, 9], late=True, latency=5, capacity=1)
    assert waited.put_clock(1) == 8
    assert waited.origin(1) == 8  # a cycle before the timestamp: the wait was longer


def test_one_put_between_the_arrival_of_a_head_and_its_take() -> None:
    heads = Moments(ints(5, 10), ints(5, 10), ints(0, 1))
    takes = Events.of([8, 20])
    assert one_put(Events.of([6, 12]), heads, takes).tolist() == [True, True]
    assert one_put(Events.of([6, 7, 12]), heads, takes).tolist() == [False, True]
    assert one_put(Events.of([1, 12]), heads, takes).tolist() == [False, True]
    assert one_put(NOTHING, heads, takes).all()
