"""Finding a better schedule for a design; runs where its simulations do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from engine.dataflow.fusion.directives import Parallel
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import FuseloomError
from engine.explore.autoschedule import autoschedule
from engine.explore.certificate import Certificate
from workbench import machines
from workbench.design import Built, Design, build
from workbench.edits import with_schedule
from workbench.quantities import count
from workbench.records import source_of
from workbench.worker import INTERVAL, Job, work

SECONDS = 10.0
"""That a search takes, at most; then the best so far is taken and simulated."""
Send = Callable[[Any], None]


def answer(design: Design, send: Send) -> None:
    """Find a better schedule for a design and simulate it; runs inside a worker.

    Sends what :func:`workbench.worker.work` does, and before its end ``("found", schedule, told)``.
    """
    try:
        built = found(build(design), send)
    except FuseloomError as reason:
        send(("refused", str(reason)))
        return
    explain = built.tokens <= machines.SMALL
    work(Job(built.compilation, built.data, built.design.machine, explain, source_of(built)), send)


def found(built: Built, send: Send) -> Built:
    """The design with the schedule that takes the fewest cycles, as far as a search finds it.

    Blocks, global iteration and the number of lanes are as the design has them.

    Raises
    ------
    FuseloomError
        If the search refuses the program, or finds nothing.
    """
    design = built.design
    began = last = time.monotonic()

    def tell(cycles: float, text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            best = "" if math.isinf(cycles) else f"best so far {count(cycles, 'cycles')}; "
            # what is found is simulated after that
            send(("progress", min((now - began) / SECONDS, 1.0) / 2, f"searching: {best}{text}"))

    send(("progress", 0.0, "searching for a better schedule"))
    best = autoschedule(
        built.program, built.data, machine=design.machine, base=Schedule((), (), design.settings),
        presets=built.model.presets, lanes=lanes_of(design), time_limit=SECONDS, progress=tell,
    )  # fmt: skip
    better = build(with_schedule(design, best.schedule), built)
    if better.configuration == built.configuration:
        told = "This schedule is the best that was found"
    else:
        told = f"A schedule of {count(best.cycles, 'cycles')} was found; Undo goes back"
    told += f". {proved(best.certificate)}"
    send(("found", best.schedule, told))
    return better


def proved(proof: Certificate) -> str:
    """How good a schedule is proved to be, in a sentence."""
    if proof.bound <= 0 < proof.cycles:
        return "How much better another one could be is not proved here."
    if proof.gap <= 0:
        return "None of those searched takes fewer, that is proved."
    fewest = count(proof.bound, "cycles")
    return (
        f"None of those searched takes fewer than {fewest}, that is proved: "
        f"at most {proof.gap:.0%} fewer."
    )


def lanes_of(design: Design) -> int:
    """The lanes of a region, at most, that a design asks for."""
    lanes: dict[Any, int] = {}
    for setting in design.settings:
        if isinstance(setting, Parallel):
            lanes[setting.region] = lanes.get(setting.region, 1) * setting.factor
    return max(lanes.values(), default=1)
