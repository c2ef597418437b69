"""Traffic through a buffer: by hand, and by bounds that hold for every buffer."""

from __future__ import annotations

import pytest

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import Convolution, conv2d, dense, matmul
from fuseloom.access.mapping import map_term
from fuseloom.access.memory import BufferedMemory, placed_calls, schedule_of, traffic_of
from fuseloom.access.terms import Term
from fuseloom.errors import ProgramError

CASES = [
    (matmul(32, 32, 32), (16, 16)),
    (conv2d(Convolution(1, 4, 10, 10, 12, (3, 3), padding=(1, 1))), (16, 8)),
    (dense(1, 100, 60), (16, 16)),
]


def test_a_buffer_that_holds_all_moves_everything_once() -> None:
    mapped = map_term(matmul(32, 32, 32), SystolicArray(16, 16))
    traffic = traffic_of(placed_calls(mapped.after), BufferedMemory(word_bytes=1))
    assert (traffic.read, traffic.written) == (2 * 32 * 32, 32 * 32)


def test_a_small_buffer_reads_again() -> None:
    """Four calls, 32 vectors of 16 each: both blocks of columns want both halves of the vectors."""
    mapped = map_term(matmul(32, 32, 32), SystolicArray(16, 16))
    calls = placed_calls(mapped.after)
    assert len({placed.result for placed in calls}) == 2
    assert len({placed.vectors for placed in calls}) == 2
    none = traffic_of(calls, BufferedMemory(buffer=1, word_bytes=1))
    assert none.read == 4 * (32 * 16 + 16 * 16) + 2 * 32 * 16
    assert none.written == 4 * 32 * 16


@pytest.mark.parametrize(("term", "array"), CASES)
def test_a_larger_buffer_and_bandwidth_never_cost_more(term: Term, array: tuple[int, int]) -> None:
    calls = placed_calls(map_term(term, SystolicArray(*array)).after)
    assert [placed.call for placed in calls]
    least = None
    for buffer in (1, 2**30):
        for bandwidth in (1.0, 1e9):
            one, two = (
                traffic_of(calls, BufferedMemory(bandwidth, buffer, double_buffered=double))
                for double in (False, True)
            )
            assert one.compute <= two.cycles <= one.cycles
            assert one.cycles == one.compute + one.stalled
            least = two if least is None else least
            assert two.cycles <= least.cycles
            assert two.read + two.written <= least.read + least.written


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize(("term", "array"), CASES)
def test_calls_wait_for_their_transfers(term: Term, array: tuple[int, int], double: bool) -> None:
    memory = BufferedMemory(8, 4096, double_buffered=double)
    made = schedule_of(placed_calls(map_term(term, SystolicArray(*array)).after), memory)
    for timed in made.calls:
        assert timed.transfer_begins <= timed.transfer_ends <= timed.begins
        assert timed.ends - timed.begins == timed.call.cycles
    for before, after in zip(made.calls, made.calls[1:], strict=False):
        assert after.begins == max(before.ends, after.transfer_ends)
        assert after.transfer_begins == (before.begins if double else before.ends)
    moved = sum(timed.transfer_ends - timed.transfer_begins for timed in made.calls)
    last = made.traffic.cycles - made.calls[-1].ends
    assert (moved + last) * memory.bandwidth >= made.traffic.read + made.traffic.written


def test_no_calls_move_nothing() -> None:
    traffic = traffic_of((), BufferedMemory())
    assert (traffic.read, traffic.written, traffic.cycles) == (0, 0, 0)


@pytest.mark.parametrize("wrong", [{"bandwidth": 0}, {"buffer": -1}, {"word_bytes": 0}])
def test_what_is_no_memory_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ProgramError, match="positive"):
        BufferedMemory(**wrong)
