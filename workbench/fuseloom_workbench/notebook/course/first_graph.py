"""Notebook 2: a first dataflow graph, sparse matrix times vector."""

from __future__ import annotations

from functools import cache

import numpy as np

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.steps.rows import tokens_of
from fuseloom.dataflow.sim.tokens import format_tokens
from fuseloom.program import parse
from fuseloom_workbench.notebook.course.formats import MATRIX
from fuseloom_workbench.notebook.exercises import Exercise, number, primitive_of, tokens

TEXT = """program spmv
B: 4x4 dcsr
x: 4 dense
y[i] = B[i,j] * x[j]
"""
DATA = {"B": MATRIX, "x": np.array([1.0, 2.0, 3.0, 4.0])}
"""The matrix of notebook 1, and a vector."""


@cache
def compiled() -> Compilation:
    """The program, one region."""
    return compile_program(parse(TEXT))


@cache
def _rows() -> dict[str, str]:
    return {name: format_tokens(tokens) for name, tokens in tokens_of(compiled(), DATA).items()}


def _scanners() -> int:
    nodes = compiled().regions[0].graph.nodes
    return sum(n.label.startswith("LS ") for n in nodes)


EXERCISES = {
    "2.1": Exercise(
        "How many level scanners does the graph have?",
        number(lambda: _scanners(), "scanners"),
        "x is dense, so its level is looked up and not scanned",
    ),
    "2.2": Exercise(
        "Which references does Locate x.j put out?",
        tokens(lambda: _rows()["ref Locate x.j"], StreamKind.REF),
        "in a dense level, the place of coordinate j is j; stops are those of the coordinates",
    ),
    "2.3": Exercise(
        "Which values does the multiplier put out?",
        tokens(lambda: _rows()["val * y"], StreamKind.VAL),
        "one product per stored element of B",
    ),
    "2.4": Exercise(
        "Which values does the reducer over j put out?",
        tokens(lambda: _rows()["val Red j"], StreamKind.VAL),
        "one sum per row that B stores; the innermost stop is used up",
    ),
    "2.5": Exercise(
        "Write the repeat signal as a generator.",
        primitive_of("repsig"),
        "R for each number, S for each stop, D at the end; after each of them the clock moves on",
    ),
    "2.6": Exercise(
        "How many cycles does the graph take?",
        number(lambda: simulate(compiled(), DATA).cycles, "cycles"),
        "fl.simulate(compiled, data).cycles",
    ),
}
