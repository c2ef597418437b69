"""Work in shares: one result of what has come, whole only once every share is."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import psutil
import pytest

from fuseloom_workbench.base.parts import SplitWork
from fuseloom_workbench.service.later import SplitTask
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.views import LATER
from tests.waiting import until


@dataclass(frozen=True)
class Numbers:
    found: tuple[int, ...]
    whole: bool


def merge(results: Sequence[Numbers], whole: bool) -> Numbers:
    return Numbers(tuple(sorted(n for result in results for n in result.found)), whole)


def counting(*numbers: int, fails: bool = False) -> Callable[[], Iterator[Numbers]]:
    def work() -> Iterator[Numbers]:
        for last in range(1, len(numbers) + 1):
            yield Numbers(numbers[:last], whole=False)
        if fails:
            raise ValueError
        yield Numbers(numbers, whole=True)

    return work


def sleeping() -> Iterator[Numbers]:
    yield Numbers((os.getpid(),), whole=False)
    signal.pause()


def begun(*works: Callable[[], Iterator[Numbers]]) -> SplitTask:
    return SplitTask("numbers", works, 10, 0.0, merge)


def results(task: SplitTask) -> Iterator[Numbers]:
    """Each result as it comes."""
    going = True
    while going:
        ready, _, _ = select.select(task.running, [], [])
        going = task.take(ready[0])
        yield task.result


def test_shares_come_as_one_result():
    task = begun(counting(0, 2, 4), counting(1, 3))
    assert task.result is None
    every = list(results(task))
    assert every[-1] == Numbers((0, 1, 2, 3, 4), whole=True)
    assert not every[0].whole
    assert len(every[0].found) == 1
    assert all(set(a.found) <= set(b.found) for a, b in pairwise(every))


def test_what_a_share_did_not_find_is_missing():
    *_, last = results(begun(counting(0, 2, fails=True), counting(1)))
    assert last == Numbers((0, 1, 2), whole=False)


def test_nothing_is_left_of_work_that_ends_early():
    task = begun(sleeping, sleeping)
    while len(pids := getattr(task.result, "found", ())) < 2:
        ready, _, _ = select.select(task.running, [], [])
        task.take(ready[0])
    task.end()
    until(lambda: not any(map(psutil.pid_exists, pids)), "both are gone")


@pytest.mark.parametrize("name", [name for name, part in LATER.items() if part.split])
@pytest.mark.parametrize("count", [2, 3])
def test_parts_in_shares_are_the_same(name, count):
    session = Session("gcn", "karate")
    carry_out(session, "map_pairs", [True])
    part = LATER[name]
    *_, alone = part.work(session, lambda text, form: "")
    split: SplitWork = part.split
    shares = []
    for number in range(count):
        *_, last = split.share(number, count)(session, lambda text, form: "")
        shares.append(last)
    assert split.merge(shares, True) == alone
    assert not split.merge(shares[:1], False).whole
