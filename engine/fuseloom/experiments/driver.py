"""Doing what figures need, each configuration once, and judging what came of it.

Runs go through the run store (:mod:`fuseloom.exploration.store`); estimates, measurements and what
runs took lie beside it (:mod:`fuseloom.experiments.notes`).  Whoever is ended at any moment and
starts again does what is left.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.errors import DataError, FuseloomError
from fuseloom.experiments import jobs
from fuseloom.experiments.claims import Claim, judged, published
from fuseloom.experiments.configuration import Configuration, How
from fuseloom.experiments.notes import Notes, notes_path
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Measure,
    MissingError,
    Panel,
    Recipe,
    RecipeResults,
    RegionResult,
    Result,
)
from fuseloom.experiments.workloads import data_version
from fuseloom.exploration.executors import Executor, Job, JobLimits, JobStatus, Task, keep_runs
from fuseloom.exploration.store import Outcome, RunIdentity, RunLabel, RunStore, State
from fuseloom.exploration.store.identity import engine_version
from fuseloom.models.datasets import VARIABLE
from fuseloom.program import regular_files

Told = Callable[[str, str, float], None]
"""Called with what happened (``begun``, ``done``, ``there``, or why it failed), of what, and the
seconds it took."""


@dataclass(frozen=True)
class Figure:
    """A recipe with its results."""

    recipe: Recipe
    size: ExperimentSize
    mode: AccountingMode
    results: RecipeResults = field(repr=False)
    claims: tuple[Claim, ...]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels to draw, as far as their results exist."""
        try:
            return self.recipe.panels(self.results, self.size, self.mode)
        except MissingError as problem:
            return (Panel("Not there yet", "text", text=problem.message),)


@dataclass
class Laboratory:
    """The store of a figure's runs, and the executor that does them.

    Attributes
    ----------
    heavy : bool
        Whether what is run on request only is run.
    limits : JobLimits
        What a run or an estimate may use.
    told : callable
        See :data:`Told`.
    """

    store: RunStore
    notes: Notes
    executor: Executor
    data_dir: Path | None = None
    heavy: bool = False
    limits: JobLimits = field(default_factory=JobLimits)
    told: Told = lambda event, what, seconds: None
    reasons: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict, repr=False)

    def figures(
        self, recipes: Sequence[Recipe], size: ExperimentSize, mode: AccountingMode
    ) -> list[Figure]:
        """All of these, done as far as they are not done yet."""
        wanted: dict[Configuration, None] = {}
        measures: dict[str, Job] = {}
        for recipe in recipes:
            for configuration in self._chosen(recipe, size, mode).values():
                wanted.setdefault(configuration)
            for label, measure in _measures(recipe, size, mode, on_request=self.heavy).items():
                key = measure_key(measure.target, measure.request)
                self._names[key] = f"{recipe.id}: {label}"
                measures[key] = Job(key, measure.target, dict(measure.request))
        self.run([c for c in wanted if c.how is How.SIMULATED])
        estimated = [c for c in wanted if c.how is not How.SIMULATED]
        self.measure([*measures.values(), *map(self.estimate_job, estimated)])
        return [self._figure(recipe, size, mode) for recipe in recipes]

    # Doing --------------------------------------------------------------------------------------

    def run(self, configurations: Sequence[Configuration]) -> None:
        """Simulate what is not in the store; of a run whose note is lost, once more."""
        new: list[Task] = []
        lost: list[Task] = []
        for configuration in configurations:
            identity = self.identity(configuration)
            self._names[identity.key] = configuration.title
            stored = self.store.get(identity.key)
            done = stored is not None and stored.state is State.DONE
            if done and self.notes.get(identity.key) is not None:
                self.told("there", configuration.title, 0.0)
                continue
            (lost if done else new).append(self._task(configuration, identity))
        retried = tuple(state for state in State if state not in (State.DONE, State.LEASED))
        keep_runs(self.store, self.executor, new, again=retried, told=self._came_out)
        keep_runs(self.store, self.executor, lost, again=(State.DONE,), told=self._came_out)

    def measure(self, wanted: Iterable[Job]) -> None:
        """Estimate and measure what there is no note of."""
        under_way: set[str] = set()
        for job in wanted:
            if self.notes.get(job.key) is not None:
                self.told("there", self._names[job.key], 0.0)
                continue
            under_way.add(job.key)
            self.executor.submit(job)
        while under_way and (answer := self.executor.next()) is not None:
            if answer.key not in under_way:
                continue
            under_way.discard(answer.key)
            if answer.fate is JobStatus.DONE:
                self.notes.put(answer.key, answer.value)
                self.told("done", self._names[answer.key], answer.seconds)
            else:
                self.reasons[answer.key] = answer.reason
                self.told(answer.reason, self._names[answer.key], answer.seconds)

    def _came_out(self, key: str, outcome: Outcome) -> None:
        if outcome.state is State.DONE:
            self.told("done", self._names[key], outcome.seconds or 0.0)
        else:
            self.reasons[key] = outcome.reason
            self.told(outcome.reason, self._names[key], outcome.seconds or 0.0)

    # What is asked for --------------------------------------------------------------------------

    def identity(self, configuration: Configuration) -> RunIdentity:
        """Return the identity of a run; data count by their recipe, not by their contents."""
        return RunIdentity(
            f"{configuration.workload}: {json.dumps(configuration.options)}",
            f"{configuration.preset}; {configuration.settings}",
            data_version(configuration, self.data_dir),
            Machine.preset(configuration.machine).fingerprint,
            settings={
                "orders": configuration.orders.value,
                "made by": "figures",
            },
        )

    def estimate_key(self, configuration: Configuration) -> str:
        """The key of an estimate's note."""
        kind = "averages" if configuration.how is How.HEURISTIC else "estimate"
        return f"{kind} {self.identity(configuration).key}"

    def _task(self, configuration: Configuration, identity: RunIdentity) -> Task:
        request = jobs.request_of(configuration, self.data_dir, self.notes.path, identity.key)
        label = RunLabel(configuration.workload, configuration.data, configuration.machine)
        return Task(identity, jobs.RUN, request, label, self.limits)

    def estimate_job(self, configuration: Configuration) -> Job:
        """The job of an estimate, for :meth:`measure`."""
        key = self.estimate_key(configuration)
        self._names[key] = configuration.title
        request = jobs.request_of(configuration, self.data_dir, self.notes.path, key)
        return Job(key, jobs.ESTIMATE, request, self.limits)

    def _chosen(
        self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode
    ) -> dict[str, Configuration]:
        """Return the configurations of a recipe: those simulated on request only are estimated."""
        heavy = frozenset() if self.heavy else recipe.heavy(size, mode)
        every = recipe.configurations(size, mode)
        return {x: c.estimated() if x in heavy else c for x, c in every.items()}

    # What came of it ----------------------------------------------------------------------------

    def result(self, configuration: Configuration) -> Result | None:
        """Return the stored result of a configuration; None if there is none."""
        if configuration.how is not How.SIMULATED:
            key = self.estimate_key(configuration)
            note = self.notes.get(key)
            return None if note is None else _estimated(note, key)
        key = self.identity(configuration).key
        stored, note = self.store.get(key), self.notes.get(key)
        if stored is None or stored.state is not State.DONE or note is None:
            return None
        record = stored.record
        assert record is not None
        regions = tuple(
            RegionResult(r.name, r.cycles, r.flops, r.bytes, more["busiest"], more["words"])
            for r, more in zip(record.regions, note["regions"], strict=True)
        )
        source = record.data
        return Result(
            regions,
            "" if source is None else source.label,
            source is not None and source.standin,
            check="" if record.check is None else str(record.check),
            ok=record.ok,
            compared=record.check is not None and record.check.compared,
            seconds=note["wall"],
            cpu=note["cpu"],
            peak=note["peak"],
            schedule=note["schedule"],
            key=key,
        )

    def look(self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode) -> Figure:
        """Return the figure of a recipe from stored runs, or else estimates; nothing is run."""
        return self._figure(recipe, size, mode, instead=True)

    def estimates(self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode) -> None:
        """Estimate those configurations of a recipe of which there is no run."""
        every = recipe.configurations(size, mode).values()
        missing = dict.fromkeys(c.estimated() for c in every if self.result(c) is None)
        self.measure(map(self.estimate_job, missing))

    def _figure(
        self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode, *, instead: bool = False
    ) -> Figure:
        found: dict[str, Result] = {}
        reasons: dict[str, str] = {}
        measured: dict[str, Any] = {}
        for label, configuration in self._chosen(recipe, size, mode).items():
            result = self.result(configuration)
            if result is None and instead:
                result = self.result(configuration.estimated())
            if result is not None:
                found[label] = result
            else:
                keys = (self.identity(configuration).key, self.estimate_key(configuration))
                why = next((self.reasons[key] for key in keys if key in self.reasons), "not run")
                reasons[label] = f"{label}: {why}"
        for label, measure in _measures(recipe, size, mode, on_request=True).items():
            key = measure_key(measure.target, measure.request)
            value = self.notes.get(key)
            if value is None:
                reasons[label] = f"{label}: {self.reasons.get(key, 'not measured')}"
            else:
                measured[label] = value
        results = RecipeResults(found, reasons, measured)
        return Figure(recipe, size, mode, results, tuple(claims_of(recipe, results, size, mode)))


def _measures(
    recipe: Recipe, size: ExperimentSize, mode: AccountingMode, *, on_request: bool
) -> Mapping[str, Measure]:
    """The measurements of a recipe by label, with or without those that are made on request."""
    more = recipe.measures_on_request(size, mode) if on_request else {}
    return {**recipe.measures(size, mode), **more}


def claims_of(
    recipe: Recipe, results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> list[Claim]:
    """Every claim of a recipe at a size, judged."""
    values = recipe.values(size, mode)
    made = []
    for id_, claim in published().items():
        if claim.figure != recipe.id or size.value not in claim.sizes:
            continue
        if mode.value not in claim.modes or id_ not in values:
            continue
        results.used.clear()
        got, reason = None, ""
        try:
            got = values[id_](results)
        except FuseloomError as problem:
            reason = problem.message
        used = [results.get(label) for label in dict.fromkeys(results.used) if label in results]
        rests = [result for result in used if result is not None]
        notes = []
        if any(result.estimated for result in rests):
            notes.append("estimated")
        if any(result.standin for result in rests):
            notes.append("stand-in data")
        wrong = next((result.check for result in rests if not result.ok), "")
        if wrong:
            got, reason = None, f"a run is wrong: {wrong}"
        command = f"fuseloom figures {recipe.id} --size {size.value} --mode {mode.value}"
        made.append(
            judged(
                claim,
                got,
                seconds=sum(result.seconds for result in rests),
                bytes=max((result.peak for result in rests), default=0.0),
                command=command,
                notes=", ".join(notes),
                reason=reason,
            )
        )
    return made


def measure_key(target: str, request: Mapping[str, Any]) -> str:
    """The key of a measurement's note: it is repeated when the engine changes."""
    text = json.dumps([target, request, engine_version()], sort_keys=True)
    return f"measure {hashlib.sha256(text.encode()).hexdigest()}"


def data_folder(given: Path | None) -> Path | None:
    """The folder of real data sets: as given, or as the environment names it.

    Raises
    ------
    DataError
        If there is no such folder.
    """
    named = os.environ.get(VARIABLE)
    folder = given or (Path(named) if named else None)
    if folder is not None and not regular_files.is_folder(folder):
        raise DataError(f"there is no folder {folder}", hint="name a folder with data sets")
    return folder


def notes_beside(store: RunStore) -> Notes:
    """The notes that belong to a store."""
    return Notes(notes_path(store.path))


def _estimated(note: Mapping[str, Any], key: str) -> Result:
    regions = tuple(
        RegionResult(
            r["name"],
            r["cycles"],
            r["flops"],
            r["bytes"],
            r["cycles"],
            r.get("words", r["bytes"] / WORD),
        )
        for r in note["regions"]
    )
    return Result(
        regions,
        note["label"],
        note["standin"],
        estimated=True,
        seconds=note["wall"],
        cpu=note["cpu"],
        peak=note["peak"],
        schedule=note["schedule"],
        key=key,
    )
