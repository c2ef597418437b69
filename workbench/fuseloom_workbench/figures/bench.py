"""The worker of a page of figures: a thread that waits, and a process that computes.

The thread reads the run store and hands jobs to the worker; the page's own loop does neither.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuseloom.errors import FuseloomError
from fuseloom.experiments.configuration import Configuration, How
from fuseloom.experiments.driver import Figure, Laboratory, data_folder, notes_beside
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Recipe, Result
from fuseloom.exploration.executors import JobLimits, LocalProcesses
from fuseloom.exploration.store import RunStore

LIMITS = JobLimits(cpu=900.0, wall=1800.0)
"""The limits of a run or an estimate, in seconds."""
END = 5.0
"""Seconds that closing waits for the thread."""


@dataclass(frozen=True)
class News:
    """The news from the bench for its page.

    Attributes
    ----------
    figure : Figure, optional
        What is there of the figure that was asked for.
    made : tuple of Configuration and Result, optional
        What came of one configuration.
    share : float, optional
        How far a run is, 0 to 1; None where none is under way.
    text : str
        What is done now, or what went wrong.
    wrong : bool
    """

    figure: Figure | None = None
    made: tuple[Configuration, Result] | None = None
    share: float | None = None
    text: str = ""
    wrong: bool = False


Tell = Callable[[News], None]


class FigureBench:
    """Carries out a page's requests, one after another.

    Parameters
    ----------
    tell : callable
        Takes what is new, in the bench's thread.
    store : Path, optional
        File of the runs; by default the one that every command uses.
    """

    def __init__(self, tell: Tell, store: Path | None = None) -> None:
        self._tell = tell
        self._store = store
        self._line: queue.SimpleQueue[Callable[[Laboratory], None] | None] = queue.SimpleQueue()
        self._executor: LocalProcesses | None = None
        self._running = ""
        self._given_up = threading.Event()
        self._latest = 0
        self.thread = threading.Thread(target=self._work, daemon=True, name="figures")
        self.thread.start()

    # What a page asks for ---------------------------------------------------------------------

    def show(self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode) -> None:
        """Tell what is there of a figure."""
        self._line.put(lambda lab: self._tell(News(lab.look(recipe, size, mode))))

    def estimate(self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode) -> None:
        """Estimate what was not run of a figure, and tell what is there then."""

        def work(laboratory: Laboratory) -> None:
            laboratory.estimates(recipe, size, mode)
            self._tell(News(laboratory.look(recipe, size, mode)))

        self._line.put(work)

    def simulate(self, recipe: Recipe, size: ExperimentSize, mode: AccountingMode) -> None:
        """Run what was not run of a figure, and tell what is there then."""

        def work(laboratory: Laboratory) -> None:
            laboratory.figures([recipe], size, mode)
            self._tell(News(laboratory.look(recipe, size, mode)))

        self._line.put(work)

    def one(self, configuration: Configuration) -> None:
        """Run or estimate one configuration; of several estimates in line only the last counts."""
        self._latest += 1
        number = self._latest

        def work(laboratory: Laboratory) -> None:
            estimated = configuration.how is How.ESTIMATED
            if estimated and number != self._latest:
                return
            laboratory.reasons.clear()
            if estimated:
                laboratory.measure([laboratory.estimate_job(configuration)])
            else:
                laboratory.run([configuration])
            result = laboratory.result(configuration)
            if result is None:
                why = next(iter(laboratory.reasons.values()), "it was given up")
                self._tell(News(text=why, wrong=True))
            else:
                self._tell(News(made=(configuration, result)))

        self._line.put(work)

    def cancel(self) -> None:
        """Give up what is under way."""
        self._given_up.set()
        executor, running = self._executor, self._running
        if executor is not None and running:
            executor.cancel(running)

    def close(self) -> None:
        """The page is gone: end what is done for it."""
        self._line.put(None)
        self.cancel()

    # In the thread ----------------------------------------------------------------------------

    def _work(self) -> None:
        with contextlib.ExitStack() as stack:
            try:
                store = stack.enter_context(RunStore(self._store))
                notes = stack.enter_context(notes_beside(store))
                executor = stack.enter_context(LocalProcesses(1, self._moved))
                self._executor = executor
                folder = data_folder(None)
                laboratory = Laboratory(
                    store, notes, executor, folder, limits=LIMITS, told=self._told
                )
            except FuseloomError as problem:
                self._tell(News(text=str(problem), wrong=True))
                return
            while (work := self._line.get()) is not None:
                self._given_up.clear()
                self._carry_out(work, laboratory)
            self._executor = None

    def _carry_out(self, work: Callable[[Laboratory], None], laboratory: Laboratory) -> None:
        try:
            work(laboratory)
        except FuseloomError as problem:
            self._tell(News(text=str(problem), wrong=True))
        except Exception as problem:  # a fault must not leave the page without an answer
            self._tell(News(text=f"this failed: {type(problem).__name__}: {problem}", wrong=True))
        finally:
            self._running = ""
            self._tell(News())

    def _moved(self, key: str, share: float, text: str) -> None:
        self._running = key
        if self._given_up.is_set() and self._executor is not None:
            self._executor.cancel(key)
        self._tell(News(share=share, text=text))

    def _told(self, event: str, what: str, seconds: float) -> None:
        self._running = ""
        if event in ("there", "begun"):
            return
        done = event == "done"
        text = f"{what}: {seconds:.1f} s" if done else f"{what}: {event}"
        self._tell(News(text=text, share=1.0 if done else None, wrong=not done))
