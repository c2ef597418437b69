"""The schedule that comes with a program from the explorer: a row of the dataflow machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fuseloom.comparison.dataflow_rows import UNFUSED
from fuseloom.comparison.problem import ComparedProgram
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import FuseloomError
from fuseloom_workbench.systems.asked import SystemsQuestion

CARRIED = "the explorer's schedule"
"""The name of its row, unless it is a schedule that is compared in any case."""


@dataclass(frozen=True)
class CarriedSchedule:
    """A program with the schedule that came along.

    Attributes
    ----------
    problem : ComparedProgram
        With the schedule among its presets.
    name : str
        The name of its row; empty if there is none.
    refused : str
        Why the program cannot have it; empty if it can.
    """

    problem: ComparedProgram
    name: str = ""
    refused: str = ""


def carried(problem: ComparedProgram, schedule: str | None) -> CarriedSchedule:
    """Return the program with that schedule among those of the dataflow machine.

    A schedule that is compared in any case, such as a preset of the model, keeps its name.  One
    that does not fit is left out, so that nothing else is refused with it.

    Examples
    --------
    >>> from fuseloom.comparison.compare import problem_of
    >>> from fuseloom.comparison.examples import example
    >>> problem = problem_of(*example("gcn_layer"))
    >>> carried(problem, "fuse T..Y").name, carried(problem, "").name, carried(problem, None).name
    ('full', 'unfused', '')
    """
    if schedule is None:
        return CarriedSchedule(problem)
    try:
        wanted = Schedule.parse(schedule)
        for name, text in {UNFUSED: "", **problem.presets}.items():
            if Schedule.parse(text) == wanted:
                return CarriedSchedule(problem, name)
        for region in compile_program(problem.program, wanted).regions:
            _ = region.graph  # made when it is asked for, and refused then
    except FuseloomError as reason:
        return CarriedSchedule(problem, refused=reason.message)
    presets = {**problem.presets, CARRIED: str(wanted)}
    return CarriedSchedule(replace(problem, presets=presets), CARRIED)


def explorer_words(asked: SystemsQuestion) -> dict[str, str]:
    """The words of an explorer's address besides model and data, so that it opens the same.

    Examples
    --------
    >>> explorer_words(SystemsQuestion("gcn", sizes=(("hidden", "8"),), schedule="fuse T1..H"))
    {'hidden': '8', 'schedule': 'fuse T1..H'}
    """
    words = dict(asked.sizes)
    if asked.text and asked.data:
        words["program"] = asked.text
    if asked.schedule is not None:
        words["schedule"] = asked.schedule
    return words
