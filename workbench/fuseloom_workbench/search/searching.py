"""Finding a better schedule for a design; runs where its simulations do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine.space import ParameterValue
from fuseloom.dataflow.machine.text import print_machine
from fuseloom.dataflow.method import KEPT, Dataflow
from fuseloom.errors import FuseloomError
from fuseloom.exploration.autoschedule import SpaceSize, autoschedule
from fuseloom.exploration.baselines import at_random
from fuseloom.exploration.designs import MachineDesign
from fuseloom.exploration.found import Sight
from fuseloom.exploration.objective import Objective
from fuseloom.results.method import Budget
from fuseloom.wording import counted
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.running.worker import INTERVAL, SimulationJob, work
from fuseloom_workbench.search.designing import COUNTING, searched_design, searched_machines
from fuseloom_workbench.search.parameters import machine_space, setting_texts
from fuseloom_workbench.search.story import Story
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings, lanes_of
from fuseloom_workbench.state import machines
from fuseloom_workbench.state.answered import digest
from fuseloom_workbench.state.design import BuiltDesign, Design, build
from fuseloom_workbench.state.edits import with_schedule
from fuseloom_workbench.state.records import source_of

Send = Callable[[Any], None]
COUNTED = ("cycles", "area")
"""Objectives that are counts."""
COMPARED = {
    "cycles": ("fewer", "fewer"),
    "time": ("less time", "less"),
    "energy": ("less energy", "less"),
    "edp": ("less energy times time", "less"),
    "area": ("fewer lookup tables", "fewer"),
}
"""The words for a better schedule, by objective: alone, and before a number."""


@dataclass(frozen=True)
class FoundSchedule:
    """The best schedule that a search found.

    Attributes
    ----------
    schedule : str
        Its text.
    value, bound : float
        Its objective, and the one that no schedule searched is below; 0 if nothing is proved.
    cycles : float
        Clock cycles.
    """

    schedule: str
    value: float
    bound: float
    cycles: float


def answer(asked: SearchRequest, send: Send) -> None:
    """Find a better schedule for a design and simulate it; runs inside a worker.

    Sends what :func:`fuseloom_workbench.running.worker.work` does, now and then ``("searched",
    state)`` (:class:`fuseloom_workbench.search.story.Story`), and before its end ``("found",
    schedule, told)``.
    """
    try:
        built = found(build(asked.design), send, asked.wishes)
    except FuseloomError as reason:
        send(("refused", str(reason)))
        return
    explain = built.tokens <= machines.SMALL
    work(
        SimulationJob(
            built.compilation, built.data, built.design.machine, explain, source_of(built)
        ),
        send,
    )


class _Narrator:
    """Tells a page how far a search is, not too often."""

    def __init__(self, story: Story, send: Send, wishes: SearchSettings) -> None:
        self.story, self._send, self._wishes = story, send, wishes
        self.began = self._last = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def tell(self, value: float, text: str) -> None:
        """Called by a search with what it does now."""
        now = time.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            told = "" if math.isinf(value) else amount(value, self._wishes.goal)
            best = f"best so far {told}; " if told else ""
            # what is found is simulated after that
            share = min(self.seconds / self._wishes.seconds, 1.0) / 2
            self._send(("progress", share, f"searching: {best}{text}"))
            self.show()

    def see(
        self, sight: Sight, cycles: float | None = None, machine: Mapping[str, Any] | None = None
    ) -> None:
        """Called by a search with what it has found."""
        first = not self.story.bests
        self.story.see(sight, cycles, machine)
        if first:
            self.show()
        self.tell(sight.cycles, "looking for a better one")

    def show(self) -> None:
        self._send(("searched", self.story.to_dict()))


def found(built: BuiltDesign, send: Send, wishes: SearchSettings | None = None) -> BuiltDesign:
    """The design with the best schedule by the objective, as far as a search finds it.

    Blocks, global iteration and, unless the wishes say otherwise, the number of lanes are as the
    design has them.

    Raises
    ------
    FuseloomError
        If the search refuses the program, or finds nothing.
    """
    wishes = wishes or SearchSettings()
    design = built.design
    wishes = replace(wishes, lanes=wishes.lanes or lanes_of(design))
    if wishes.parameters:
        return _found_machine(built, send, wishes)
    sure = design.machine.has_searchers
    narrator = _Narrator(_story(built, wishes, sure), send, wishes)
    story = narrator.story
    send(("progress", 0.0, "searching for a better schedule"))
    search = _drawn if wishes.strategy == "random" else _designed if wishes.designs else _searched
    best = search(built, wishes, narrator)
    # look-ups and dense storage, which a design may have besides, save cycles, but not always area
    better = build(with_schedule(design, best.schedule, as_written=wishes.designs), built)
    if better.configuration == built.configuration:
        told = "This schedule is the best that was found"
    else:
        told = f"A schedule of {amount(best.value, wishes.goal)} was found; Undo goes back"
    proof = proved(best.value, best.bound if sure else 0.0, wishes)
    told += f". {proof}"
    story.finish(narrator.seconds, best.schedule, best.value, best.bound, proof, best.cycles)
    narrator.show()
    send(("found", best.schedule, told))
    return better


def _story(built: BuiltDesign, wishes: SearchSettings, sure: bool) -> Story:
    kept = Schedule((), (), tuple(s for s in built.design.settings if isinstance(s, KEPT)))
    machine = print_machine(built.design.machine) if wishes.parameters else ""
    return Story(built.problem, wishes, wishes.lanes, str(kept), sure, machine)


def _found_machine(built: BuiltDesign, send: Send, wishes: SearchSettings) -> BuiltDesign:
    """The best design with the best machine; no page takes that over before somebody asks for it.

    Raises
    ------
    FuseloomError
        If a machine cannot be, or the search finds nothing.
    """
    design = built.design
    space = machine_space(design.machine, wishes.lanes, wishes.parameters)
    sure = all(point.machine.has_searchers for point in space.points())
    narrator = _Narrator(_story(built, wishes, sure), send, wishes)
    send(("progress", 0.0, f"searching {counted(space.size, 'machine')}"))

    def on(settings: Mapping[str, ParameterValue]) -> Design:
        return replace(design, machine=space.point(settings).machine)

    def told(best: MachineDesign) -> dict[str, Any]:
        problem = replace(built, design=on(best.settings)).problem
        texts = setting_texts(best.settings)
        return {"settings": dict(best.settings), "texts": texts, "problem": digest(problem)}

    def see(sight: Sight, best: MachineDesign | None) -> None:
        if best is None:
            narrator.see(sight)
        else:
            narrator.see(sight, best.cycles, told(best))

    found = searched_machines(built, wishes, space, see, narrator.tell)
    best, story = found.design, narrator.story
    better = build(with_schedule(on(best.settings), best.schedule, as_written=True), built)
    proof = proved(found.value, found.bound if sure else 0.0, wishes)
    proof = f"The best of {counted(space.size, 'machine')}. {proof}"
    story.machines = found
    story.finish(
        narrator.seconds, best.schedule, found.value, found.bound, proof, best.cycles, told(best)
    )
    narrator.show()
    return better


def _searched(built: BuiltDesign, wishes: SearchSettings, narrator: _Narrator) -> FoundSchedule:
    """The schedule with the fewest cycles, with a proof of how good it is."""
    best = autoschedule(
        built.program, built.data, machine=built.design.machine,
        base=Schedule((), (), built.design.settings), presets=built.model.presets,
        requirements=wishes.rules, lanes=wishes.lanes, copies=wishes.copies, nonzero=wishes.nonzero,
        gap=0.0 if wishes.strategy == "exhaustive" else wishes.gap,
        time_limit=wishes.seconds, progress=narrator.tell, watch=narrator.see,
    )  # fmt: skip
    narrator.story.space = best.space
    narrator.story.counts = best.certificate.counts
    narrator.story.reasons = best.best.refusals
    return FoundSchedule(best.schedule, best.cycles, best.certificate.bound, best.cycles)


def _designed(built: BuiltDesign, wishes: SearchSettings, narrator: _Narrator) -> FoundSchedule:
    """The best schedule by another objective, or within budgets, with the same proof."""
    best = searched_design(built, wishes, narrator.see, narrator.tell)
    narrator.story.space = best.space
    narrator.story.reasons = best.reasons
    return FoundSchedule(best.schedule, best.value, best.bound, best.cycles)


def _drawn(built: BuiltDesign, wishes: SearchSettings, narrator: _Narrator) -> FoundSchedule:
    """The best of schedules that were drawn at random."""
    base = Schedule((), (), built.design.settings)
    method = Dataflow(built.program, built.data, built.design.machine, base=base)
    budget = Budget(wishes.lanes, copies=wishes.copies)
    narrator.story.space = SpaceSize(*method.size(budget, COUNTING * wishes.seconds))
    left = wishes.seconds - narrator.seconds
    drawn = at_random(method, budget, wishes.runs, wishes.seed, time_limit=left, watch=narrator.see)
    if not drawn.parts:
        raise FuseloomError("no schedule was drawn that can be run", hint="more runs, more time")
    narrator.story.counts = {"drawn": drawn.draws, "simulated": drawn.runs}
    bound = float(narrator.story.points[-1][3] or 0.0)
    return FoundSchedule(method.schedule(drawn.parts), drawn.cycles, bound, drawn.cycles)


def amount(value: float, goal: Objective) -> str:
    """An objective with its unit, e.g. ``12,345 cycles`` or ``1.58e-14 J·s``."""
    if goal.name in COUNTED:
        return count(value, goal.unit)
    return f"{value:.4g} {goal.unit}".replace("e-0", "e-")


def proved(value: float, bound: float, wishes: SearchSettings) -> str:
    """Return a sentence on the proven quality of a schedule that a search found.

    Parameters
    ----------
    value, bound : float
        The objective of the schedule, and the one that no schedule searched is below.
    """
    if bound <= 0 < value:
        return "How much better another one could be is not proved here."
    limits = ["budget"] * wishes.limited + ["rules"] * bool(wishes.rules)
    kept = f" that keep the {' and the '.join(limits)}" if limits else ""
    less, than = COMPARED[wishes.objective]
    if bound >= value:
        return f"None of those searched{kept} takes {less}, that is proved."
    return (
        f"None of those searched{kept} takes {than} than {amount(bound, wishes.goal)}, that is "
        f"proved: at most {1.0 - bound / value:.0%} {than}."
    )
