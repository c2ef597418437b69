"""Notebook 0: the whole way once, from a program to its cycles."""

from __future__ import annotations

from functools import cache

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.why.recomputed import recomputed
from fuseloom.models import Loaded, load_labelled
from fuseloom_workbench.notebook.exercises import Exercise, names


@cache
def network() -> Loaded:
    """The graph convolution of two layers, and the Karate Club."""
    return load_labelled("gcn", "karate")


@cache
def ran(preset: str) -> Run:
    """A run under one of the schedules that come with the model."""
    loaded = network()
    return simulate(
        compile_program(loaded.model.program, loaded.model.presets[preset]), loaded.data
    )


def _fastest() -> str:
    return min(network().model.presets, key=lambda name: ran(name).cycles)


def _busiest() -> str:
    return max(ran("full").trace[0].nodes, key=lambda node: node.busy).label


def _around() -> tuple[str, ...]:
    return recomputed(ran("full").compilation, network().data)["H"].around


EXERCISES = {
    "0.1": Exercise(
        "Which preset takes the fewest cycles?",
        names(lambda: {_fastest()}),
        "the column of simulated cycles",
    ),
    "0.2": Exercise(
        "Which node of the fully fused graph is busy for the longest time?",
        names(lambda: {_busiest()}),
        "the first row, as the rows are sorted by it",
    ),
    "0.3": Exercise(
        "Under which index is the first layer computed again?",
        names(_around),
        "H has the indices k and n; look at the rows above k in its column",
    ),
}
