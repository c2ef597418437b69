"""Records of measured calls: what counts, and where the time of each comes from."""

from __future__ import annotations

from fuseloom.calls.measuring import TiledSchedule, measure
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.calls.record import fused_record, whole_record


def test_fused_and_whole_calls() -> None:
    case = PIPELINES["blur"].make({"h": 16, "w": 8})
    (made,) = measure(case, "n", [TiledSchedule(8, (1,))], rounds=1)
    fused, whole = fused_record(made, "blur"), whole_record(made, "blur")
    assert (fused.schedule, whole.schedule) == ("tiles of 8, breaks before 1", "whole calls")
    assert fused.seconds == made.timings.fused
    assert whole.seconds == made.timings.unfused_preallocated
    assert fused.ok
    assert whole.ok
    image, rows, result = 18 * 10 * 4, 18 * 8 * 4, 16 * 8 * 4
    assert whole.bytes == image + 2 * rows + result
    assert whole.flops == 18 * 8 + 16 * 8


def test_a_wrong_result_shows() -> None:
    case = PIPELINES["add6"].make({"n": 16})
    case.expected[3] += 1
    (made,) = measure(case, "n", [TiledSchedule(8)], rounds=1)
    assert not fused_record(made, "add6").ok
