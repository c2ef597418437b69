"""A worker process under a long load: right results, flat memory, nothing left behind.

The long run takes half an hour, or ``FUSELOOM_SOAK_MINUTES``::

    pytest -m fuzz tests/property/test_soak.py -s
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

import pytest

from tests.property.soaking import Job, Soak, agree, expected, outcome
from tests.tiers import counts

SEED = 20_261_121
MINUTES = float(os.environ.get("FUSELOOM_SOAK_MINUTES", "30"))
FLAT = 1.05


def soak(seed: int, more: Callable[[Soak], bool]) -> Soak:
    """Jobs as long as there is to be more."""
    course = Soak(random.Random(seed))
    said = 0.0
    try:
        while more(course):
            course.step()
            if time.monotonic() - said > 60:
                said = time.monotonic()
                print(course, flush=True)
    finally:
        course.end()
    print(course, flush=True)
    return course


@counts(small=35, deep=70)
def test_a_short_one(count: int) -> None:
    """Every kind of job, and no process is left behind."""
    course = Soak(random.Random(SEED))
    try:
        for _ in range(count):
            course.step()
        course.product(Job(1, 16, 700))
        course.cancel(Job(2, 4, 4_000, 0.3))
        course.kill(Job(3, None, 20_000))
    finally:
        course.end()
    print(course)
    assert course.graphs > 0.8 * count
    assert course.refused
    assert course.products
    assert course.cancelled
    assert course.killed


def test_a_difference_is_found() -> None:
    """The comparison is not blind: another machine's clocks, another product's numbers."""
    job = Job(SEED + 1, None)
    right = expected(job)
    assert agree(outcome(job), right)
    assert "counts" in right
    clocks = right["counts"]["clocks"]
    wrong = {**right, "counts": {**right["counts"], "clocks": [clocks[0] + 1, *clocks[1:]]}}
    assert not agree(outcome(job), wrong)
    product = Job(5, None, 50)
    assert agree(outcome(product), expected(product))
    assert not agree(outcome(product), expected(Job(6, None, 50)))


@pytest.mark.fuzz
def test_half_an_hour() -> None:
    end = time.monotonic() + 60 * MINUTES
    course = soak(int(time.time()), lambda _: time.monotonic() < end)
    worker, beside = course.growth()
    print(f"memory, last third over second: worker {worker:.3f}, beside it {beside:.3f}")
    assert worker <= FLAT
    assert beside <= FLAT
    assert min(course.graphs, course.products, course.cancelled, course.killed) > 0
