"""Notebook 5: factored against global iteration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.steps.rows import tokens_of
from fuseloom.models import karate
from fuseloom.program import Program, StoredTensor, parse
from fuseloom.program.primes import bare
from fuseloom_workbench.notebook.course.orders import CHAIN, club
from fuseloom_workbench.notebook.exercises import Exercise, cells, number, schedule

Matrix = npt.NDArray[np.float64]
SMALL = """program small
A: 4x4 dcsr
B: 4x4 dcsr
C: 4x3 dcsr
E[i,j] = A[i,k] * B[k,j]
D[i,l] = E[i,j] * C[j,l]
"""
"""Two products, of which the second reads the first; all three matrices are sparse."""
DATA: dict[str, Matrix] = {
    "A": np.array([[1.0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]]),
    "B": np.array([[1.0, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]]),
    "C": np.array([[0.0, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1]]),
}
SCHEDULES = {"factored": "fuse E..D", "global": "global E..D"}
LARGE = SMALL.replace("4x4", "40x40").replace("4x3", "40x40").replace("small", "large")
"""The same at size 40."""


@cache
def compiled(scheme: str) -> Compilation:
    """The small program, ``factored`` or ``global``."""
    return compile_program(parse(SMALL), SCHEDULES[scheme])


def products(scheme: str, result: str = "D") -> int:
    """Count the multiplications of the small run, in all nodes that compute a tensor."""
    rows = tokens_of(compiled(scheme), DATA)
    made = [tokens for name, tokens in rows.items() if bare(name) == f"val * {result}"]
    return sum(isinstance(token, np.floating) for tokens in made for token in tokens)


def walks(steps: int, members: int = 4) -> Program:
    """Return a program that counts walks from each member of the Karate Club to the first few."""
    names = "klmnopq"[:steps]
    pairs = zip("i" + names, names, strict=False)
    factors = " * ".join(f"A[{a},{b}]" for a, b in pairs)
    return parse(
        f"program walks\nA: 34x34 dcsr\nX: 34x{members} dcsr\n"
        f"Y[i,j] = {factors} * X[{names[-1]},j]\n"
    )


def walked(program: Program) -> dict[str, StoredTensor]:
    """Data for it: 1 where two are friends, and 1 for each of the members that are led to."""
    tensors = {name: program.tensor(name) for name in program.inputs}
    friends = (karate()["A"].to_dense() != 0).astype(float)
    there = np.eye(*tensors["X"].shape)
    return {
        name: StoredTensor.from_dense(tensors[name], array)
        for name, array in (("A", friends), ("X", there))
    }


def whole(program: Program, scheme: str) -> str:
    """The schedule for all statements of a program, factored or global."""
    made = [s.out.tensor for s in program.statements]
    return f"{'fuse' if scheme == 'factored' else 'global'} {made[0]}..{made[-1]}"


def large(rows: int) -> dict[str, Matrix]:
    """Random matrices for the large program: of the last one only so many rows are not empty."""
    draw = np.random.default_rng(0)
    a, b = ((draw.random((40, 40)) < 0.3).astype(float) for _ in range(2))
    c = (draw.random((40, 40)) < 0.1).astype(float)
    c[rows:] = 0.0
    return {"A": a, "B": b, "C": c}


def best_run(program: Program, schedule: str, data: Mapping[str, Any]) -> Run:
    """A run under the orders, and with the look-ups, that are estimated to be the fastest."""
    found = best_orders(compile_program(program, schedule), data)
    return simulate(found.compilation, data)


@cache
def ran(scheme: str, rows: int) -> Run:
    """A run of the large program, as fast as it gets."""
    return best_run(parse(LARGE), SCHEDULES[scheme], large(rows))


def _walks(steps: int) -> float:
    """Sum of all elements of the result."""
    program = walks(steps)
    run = simulate(compile_program(program, whole(program, "factored")), walked(program))
    return float(run.outputs["Y"].to_dense().sum())


def _last_win() -> int:
    """The most rows up to which the global scheme takes fewer cycles."""
    rows = 1
    while ran("global", rows).cycles < ran("factored", rows).cycles:
        rows += 1
    return rows - 1


def _column(name: str) -> dict[tuple[str, str], str]:
    found = compiled("global").regions[0].table.cells
    return {place: cell.text for place, cell in found.items() if place[0] == name}


@cache
def _one_by_one() -> Run:
    program = parse(CHAIN)
    return best_run(program, "", club(program))


EXERCISES = {
    "5.1": Exercise(
        "How many multiplications does the first of the factored products do?",
        number(lambda: products("factored", "E"), "multiplications"),
        "for each element A[i,k], the number of elements in row k of B",
    ),
    "5.2": Exercise(
        "How many does the second one do?",
        number(lambda: products("factored", "D"), "multiplications"),
        "for each element E[i,j], the number of elements in row j of C",
    ),
    "5.3": Exercise(
        "How many multiplications does the global product do?",
        number(lambda: products("global", "D"), "multiplications"),
        "count the points (i, k, j, l) at which all three have an element; each takes two",
    ),
    "5.4": Exercise(
        "What stands in the column of C under global iteration?",
        cells(lambda: _column("C")),
        "C lacks i and k, and is repeated for both; its levels j and l are scanned, j is joined",
    ),
    "5.5": Exercise(
        "How many walks of three steps end at one of the first four members?",
        number(lambda: _walks(3), "walks"),
        "each element of Y counts walks: add all of them up",
    ),
    "5.6": Exercise(
        "Up to how many rows of C does the global scheme take fewer cycles?",
        number(_last_win, "rows"),
        "compare ran('global', rows).cycles with ran('factored', rows).cycles for each number",
    ),
    "5.7": Exercise(
        "Write a schedule for A·X·W that moves fewer bytes than one statement after the other.",
        schedule(
            lambda: (parse(CHAIN), club(parse(CHAIN))),
            lambda: _one_by_one().work.bytes - 1,
            measure="bytes",
            orders="best",
        ),
        "fuse both, and name the order, as the fastest one is not it: 'fuse T..H; order T..H: ...'",
    ),
}
