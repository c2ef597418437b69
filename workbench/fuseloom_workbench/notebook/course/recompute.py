"""Notebook 6: fuse or recompute, a graph network in four schedules."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.why.recomputed import recomputed
from fuseloom.models import Loaded, load_labelled
from fuseloom_workbench.notebook.exercises import Exercise, names, number, schedule

FEW_CYCLES = 20_000
"""On the Karate Club: what a good cut stays below."""


@cache
def club() -> Loaded:
    """The network with two layers on the Karate Club."""
    return load_labelled("gcn", "karate")


@cache
def cora() -> Loaded:
    """The same on the citations of Cora, or on a graph that stands in for it."""
    return load_labelled("gcn", "cora")


def compiled(preset: str) -> Compilation:
    """The network under one of its schedules."""
    return compile_program(club().model.program, club().model.presets[preset])


@cache
def ran(preset: str, friendships: int | None = None) -> Run:
    """A run on the Karate Club, or with so many friendships in its place."""
    data = dict(club().data)
    if friendships is not None:
        data["A"] = few(friendships)
    return simulate(compiled(preset), data)


def few(elements: int, size: int = 34) -> npt.NDArray[np.float64]:
    """A matrix with so many elements, spread evenly over its rows and columns."""
    found = np.zeros((size, size))
    for k in range(elements):
        found[k % size, (k + 1 + k // size) % size] = 1.0
    return found


def cut_after(tensor: str) -> str:
    """The schedule that fuses all statements up to one, and all behind it."""
    made = [s.out.tensor for s in club().model.program.statements]
    k = made.index(tensor) + 1
    parts = (made[:k], made[k:])
    return "; ".join(f"fuse {part[0]}..{part[-1]}" for part in parts if len(part) > 1)


@cache
def ran_cut(tensor: str) -> Run:
    """A run with one cut."""
    return simulate(compile_program(club().model.program, cut_after(tensor)), club().data)


def places() -> list[str]:
    """The tensors behind which the network can be cut."""
    return [s.out.tensor for s in club().model.program.statements][:-1]


def _between(preset: str) -> list[str]:
    made = compiled(preset)
    return [t for r in made.regions for t in r.region.outputs if t not in made.program.outputs]


def _around() -> tuple[str, ...]:
    return recomputed(compiled("full"), club().data)["H"].around


def _rows() -> float:
    rows = recomputed(compiled("full"), club().data)["H"].rows
    assert rows is not None
    return rows


def _last_win() -> int:
    elements = 34
    while ran("full", elements).cycles <= ran("partial", elements).cycles:
        elements += 1
    return elements - 1


EXERCISES = {
    "6.1": Exercise(
        "Which tensors go through memory under the schedule partial?",
        names(lambda: _between("partial")),
        "fuse T1..H and T5..Y: which tensor does the second region read that the first one writes?",
    ),
    "6.2": Exercise(
        "Which index lies around H that is none of its own?",
        names(_around),
        "H has k and n; look at the rows above k in its column",
    ),
    "6.3": Exercise(
        "How many rows of H does the fully fused graph compute?",
        number(_rows, "rows"),
        "one for each pair (i, k) at which A has an element",
    ),
    "6.4": Exercise(
        "Up to how many elements of A does full take no more cycles than partial?",
        number(_last_win, "elements"),
        "compare ran('full', elements).cycles with ran('partial', elements).cycles from 34 on",
    ),
    "6.5": Exercise(
        f"Behind which tensors does one cut stay below {FEW_CYCLES:,} cycles?",
        names(lambda: [t for t in places() if ran_cut(t).cycles < FEW_CYCLES]),
        "the first layer has to be finished before A meets H, but not its cheap last steps",
    ),
    "6.6": Exercise(
        "How many rows of H would the fully fused network compute on Cora?",
        number(lambda: cora().data["A"].nnz, "rows"),
        "the same rule: once for each element of A; cora().data['A'] is the matrix",
    ),
    "6.7": Exercise(
        "Write a schedule that takes fewer cycles than any single cut.",
        schedule(
            lambda: (club().model.program, club().data),
            lambda: min(ran_cut(t).cycles for t in places()) - 1,
        ),
        "keep a good cut, and change the order of the first region, or deal its rows to lanes",
    ),
}
