"""The session worker's view of the run store, if the server keeps runs.

The session worker itself only asks the system, now and then, whether the store's files have
changed.  It is read by a child that ends right after, and what the estimate says of its runs comes
from another one: neither a large store nor a disk that does not answer keeps the page waiting.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from functools import partial

from fuseloom_workbench.service.later import BackgroundTask
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.shared import (
    LATEST,
    EstimatedSchedules,
    StoredRuns,
    judge,
    look,
    missing,
)

POLL = 1.0
"""Seconds between two looks at a store that changes."""
SHARE = 20.0
"""By how many times the CPU time of a look the next one waits: large stores are read less often."""
AGAIN = 5.0
"""Seconds until what could not be read is tried again."""
Stamp = tuple[tuple[int, int, int] | None, ...]


def stamp(path: str) -> Stamp:
    """Return a value that differs once a store was written: its files' places, sizes and times."""
    return _file(path, 0), _file(f"{path}-wal", 1)


def _file(path: str, least: int) -> tuple[int, int, int] | None:
    with contextlib.suppress(OSError):
        found = os.stat(path)
        if found.st_size >= least:  # whoever opens a store makes an empty file beside it
            return found.st_ino, found.st_size, found.st_mtime_ns
    return None


class Sharing:
    """The run store, as a session worker sees it.

    Parameters
    ----------
    seconds : float
        CPU time that a look, or estimating what it found, may take.
    """

    def __init__(self, session: Session, path: str, seconds: float) -> None:
        self.session = session
        self.path = path
        self.seconds = seconds
        self._looking: BackgroundTask | None = None
        self._judging: BackgroundTask | None = None
        self._problem = ""  # of the last whole look
        self._seen: Stamp | None = None  # the files that it has read
        self._now: Stamp | None = None  # those that the look under way reads, if it is a whole one
        self._asked = ""  # the configuration of the last look
        self.due = 0.0
        self.began = 0.0
        self._tried: set[str] = set()
        self._told = ""

    @property
    def works(self) -> list[BackgroundTask]:
        """The tasks that are under way, to wait for."""
        return [work for work in (self._looking, self._judging) if work is not None]

    def begin(self) -> None:
        """Look for new runs; called whenever the session worker has nothing else to do."""
        built = self.session.built
        if self._looking is not None and self._looking.key != built.problem:
            self._end_look()
        if self._judging is not None and self._judging.key != built.problem:
            self._judging.end()
            self._judging = None
        if self._looking is not None:
            return
        elsewhere, moved = self._problem != built.problem, self._asked != built.configuration
        if not (elsewhere or moved or time.monotonic() >= self.due):
            return
        now = stamp(self.path)
        new = elsewhere or now != self._seen
        whole = new and (elsewhere or time.monotonic() >= self.due)
        self._asked, self.began = built.configuration, time.monotonic()
        if not whole and not (moved and self._may_be_there(new)):
            self.due = max(self.due, self.began + POLL)
            return
        if whole:
            self._problem, self._now = built.problem, now
        else:
            self._now = None
        before = self.session.shared
        self._looking = BackgroundTask(
            built.problem,
            lambda: iter([look(built, self.path, before, whole=whole)]),
            self.seconds,
        )

    def _may_be_there(self, new: bool) -> bool:
        """Return whether the design's own run may be in the store, though none is known."""
        every = self.session.shared.total <= LATEST
        return self.session.record is None and (new or not every)

    def _end_look(self) -> None:
        assert self._looking is not None
        self._looking.end()
        self._looking = None

    def take(self, work: BackgroundTask) -> tuple[bool, str]:
        """Take what a child has found.

        Returns
        -------
        bool, str
            Whether there is something new to show; what is new to the server's log.
        """
        if work is self._judging:
            return self._take_judged(work), ""
        if work.take():  # it will say that it has ended
            return False, ""
        self._looking = None
        found = work.result if isinstance(work.result, StoredRuns) else self._unread()
        pause = AGAIN if found.reason else max(POLL, SHARE * work.cpu_seconds)
        self.due = time.monotonic() + pause
        if self._now is not None:
            self._seen = None if found.reason else self._now
        new = found.problem == self.session.built.problem and found != self.session.shared
        self.session.take_in(found)
        self._judge()
        reason = found.reason if found.reason != self._told else ""
        self._told = found.reason
        return new, reason

    def _unread(self) -> StoredRuns:
        """The look was ended: it took more than it may, or failed."""
        told = "Kept runs are not read: looking for them took too long, or failed"
        before, problem = self.session.shared, self.session.built.problem
        known = before if before.problem == problem else StoredRuns(problem)
        return StoredRuns(problem, known.data, known.runs, known.total, told, told)

    def _judge(self) -> None:
        """Have what was found named and estimated, each run once."""
        session = self.session
        if self._judging is not None or session.shared.problem != session.built.problem:
            return
        fresh = session.judged.problem != session.built.problem
        if fresh:
            self._tried.clear()
        lacking = {run.key for run in missing(session.shared, session.judged)} - self._tried
        if not session.shared.runs or not (fresh or lacking):
            return
        self._tried |= lacking
        work = partial(_judged, session, lacking)
        self._judging = BackgroundTask(session.built.problem, work, self.seconds)

    def _take_judged(self, work: BackgroundTask) -> bool:
        going = work.take()
        if not going:
            self._judging = None
            if not isinstance(
                work.result, EstimatedSchedules
            ):  # it was ended before it said a word
                work.result = EstimatedSchedules(self.session.built.problem)
        found = work.result
        new = found.problem == self.session.built.problem and found != self.session.judged
        if new:
            self.session.judged = found
        if not going:
            self._judge()  # what came meanwhile
        return new


def _judged(session: Session, lacking: set[str]) -> Iterator[EstimatedSchedules]:
    runs = tuple(run for run in session.shared.runs if run.key in lacking)
    shared = StoredRuns(session.shared.problem, runs=runs)
    return judge(session.built, shared, session.judged)
