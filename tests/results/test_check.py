"""The verdict on what a run wrote, whatever it is compared with."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import RecordError
from fuseloom.results.check import Against, Check, relative_error

INFINITE = float("inf")
CHECKS = [
    Check(3e-7, True),
    Check(0.5, True),
    Check(0.0, False),
    Check(0.0, True, tolerance=0.0),
    Check(0.0, against=Against.EXPECTED, shape=(2, 3), expected_shape=(2, 3)),
    Check(INFINITE, against=Against.EXPECTED, shape=(), expected_shape=(2,)),
    Check(INFINITE, True),
    Check(3e-7, True, None, share=0.25),
    Check(3e-3, True, None, share=0.5, undetermined=2),
    Check(3e-7, True, None, share=1.5),
    Check(3e-7, True, None, share=0.25, rows=(64, 1000)),
    Check(0.0, True, None, share=0.0, rows=(0, 3), unchecked=("T (too large)",)),
    Check(0.5, False, wrong="y[1] is stored, and should not be"),
]


@pytest.mark.parametrize(
    ("check", "text"),
    list(zip(
        CHECKS,
        [
            "matches the dense reference (largest relative error 3.0e-07)",
            "MISMATCH: relative error 5.0e-01 exceeds 1e-05",
            "MISMATCH: stored coordinates differ from the dense reference",
            "matches the dense reference (largest relative error 0.0e+00)",
            "matches the expected values (largest relative error 0.0e+00)",
            "MISMATCH: shape (), expected (2,)",
            "MISMATCH: relative error inf exceeds 1e-05",
            "matches the dense reference (largest relative error 3.0e-07, 25% of what rounding "
            "allows)",
            "matches the dense reference (largest relative error 3.0e-03, 50% of what rounding "
            "allows; 2 elements have no certain digit in float32)",
            "MISMATCH: an element is 1.5 times as far off as rounding allows (largest relative "
            "error 3.0e-07)",
            "matches the dense reference in 64 of 1,000 rows, drawn at random (largest relative "
            "error 3.0e-07, 25% of what rounding allows)",
            "not compared; not checked: T (too large)",
            "MISMATCH: stored coordinates differ from the dense reference; y[1] is stored, and "
            "should not be",
        ],
        strict=True,
    )),
)  # fmt: skip
def test_what_a_check_says(check: Check, text: str) -> None:
    assert str(check) == text
    assert check.ok is not text.startswith("MISMATCH")


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_it_reads_back_what_it_wrote(check: Check) -> None:
    text = json.dumps(check.to_dict(), allow_nan=False)
    assert Check.from_dict(json.loads(text)) == check


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ok": False}, "check.ok is False, its figures say True"),
        ({"ok": 1}, "check.ok is 1 (hint: true or false)"),
        ({"max_rel_error": -1.0}, "check.max_rel_error is -1.0"),
        ({"max_rel_error": INFINITE}, "check.max_rel_error is inf"),
        ({"max_rel_error": None}, "its figures say False"),
        ({"max_rel_error": "0"}, "check.max_rel_error is '0' (hint: a number that"),
        ({"tolerance": -1}, "check.tolerance is -1"),
        ({"share": 1.5}, "its figures say False"),
        ({"undetermined": -1}, "check.undetermined is -1"),
        ({"rows": [1]}, "check.rows is list (hint: a list of 2)"),
        ({"unchecked": "T"}, "check.unchecked is 'T'"),
        ({"against": "the stars"}, "check.against is 'the stars'"),
        ({"pattern_equal": "yes"}, "check.pattern_equal is 'yes'"),
        ({"shape": [2, -1]}, "check.shape[1] is -1"),
        ({"shape": [True]}, "check.shape[0] is True"),
        ({"shape": "2x3"}, "check.shape is '2x3' (hint: a list)"),
        ({"message": None}, "check.message is None"),
        ({"mood": "good"}, "check has an unknown 'mood'"),
    ],
)
def test_what_is_no_check_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as refused:
        Check.from_dict({**Check(3e-7, True).to_dict(), **change})
    assert message in str(refused.value)


def test_every_field_of_a_check_is_needed() -> None:
    for name in Check(0.0).to_dict():
        data = Check(0.0).to_dict()
        del data[name]
        with pytest.raises(RecordError, match=f"check has no '{name}'"):
            Check.from_dict(data)


def test_relative_errors() -> None:
    a = np.array([1.0, -4.0, np.inf])
    assert relative_error(a, a) == 0
    assert relative_error(a + np.array([0, 1, 0]), a) == 0.25
    assert relative_error(np.array([1.0, -4.0, 0.0]), a) == INFINITE
    assert relative_error(np.zeros(2), np.zeros(2)) == 0
    assert relative_error(np.full(2, np.nan), np.full(2, np.inf)) == 0  # nothing to compare
