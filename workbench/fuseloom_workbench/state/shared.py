"""Runs of the run store that a session may see: those of its own program, data and machine.

They come from other processes, and other versions of them: commands, sweeps, earlier sessions,
other pages.  :func:`look` reads them, and :func:`judge` says what the estimate makes of them, each
in a process beside the session's, as neither may keep a page waiting.  What is read is checked: a
record that this version does not read, or whose parts do not add up, is left out with its reason,
and of others only the figures are taken that tables show.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fuseloom.errors import FuseloomError, RecordError, shortened
from fuseloom.exploration.store import RunIdentity, RunReader, StoredRun, Subject, data_hash
from fuseloom.exploration.store.identity import engine_version
from fuseloom.exploration.sweep.plan import run_identity
from fuseloom.results.record import RegionRecord, RunRecord
from fuseloom_workbench.state.design import BuiltDesign, build
from fuseloom_workbench.state.edits import with_schedule

LATEST, FASTEST = 60, 20
"""Runs that are shown: the last ones, and those of the fewest cycles."""
LONGEST_SCHEDULE = 100_000
"""Characters of a schedule that is shown."""
LONGEST_VERSION = 60
STEP = 0.5
"""Seconds between two reports of what the estimate says."""
_WORDS = 300


@dataclass(frozen=True)
class SharedRun:
    """A run of the store.

    Attributes
    ----------
    schedule : str
        With every region and order named.
    cycles : int
        Elapsed clock cycles, simulated.
    estimated : float or None
        Cycles that were expected when it was done, if they were.
    engine : str
        The version that did it, if it is another one than this; whose runs may differ.
    changed : float
        When, in seconds since 1970.
    run : RunRecord or None
        Its totals and its check, without what only explained runs have.
    trouble : str
        Why there is no record.
    """

    key: str
    schedule: str
    cycles: int
    estimated: float | None
    engine: str
    changed: float
    run: RunRecord | None = field(default=None, repr=False)
    trouble: str = ""

    @classmethod
    def of(cls, stored: StoredRun) -> SharedRun:
        """Return the displayed form of a run."""
        own = stored.identity.engine == engine_version()
        made = cls(
            stored.key,
            stored.identity.schedule,
            stored.cycles or 0,
            stored.label.estimated,
            "" if own else shortened(stored.identity.engine, LONGEST_VERSION) or "unknown",
            stored.changed,
        )
        try:
            record = stored.record
            if record is None:
                return replace(made, trouble="its record is too long to be shown here")
            if record.cycles != stored.cycles or not record.regions:
                return replace(made, trouble="its record is that of another run")
        except FuseloomError as problem:
            return replace(made, trouble=shortened(str(problem), _WORDS))
        return replace(made, run=_totals(record))

    @property
    def short(self) -> str:
        """The first digits of its key, by which commands know it."""
        return self.key[:6]


def slim(record: RunRecord) -> RunRecord:
    """A record as it is kept: what pages draw takes a hundred times as much."""
    return replace(record, regions=tuple(map(_slim, record.regions)))


def _slim(region: RegionRecord) -> RegionRecord:
    return replace(region, nodes=None, timeline=None, path=None, channels=None)


def _totals(record: RunRecord) -> RunRecord:
    """A record with what every run has: parts of it are drawn unseen, and others wrote them."""
    regions = (replace(region, memory=None) for region in slim(record).regions)
    return replace(record, regions=tuple(regions), repairs=(), outputs=None)


@dataclass(frozen=True)
class StoredRuns:
    """The store's runs for a problem.

    Attributes
    ----------
    problem : str
        Whose runs they are: ``BuiltDesign.problem``.
    data : str
        Hash of its data, which takes long for large ones.
    runs : tuple of SharedRun
        The latest first, those of this engine before others.
    total : int
        How many there are in the store.
    trouble : str
        What is wrong, for visitors, who must not learn where files lie.
    reason : str
        Why nothing could be read, for the server's log.
    """

    problem: str = ""
    data: str = ""
    runs: tuple[SharedRun, ...] = ()
    total: int = 0
    trouble: str = ""
    reason: str = ""

    def run_of(self, schedule: str) -> SharedRun | None:
        """The run of a schedule by this engine, if its record can be read."""
        return next(
            (r for r in self.runs if r.schedule == schedule and not r.engine and r.run), None
        )


@dataclass(frozen=True)
class EstimatedSchedules:
    """The engine's estimates for schedules of the store.

    Attributes
    ----------
    names : mapping of str to str
        The presets' names by their schedules, every order named.
    estimated : mapping of str to float
        Expected cycles by the keys of runs.
    refused : mapping of str to str
        Why the engine does not take a run's schedule, by its key.
    """

    problem: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    estimated: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def look(built: BuiltDesign, path: str, before: StoredRuns, *, whole: bool = True) -> StoredRuns:
    """Read the runs of a design's program, data and machine.

    Parameters
    ----------
    before : StoredRuns
        What was read last: what a store that cannot be read has given stays.
    whole : bool
        Whether all is read; else that run only which is the design's own.
    """
    known = before if before.problem == built.problem else StoredRuns(built.problem)
    program = built.compilation.source or built.compilation.program
    data = known.data or data_hash(built.data)
    known = replace(known, data=data, trouble="", reason="")
    identity = run_identity(program, built.resolved, data, built.design.machine)
    damaged = 0
    try:
        with RunReader(path) as reader:
            if whole:
                subject = Subject(identity.program, data, identity.machine)
                found = reader.alike(subject, LATEST, FASTEST)
                runs, total, damaged = found.runs, found.total, found.damaged
                known = replace(known, runs=_ordered(runs), total=total)
            if all(run.key != identity.key for run in known.runs):
                mine = _own(reader, identity)
                if mine is not None:
                    known = replace(known, runs=(mine, *known.runs))
    except FuseloomError as problem:
        return replace(known, trouble=_hidden(problem, path), reason=str(problem))
    if damaged:
        told = f"{damaged:,} of the kept runs cannot be read and are left out"
        known = replace(known, trouble=told)
    return known


def _own(reader: RunReader, identity: RunIdentity) -> SharedRun | None:
    """The design's own run, if it was done and its row can be read."""
    try:
        found = reader.get(identity.key)
    except RecordError:
        return None
    if found is None or found.cycles is None or found.identity != identity:
        return None
    return SharedRun.of(found)


def _ordered(stored: tuple[StoredRun, ...]) -> tuple[SharedRun, ...]:
    """One run per schedule and engine, of this engine first."""
    runs = [SharedRun.of(run) for run in stored if len(run.identity.schedule) <= LONGEST_SCHEDULE]
    return tuple(sorted(runs, key=lambda run: bool(run.engine)))


def _hidden(problem: FuseloomError, path: str) -> str:
    """Describe the problem without the location of the file."""
    text = problem.message.replace(f"run store {path}", "run store of this server")
    text = text.replace(path, "the run store of this server")
    return shortened(f"Kept runs are not read: {text}", _WORDS)


def judge(
    built: BuiltDesign, shared: StoredRuns, known: EstimatedSchedules
) -> Iterator[EstimatedSchedules]:
    """Name and estimate the schedules of runs of which no estimate is kept, bit by bit.

    Yields what is known so far, now and then, and at the end.
    """
    if known.problem != built.problem:
        known = EstimatedSchedules(built.problem, names=_names(built))
        yield known
    estimated, refused = dict(known.estimated), dict(known.refused)
    told = time.monotonic()
    for run in missing(shared, known):
        try:
            made = build(with_schedule(built.design, run.schedule, as_written=True), built)
        except FuseloomError as problem:
            refused[run.key] = shortened(str(problem), _WORDS)
        else:
            estimated[run.key] = float(made.estimate.cycles)
        if time.monotonic() > told + STEP:
            yield replace(known, estimated=dict(estimated), refused=dict(refused))
            told = time.monotonic()
    yield replace(known, estimated=estimated, refused=refused)


def missing(shared: StoredRuns, known: EstimatedSchedules) -> list[SharedRun]:
    """Runs of which nobody knows what was expected."""
    return [
        run
        for run in shared.runs
        if run.estimated is None and run.key not in known.estimated and run.key not in known.refused
    ]


def _names(built: BuiltDesign) -> dict[str, str]:
    """The presets' names by their resolved schedules."""
    names: dict[str, str] = {}
    for name, text in built.model.presets.items():
        try:
            names.setdefault(build(with_schedule(built.design, text), built).resolved, name)
        except FuseloomError:
            continue
    return names
