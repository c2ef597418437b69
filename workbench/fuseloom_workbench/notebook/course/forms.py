"""Notebook 18: forms of fusion, views and their names, and the paper's heuristic against ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.pog import Edge, EdgeOrigin, PartialOrderGraph
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.models import Loaded, karate, load_labelled
from fuseloom.program import Program, parse
from fuseloom_workbench.notebook.building import LIMITS, compiled, program
from fuseloom_workbench.notebook.exercises import Exercise, names, number, order

Array = npt.NDArray[np.float64]
FIGURE_8 = """program figure_8
B: 6x6 csr
C: 6x6 dense
A[i,j] = B[i,k] * C[k,j]
E[i,j] = B[i,k] * A[k,j]
"""
"""The two statements that the paper fuses in Figure 8."""
INNER = "fuse A..E; order A: i,j,k; order E: i,j,k"
"""Both as inner products, as in the paper's text."""
TURNED = """program turned
A: 34x34 dcsr
B: 34x34 dcsr
T[i,j] = A[i,k] * B[k,j]
U[i,j] = T[i,j] + A[j,i]
"""
"""The second use of A is turned over."""
SQUARE = """program square
A: 34x34 dcsr
X: 34x34 dcsr
T[i,j] = A[i,k] * X[k,j]
"""
"""A matrix times another one of the same size."""
PLACES = {"a": "POF", "b": "IIF", "c": "EKF"}
"""Forms of the three descriptions in the notebook."""
TIMES = 3
"""By how much the FLOPs of a run are to exceed the heuristic's."""
LARGEST = 4096
"""Elements of a tensor in a program that a student writes."""


@cache
def network() -> Loaded:
    """The graph convolution of two layers on the Karate Club."""
    return load_labelled("gcn", "karate")


def between(run: Run) -> set[str]:
    """Return the tensors that one region of a run writes and another one reads."""
    made = run.compilation
    written = {name for region in made.regions for name in region.region.outputs}
    return written - set(made.program.outputs)


@cache
def friends() -> Array:
    """Who is friends with whom in the Karate Club."""
    found: Array = (karate()["A"].to_dense() != 0).astype(np.float64)
    return found


def weights() -> Array:
    """A matrix of 34 by 34 of which about half are zero."""
    return (np.random.default_rng(1).random((34, 34)) < 0.5).astype(np.float64)


def turned(schedule: str = "fuse T..U") -> Run:
    """A run of the program whose matrix is used twice, the second time turned over."""
    data = {"A": friends(), "B": weights()}
    return simulate(compile_program(parse(TURNED), schedule), data)


def heuristic(sizes: Mapping[str, int], kept: Mapping[str, float]) -> float:
    """Guess the FLOPs of a product as the paper's heuristic does.

    Parameters
    ----------
    sizes : mapping
        How far each index runs.
    kept : mapping
        The share of its coordinates that are left at each index, on the average; 1 where nothing
        is said.

    Returns
    -------
    float
        Two operations, a multiplication and an addition, at each point that is left.

    Examples
    --------
    >>> heuristic({"i": 4, "k": 4, "j": 2}, {"k": 0.5})
    32.0
    """
    return 2.0 * prod(size * kept.get(index, 1.0) for index, size in sizes.items())


def guess(matrix: Array) -> float:
    """Guess the FLOPs of a square matrix times itself from its size and its share of elements."""
    size = len(matrix)
    share = float(np.count_nonzero(matrix)) / matrix.size
    return heuristic(dict.fromkeys("ikj", size), {"k": share, "j": share})


def squared(matrix: Array) -> Run:
    """A run of a matrix times itself."""
    return simulate(compile_program(parse(SQUARE)), {"A": matrix, "X": matrix}, limits=LIMITS)


def _forms(answer: Any) -> str:
    """Judge which form of fusion each description is of."""
    if not isinstance(answer, Mapping):
        return "give a dict of the letters a, b and c to POF, IIF or EKF"
    for letter, form in PLACES.items():
        if answer.get(letter) is None or answer.get(letter) is ...:
            return f"{letter} has no answer yet"
        if str(answer[letter]).upper() not in PLACES.values():
            return f"{letter}: {answer[letter]} is none of POF, IIF and EKF"
        if str(answer[letter]).upper() != form:
            return f"{letter} is not {answer[letter]}"
    return ""


def _only_h(run: Run) -> str:
    found = between(run)
    if found == {"H"}:
        return ""
    extra = ", ".join(sorted(found - {"H"})) or "nothing"
    verb = "go" if len(found - {"H"}) > 1 else "goes"
    if "H" not in found:
        return f"{extra} {verb} through memory, and H should"
    return f"{extra} {verb} through memory, too"


@cache
def _figure_8() -> PartialOrderGraph:
    return compile_program(parse(FIGURE_8), "fuse A..E").regions[0].pog


def _once() -> PartialOrderGraph:
    """Figure 8 without computing a row of A anew for each column of E."""
    pog = _figure_8()
    inside = Edge("k'", "j", EdgeOrigin.USER, "A is to be summed up before j is chosen")
    return PartialOrderGraph(pog.indices, (*pog.edges, inside))


def _merged(made: Program) -> str:
    """Judge a program in which two statements share the scans of a matrix."""
    if "A" not in made.inputs or made.tensor("A").rank != 2:
        return "it has no input A with two dimensions"
    uses = sum("A" in [o.tensor for o in s.operands] for s in made.statements)
    if uses < 2:
        return f"A is read by {uses} of its statements, and should be by two"
    if large := [name for name in made.inputs if prod(made.tensor(name).shape) > LARGEST]:
        return f"{large[0]} has more than {LARGEST:,} elements: a small one will do"
    draw = np.random.default_rng(0)
    data = {}
    for name in made.inputs:
        shape = made.tensor(name).shape
        data[name] = np.where(draw.random(shape) < 0.5, draw.integers(1, 5, shape), 0.0)
    results = [s.out.tensor for s in made.statements]
    done = compile_program(made, f"fuse {results[0]}..{results[-1]}")
    run = simulate(done, data, limits=LIMITS)
    if not run.check().ok:
        return str(run.check())
    scans = sum(
        node.op in ("scan", "dense_scan") and node.params.get("tensor", "A") == "A"
        for region in done.regions
        for node in region.graph.nodes
    )
    copies = [name for region in done.regions for name in region.copies]
    if copies:
        return f"{copies[0]} has to be stored a second time: its uses ask for other orders"
    return "" if scans <= 2 else f"A has {scans} scanners, and two are enough if its views merge"


def _repair(run: Run) -> str:
    if len(run.regions) != 1:
        return f"it has {len(run.regions)} regions, and should have one"
    most = turned().work.bytes
    taken = run.work.bytes
    return "" if taken < most else f"it moves {taken:,.0f} bytes, and not fewer than {most:,.0f}"


def _misleads(answer: Any) -> str:
    """Judge a matrix for which the heuristic's guess is far too low."""
    try:
        matrix = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return "that is no matrix of numbers"
    like = friends()
    if matrix.shape != like.shape:
        return f"a matrix of {matrix.shape}, and not of {like.shape}"
    if not np.isfinite(matrix).all():
        return "it has an element that is no finite number"
    found, want = np.count_nonzero(matrix), np.count_nonzero(like)
    if found != want:
        return f"it has {found} elements, and should have {want}"
    times = squared(matrix).work.flops / guess(matrix)
    if times < TIMES:
        return f"its run does {times:.2f} times the FLOPs of the guess, less than {TIMES} times"
    return ""


EXERCISES = {
    "18.1": Exercise(
        "Which form of fusion is each of the three?",
        _forms,
        "POF replaces what it recognises; IIF joins loops inside an expression; EKF goes across "
        "expressions",
    ),
    "18.2": Exercise(
        "Write a schedule of the network under which only H goes through memory.",
        compiled(lambda: (network().model.program, network().data), _only_h),
        "two regions: one ends with the statement of H, the other begins behind it",
    ),
    "18.3": Exercise(
        "Which new index does the fused region of Figure 8 have?",
        names(lambda: {i for i in _figure_8().indices if "'" in i}),
        "the first statement's k would be the second one's, so it is given a prime",
    ),
    "18.4": Exercise(
        "How many orders does it have?",
        number(lambda: _figure_8().count(), "orders"),
        "i is outside k, k outside k', and i outside j: where can j stand?",
    ),
    "18.5": Exercise(
        "In which order is each row of A summed up before a column j is chosen?",
        order(_once),
        "A is summed over k'; what must not be chosen before that is done?",
    ),
    "18.6": Exercise(
        "Write a program in which two statements read A, and one pair of scanners is enough.",
        program(_merged),
        "both read the same elements in the same order, such as A[i,j] and A[i,j], or a row's "
        "maximum and then the row",
    ),
    "18.7": Exercise(
        "Break the cycle so that the run moves fewer bytes than with the compiler's choice.",
        compiled(lambda: (parse(TURNED), {"A": friends(), "B": weights()}), _repair),
        "the message lists the other ways; 'permute A to ...' stores the first use of A again",
    ),
    "18.8": Exercise(
        "How many FLOPs does the paper's heuristic guess for the matrix of friends times itself?",
        number(lambda: guess(friends()), "FLOPs", 0.002),
        "heuristic({'i': 34, 'k': 34, 'j': 34}, {...}): 156 of 34 * 34 elements are left at k, "
        "and as many at j",
    ),
    "18.9": Exercise(
        f"Give a matrix with as many elements, whose run does {TIMES} times the FLOPs of the "
        "guess.",
        _misleads,
        "column k meets row k: let a few members have all the friends, in both directions",
    ),
}
