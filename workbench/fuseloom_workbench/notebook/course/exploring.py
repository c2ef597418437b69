"""Notebook 9: spaces of schedules, searched with a proof."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from functools import cache
from typing import Any

from fuseloom.exploration.autoschedule import Autoscheduled, autoschedule
from fuseloom.exploration.sweep import Base, Explored, Space, explore
from fuseloom.models import load
from fuseloom.program.types import Program
from fuseloom_workbench.notebook.exercises import Exercise, names, number, schedule

ROOM = 300
"""Bytes on chip of the exercise."""
PATIENCE = 60.0
"""Seconds after which a search is given up; it takes a few."""


@cache
def product() -> tuple[Program, Mapping[str, Any]]:
    """The product of three matrices, and the Karate Club's data."""
    model, data = load("nested", "karate")
    return model.program, data


@cache
def swept() -> Explored:
    """Every way to cut and order the product, run."""
    space = Space(Base("nested", "karate"), {"cuts": ["all"], "order": ["all"]})
    with tempfile.TemporaryDirectory() as folder:
        return explore(space, simulate=True, jobs=0, store=f"{folder}/runs.sqlite")


@cache
def searched() -> Autoscheduled:
    """The best schedule of the product, with a whole proof."""
    return autoschedule(*product(), gap=0, time_limit=PATIENCE)


@cache
def _front() -> Autoscheduled:
    return autoschedule(*product(), gap=0, lanes=4, pareto=True, time_limit=6.0)


@cache
def _network() -> Autoscheduled:
    program, data = load("gcn", "karate")
    return autoschedule(program.program, data, time_limit=PATIENCE)


def _cycles() -> list[int]:
    return [row.cycles for row in swept() if row.cycles is not None]


def _worth_a_run() -> int:
    best = min(_cycles())
    return sum(row.estimated is not None and row.estimated <= best for row in swept())


def _removed_by(text: str) -> str:
    said = re.search(r"removed by its (\w+)", searched().why(text))
    assert said is not None
    return said[1]


def _with_little_room() -> float:
    choices = _front().choices or ()
    return min(
        c.cost.cycles for c in choices if c.cost.on_chip is not None and c.cost.on_chip <= ROOM
    )


EXERCISES = {
    "9.1": Exercise(
        "How many ways are there to cut and order the product?",
        number(lambda: len(swept()), "ways"),
        "fused, the orders of one region; cut, those of T times those of D",
    ),
    "9.2": Exercise(
        "How many times as many cycles does the slowest of them take as the fastest?",
        number(lambda: max(_cycles()) / min(_cycles()), "times", 0.01),
        "the last row of the table over the first one",
    ),
    "9.3": Exercise(
        "How many of the ways have to be run to be sure which takes the fewest cycles, if no run "
        "takes fewer than its estimate?",
        number(_worth_a_run, "ways"),
        "run the most promising one first; whose estimate is still below what that took?",
    ),
    "9.4": Exercise(
        "What removes the schedule that fuses nothing: a rule, its bound, or its rival?",
        names(lambda: {_removed_by("")}),
        "print(found.why(''))",
    ),
    "9.5": Exercise(
        "Write a schedule that takes fewer cycles than the one that is proved to be the best.",
        schedule(product, lambda: searched().cycles - 1),
        "the proof is about one lane and single numbers: parallel, or block",
    ),
    "9.6": Exercise(
        f"How many cycles does the product take at least with {ROOM} bytes on chip or fewer?",
        number(_with_little_room, "cycles", 0.01),
        "of the choices with on_chip <= 300 the one with the fewest cycles",
    ),
    "9.7": Exercise(
        "By what percentage, at most, could a schedule of the network be better?",
        number(lambda: 100 * _network().certificate.gap, "%", 0.25),
        "100 * network.certificate.gap",
    ),
}
