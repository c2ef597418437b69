"""The runs of this session, and those of the same problem that others kept."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import param

from fuseloom.dataflow.why.promises import Promise
from fuseloom.results.record import RunRecord
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.shared import EstimatedSchedules, SharedRun, StoredRuns

PROMISES = 50
"""Promises that are kept; the oldest go first."""


def _short(configuration: str) -> str:
    """A configuration in few letters: it may hold a whole program."""
    return sha256(configuration.encode()).hexdigest()[:32]


class Runs(param.Parameterized):
    """The part of a session that holds runs, one per configuration."""

    records = param.Dict({}, doc="Configuration to its KeptRun, oldest first.")
    latest = param.ClassSelector(class_=KeptRun, doc="The record shown last.")
    pinned = param.String("", doc="Configuration of the run that others are compared with.")
    finished = param.Integer(0, doc="Counts runs, also those of a configuration run before.")
    most_records = param.Integer(100, bounds=(1, None), doc="Runs kept; the oldest go first.")
    promises = param.Dict({}, doc="What was promised of designs, oldest first.")
    suggested = param.Dict({}, doc="Changes that are suggested now, by their text.")
    shared = param.ClassSelector(
        class_=StoredRuns, default=StoredRuns(), doc="What the run store has, where it is read."
    )
    judged = param.ClassSelector(
        class_=EstimatedSchedules,
        default=EstimatedSchedules(),
        doc="What the engine says of schedules of the store.",
    )

    __abstract = True

    built: BuiltDesign

    @property
    def record(self) -> KeptRun | None:
        """The run of exactly this configuration, if there was one, here or elsewhere."""
        own = self.records.get(self.built.configuration)
        return own if own is not None else self._shared_record()

    @property
    def stale(self) -> bool:
        """True if the run shown last belongs to another configuration."""
        return self.latest is not None and self.record is None

    @property
    def baseline(self) -> KeptRun | None:
        """The unfused run that speed-ups refer to, if this session has done it."""
        return self.baseline_of(self.built.problem)

    def baseline_of(self, problem: str) -> KeptRun | None:
        runs = (r for r in self.records.values() if r.problem == problem and r.run.ok)
        return next((r for r in runs if r.preset and r.name == "unfused"), None)

    def unfused_cycles(self, problem: str) -> int | None:
        """Return the cycles of a problem's unfused run, whoever has done it; None without one."""
        own = self.baseline_of(problem)
        if own is not None:
            return own.run.cycles
        shared, judged = self.shared, self.judged
        if not shared.problem == judged.problem == problem:
            return None
        unfused = {schedule for schedule, name in judged.names.items() if name == "unfused"}
        runs = (
            r.cycles
            for r in shared.runs
            if not r.engine and r.schedule in unfused and (r.run is None or r.run.ok)
        )
        return next(runs, None)

    @property
    def reference(self) -> KeptRun | None:
        """Run A, which others are compared with; None if none is pinned."""
        return self.records.get(self.pinned)

    def pin(self, number: int) -> None:
        """Compare with this run, counted from 0 in the order they were kept in; again: no more."""
        configurations = list(self.records)
        if 0 <= number < len(configurations):
            chosen = configurations[number]
            self.pinned = "" if chosen == self.pinned else chosen

    def promise(self, promise: Promise) -> None:
        """Keep what was promised of the design shown."""
        promises = {**self.promises, _short(self.built.configuration): promise}
        self.promises = dict(list(promises.items())[-PROMISES:])

    @property
    def promised(self) -> Promise | None:
        """The promise for the design shown, if it came of a suggestion."""
        return self.promises.get(_short(self.built.configuration))

    def forget(self, number: int) -> None:
        """Keep a run no longer, counted from 0 in the order they were kept in."""
        configurations = list(self.records)
        if not 0 <= number < len(configurations):
            return
        gone = configurations[number]
        records = {key: run for key, run in self.records.items() if key != gone}
        latest = self.latest
        if latest is not None and latest.configuration == gone:
            latest = next(reversed(records.values()), None)
        pinned = "" if self.pinned == gone else self.pinned
        self.param.update(records=records, latest=latest, pinned=pinned)

    # Runs of others -----------------------------------------------------------------------

    @property
    def others(self) -> list[SharedRun]:
        """Runs of the store for what is shown, without those that this session has itself.

        Of a schedule that several versions of the engine have run, that of this one stands, or
        else the latest.
        """
        shared, records, problem = self.shared, self.records, self.built.problem
        if shared.problem != problem:
            return []
        chosen: dict[str, SharedRun] = {}
        for run in shared.runs:
            if f"{problem}\n{run.schedule}" not in records:
                chosen.setdefault(run.schedule, run)
        return list(chosen.values())

    def name_of(self, run: SharedRun) -> str:
        """The preset's name, or the first digits of the key."""
        names = self.judged.names if self.judged.problem == self.shared.problem else {}
        return names.get(run.schedule, f"kept {run.short}")

    def estimated_of(self, run: SharedRun) -> float | None:
        """Expected cycles, as they were kept or as they are estimated here."""
        return run.estimated if run.estimated is not None else self.judged.estimated.get(run.key)

    def take_in(self, shared: StoredRuns) -> None:
        """Show what the store has now; what it has for another problem is not looked at."""
        if shared.problem != self.built.problem:
            return
        self.shared = shared
        if self.latest is None or self.latest.configuration != self.built.configuration:
            self.latest = self.record or self.latest

    def _shared_record(self) -> KeptRun | None:
        """The design's own run in the store, if its regions are those of the design."""
        built = self.built
        if self.shared.problem != built.problem:
            return None
        found = self.shared.run_of(built.resolved)
        if found is None or found.run is None:
            return None
        if [r.name for r in found.run.regions] != [r.name for r in built.regions]:
            return None
        name = built.known_name or self.name_of(found)
        run: RunRecord = found.run
        return replace(KeptRun.of(built, run), name=name)

    # Runs of this session -----------------------------------------------------------------

    def finish(self, built: BuiltDesign, run: RunRecord) -> KeptRun:
        """Keep what a worker sent back about a design, and show it."""
        return self.keep(KeptRun.of(built, run))

    def keep(self, record: KeptRun) -> KeptRun:
        """Keep a run and show it; one that is no preset's is given a number."""
        known = self.records.get(record.configuration)
        own = sum(not r.preset and r.name != r.design.model for r in self.records.values())
        name = record.name or (known.name if known else f"yours {own + 1}")
        searched = record.searched or (known is not None and known.searched)
        record = replace(record, name=name, searched=searched).with_paths_of(known)
        records = {**self.records, record.configuration: record}
        for oldest in list(records)[: max(0, len(records) - self.most_records)]:
            del records[oldest]
        self.param.update(records=records, latest=record, finished=self.finished + 1)
        return record
