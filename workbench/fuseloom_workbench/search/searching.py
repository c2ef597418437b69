"""Finding a better schedule for a design; runs where its simulations do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import KEPT, Dataflow
from fuseloom.errors import FuseloomError
from fuseloom.exploration.autoschedule import SpaceSize, autoschedule
from fuseloom.exploration.baselines import at_random
from fuseloom.exploration.certificate import Certificate
from fuseloom.exploration.found import Sight
from fuseloom.results.method import Budget
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.running.worker import INTERVAL, SimulationJob, work
from fuseloom_workbench.search.story import Story
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings, lanes_of
from fuseloom_workbench.state import machines
from fuseloom_workbench.state.design import BuiltDesign, build
from fuseloom_workbench.state.edits import with_schedule
from fuseloom_workbench.state.records import source_of

COUNTING = 0.1
"""Share of the time limit that counting the space may take."""
Send = Callable[[Any], None]


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

    def tell(self, cycles: float, text: str) -> None:
        """Called by a search with what it does now."""
        now = time.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            best = "" if math.isinf(cycles) else f"best so far {count(cycles, 'cycles')}; "
            # what is found is simulated after that
            share = min(self.seconds / self._wishes.seconds, 1.0) / 2
            self._send(("progress", share, f"searching: {best}{text}"))
            self.show()

    def see(self, sight: Sight) -> None:
        """Called by a search with what it has found."""
        first = not self.story.bests
        self.story.see(sight)
        if first:
            self.show()
        self.tell(sight.cycles, "looking for a better one")

    def show(self) -> None:
        self._send(("searched", self.story.to_dict()))


def found(built: BuiltDesign, send: Send, wishes: SearchSettings | None = None) -> BuiltDesign:
    """The design with the schedule that takes the fewest cycles, as far as a search finds it.

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
    kept = Schedule((), (), tuple(s for s in design.settings if isinstance(s, KEPT)))
    sure = design.machine.has_searchers
    story = Story(built.problem, wishes, wishes.lanes, str(kept), sure)
    narrator = _Narrator(story, send, wishes)
    send(("progress", 0.0, "searching for a better schedule"))
    search = _drawn if wishes.strategy == "random" else _searched
    schedule, cycles, proof = search(built, wishes, narrator)
    better = build(with_schedule(design, schedule), built)
    if better.configuration == built.configuration:
        told = "This schedule is the best that was found"
    else:
        told = f"A schedule of {count(cycles, 'cycles')} was found; Undo goes back"
    told += f". {proved(proof)}"
    story.finish(narrator.seconds, schedule, cycles, proof.bound, proved(proof))
    narrator.show()
    send(("found", schedule, told))
    return better


def _searched(
    built: BuiltDesign, wishes: SearchSettings, narrator: _Narrator
) -> tuple[str, float, Certificate]:
    """The best schedule, with a proof of how good it is."""
    best = autoschedule(
        built.program, built.data, machine=built.design.machine,
        base=Schedule((), (), built.design.settings), presets=built.model.presets,
        lanes=wishes.lanes, copies=wishes.copies, nonzero=wishes.nonzero,
        gap=0.0 if wishes.strategy == "exhaustive" else wishes.gap,
        time_limit=wishes.seconds, progress=narrator.tell, watch=narrator.see,
    )  # fmt: skip
    narrator.story.space = best.space
    narrator.story.counts = best.certificate.counts
    narrator.story.reasons = best.best.refusals
    return best.schedule, best.cycles, best.certificate


def _drawn(
    built: BuiltDesign, wishes: SearchSettings, narrator: _Narrator
) -> tuple[str, float, Certificate]:
    """The best of schedules that were drawn at random."""
    base = Schedule((), (), built.design.settings)
    method = Dataflow(built.program, built.data, built.design.machine, base=base)
    budget = Budget(wishes.lanes, copies=wishes.copies)
    narrator.story.space = SpaceSize(*method.size(budget, COUNTING * wishes.seconds))
    left = wishes.seconds - narrator.seconds
    drawn = at_random(method, budget, wishes.runs, wishes.seed, time_limit=left, watch=narrator.see)
    if not drawn.parts:
        raise FuseloomError("no schedule was drawn that can be run", hint="more runs, more time")
    counts = {"drawn": drawn.draws, "simulated": drawn.runs}
    narrator.story.counts = counts
    bound = float(narrator.story.points[-1][3] or 0.0)
    proof = Certificate(drawn.cycles, bound, True, False, counts)
    return method.schedule(drawn.parts), drawn.cycles, proof


def proved(proof: Certificate) -> str:
    """Return a sentence on the proven quality of a schedule."""
    if proof.bound <= 0 < proof.cycles:
        return "How much better another one could be is not proved here."
    if proof.gap <= 0:
        return "None of those searched takes fewer, that is proved."
    fewest = count(proof.bound, "cycles")
    return (
        f"None of those searched takes fewer than {fewest}, that is proved: "
        f"at most {proof.gap:.0%} fewer."
    )
