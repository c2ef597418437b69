"""Notebook 13: annotated calls of libraries, fused tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from fuseloom.calls import checker
from fuseloom.calls.annotated import AnnotatedFunction, DataHandle, annotate
from fuseloom.calls.commands import ScheduleCommand
from fuseloom.calls.composition import Composition
from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.parts import CallPart, PartFields
from fuseloom.calls.pipeline_nodes import LoopNode
from fuseloom.calls.pipelines import PIPELINES, PipelineCase
from fuseloom.calls.polynomials import Symbol
from fuseloom.calls.resolution import resolve
from fuseloom.wording import counted
from fuseloom_workbench.notebook.exercises import Exercise, number, sequence

ROOM = 32 * 2**10
"""Bytes of a first-level cache: what intermediates of a tile of softmax may take."""
TILE_ROOM = 2**10
"""Bytes that intermediates of a tile of the blurred image may take."""
TILE = {"n": 8, "m": 16}
"""Rows and columns of a tile of the blurred image."""
INNER = 512
"""Elements of a dot product of the dense layer."""
SEEDS = 3
"""Data on which an annotation is checked."""
ITEM = np.dtype(np.float32).itemsize

WRONG = """\
n: Symbolic
m: Symbolic
for i in [0, out.rows, n] {
  for j in [0, out.cols, m] {
    produces { out { row: i, col: j, rows: n, cols: m } }
    when consumes { a { row: i, col: j, rows: n, cols: m } }
  }
}"""
"""An annotation for :func:`normalise` that asks for too little."""


@cache
def softmax(extent: int = 256) -> PipelineCase:
    """Softmax of the rows of a matrix, in five calls."""
    return PIPELINES["softmax"].make({"h": extent, "w": extent})


@cache
def blur() -> PipelineCase:
    """Means of 3 × 3 pixels of an image, by rows and then by columns."""
    return PIPELINES["blur"].make({"h": 64, "w": 64})


@cache
def fork() -> PipelineCase:
    """Two calls that read different parts of the same squares."""
    case = PipelineCase()
    data = np.arange(31, dtype=np.float32)
    squares = case.add("square", case.give("A", data))
    every_second, means = case.add("every_second", squares), case.add("midpoints", squares)
    case.add("add", every_second, means)
    whole = data * data
    case.expected = whole[::2] + (whole[:16] + whole[1:17]) / 2
    case.result = np.empty_like(case.expected)
    return case


def normalise(a: npt.NDArray[Any], width: int, out: npt.NDArray[Any]) -> None:
    """Each row divided by its sum."""
    np.divide(a, a.sum(axis=1, keepdims=True), out=out)


def rows_and_widths(seed: int = 0) -> dict[str, Any]:
    """Random arguments of :func:`normalise`."""
    a = np.random.default_rng(seed).uniform(0.5, 2.0, (6, 9))
    return {"a": a, "width": 9, "out": np.zeros_like(a)}


def written(composition: Composition) -> str:
    """The calls of a composition, a line each.

    Examples
    --------
    >>> print(written(blur().composition))
    t1 = blur_rows(A)
    t2 = blur_columns(t1)
    """
    return "\n".join(
        f"{call.output.name} = {call.function.name}({', '.join(x.name for x in call.inputs)})"
        for call in composition.calls
    )


def _through_memory() -> float:
    """MiB of the matrices that whole calls of softmax read and write."""
    case = softmax(1024)
    passes = [handle for call in case.calls for handle in (*call.inputs, call.output)]
    matrices = sum(isinstance(handle.kind, Matrix) for handle in passes)
    return matrices * prod(case.result.shape) * ITEM / 2**20


def _part_of(case: PipelineCase, name: str) -> CallPart:
    """The parts of the call that computes some data structure."""
    parts = resolve(case.composition).parts
    return next(part for part in parts if part.call.output.name == name)


def _evaluated(fields: PartFields, **values: int) -> dict[str, int]:
    known: dict[Any, int] = {Symbol(name): value for name, value in values.items()}
    return {name: value.evaluate(known) for name, value in fields.items()}


def _pixels() -> int:
    """Pixels of the image that a tile of the blurred one needs."""
    ((_, fields),) = _part_of(blur(), "t1").consumed
    part = _evaluated(fields, i=0, j=0, n_len=TILE["n"], m_len=TILE["m"])
    return part["rows"] * part["cols"]


def _held_by_both() -> Sequence[int]:
    """Start and length of the squares that a tile of four elements from 8 on computes."""
    part = _evaluated(_part_of(fork(), "t1").produced, i=8, n_len=4)
    return [part["start"], part["len"]]


def _times() -> float:
    case = softmax()
    counts = FusedFunction(case.composition).counts(**case.arguments, n=64, m=48)
    return counts.recomputation["t1"]


def _sizes(answer: Any) -> str:
    """Sizes of tiles of softmax that compute nothing twice and have little room."""
    if not isinstance(answer, Mapping) or not all(isinstance(name, str) for name in answer):
        return "this is no dict of sizes by their names"
    case = softmax()
    return _costs(FusedFunction(case.composition), {**case.arguments, **answer}, ROOM)


def _costs(fused: FusedFunction, given: Mapping[str, Any], most: int) -> str:
    """Say what is computed more than once, or that intermediates have too much room."""
    counts = fused.counts(**given)
    name, factor = max(counts.recomputation.items(), key=lambda one: one[1])
    if factor > 1:
        return f"{factor:.4g} elements of {name} are computed per element that is needed"
    if counts.room > most:
        return f"intermediates have {counted(counts.room, 'byte')}, more than {most:,}"
    return ""


def _commands(threads: int) -> Callable[[Any], str]:
    """Commands with which no pixel is computed twice and intermediates stay small."""

    def wrong(answer: Any) -> str:
        given = [answer] if isinstance(answer, get_args(ScheduleCommand)) else answer
        if not isinstance(given, list | tuple):
            return "this is no list of commands"
        for command in given:
            if not isinstance(command, get_args(ScheduleCommand)):
                return f"{str(command)[:40]} is no command"
        case = blur()
        fused = FusedFunction(case.composition, given, threads)
        loops = [node for node in fused.scheduled.nodes() if isinstance(node, LoopNode)]
        if threads > 1 and not any(loop.parallel for loop in loops):
            return "no loop runs in parallel"
        sizes = {name: n for name, n in TILE.items() if name in fused.scheduled.parameters}
        return _costs(fused, {**case.arguments, **sizes}, TILE_ROOM)

    return wrong


def _checked(
    function: AnnotatedFunction,
    kinds: Mapping[str, Any],
    examples: Callable[[int], Mapping[str, Any]],
    tolerance: float = 0.0,
) -> str:
    """The first fault that the checker finds on several random data."""
    if function.data != ("a", "out"):
        return f"it speaks of {', '.join(function.data)}: what of a does it need for a part of out?"
    for seed in range(SEEDS):
        found = checker.check(function, kinds, examples(seed), seed=seed, tolerance=tolerance)
        if not found.ok:
            return str(found.findings[0])
    return ""


def _row_maximum(answer: Any) -> str:
    """An annotation for the largest element of each row, of which only parts are there."""
    if not isinstance(answer, str):
        return "this is no text of an annotation"
    row = LIBRARY["max_rows"]
    function = annotate(row.function, answer, row.parameters, "row_maximum")
    problem = _checked(function, row.kinds, row.example)
    if problem:
        return problem
    a, powers, differences = (DataHandle(x, Matrix()) for x in ("A", "powers", "differences"))
    largest = DataHandle("largest", Vector())
    fused = FusedFunction([
        LIBRARY["exp_matrix"].annotated(a, powers),
        function(powers, 8, largest),
        LIBRARY["subtract_per_row"].annotated(powers, largest, differences),
    ])  # fmt: skip
    given = np.linspace(0.0, 1.0, 64).reshape(8, 8)
    sizes: dict[str, Any] = {"A": given, "differences": np.empty((8, 8)), "n": 2}
    fused(**sizes)
    expected = np.exp(given) - np.exp(given).max(axis=1, keepdims=True)
    if not np.allclose(sizes["differences"], expected):
        return "its parts cannot have as many rows as a tile of another call needs"
    if max(fused.counts(**sizes).recomputation.values()) > 1:
        return "it computes rows whose maxima a tile of another call does not need"
    return ""


def _normalised(answer: Any) -> str:
    """An annotation of what divides each row by its sum, in tiles."""
    if not isinstance(answer, str):
        return "this is no text of an annotation"
    function = annotate(normalise, answer)
    kinds = {"a": Matrix(), "out": Matrix()}
    problem = _checked(function, kinds, rows_and_widths, 1e-12)
    if problem:
        return problem
    fused = FusedFunction([function(DataHandle("A", Matrix()), 9, DataHandle("B", Matrix()))])
    given = rows_and_widths()
    ones = dict.fromkeys(fused.scheduled.parameters, 1)
    if fused.counts(A=given["a"], B=given["out"], **ones).calls < len(given["a"]):
        return "its parts are larger than a row, even if every size is 1"
    return ""


def _flops_per_byte() -> float:
    """Multiplications and additions of the product, per byte that fusing keeps from memory."""
    calls = PIPELINES["gemm-bias-relu"].make({"m": 1, "k": 1, "n": 1}).composition
    passes = sum(1 + len(connection.consumers) for connection in calls.connections)
    return 2 * INNER / (passes * ITEM)


EXERCISES = {
    "13.1": Exercise(
        "How many MiB of matrices do the five whole calls read and write?",
        number(_through_memory, "MiB"),
        "count for each call the matrices that it reads and the one that it writes",
    ),
    "13.2": Exercise(
        "Write the annotation of the largest element of each row.",
        _row_maximum,
        "for n elements of out from i on: n rows of a from i on, each from column 0, width long",
    ),
    "13.3": Exercise(
        "How many pixels of A does a tile of 8 × 16 blurred pixels need?",
        number(_pixels, "pixels"),
        "two more rows for the means by columns, two more columns for those by rows",
    ),
    "13.4": Exercise(
        "Which part of t1 does the tile of four elements from 8 on compute: start, length?",
        sequence(_held_by_both, "entry"),
        "from the smaller start to the larger end; what lies between is computed, too",
    ),
    "13.5": Exercise(
        "How often is each row's maximum computed, with tiles of 64 rows and 48 columns?",
        number(_times, "times"),
        "once for every tile along a row of 256 elements; the last tile is shorter",
    ),
    "13.6": Exercise(
        "Choose sizes of tiles: nothing computed twice, intermediates of at most 32 KiB.",
        _sizes,
        "a tile as wide as the matrix has whole rows; how many of them fit?",
    ),
    "13.7": Exercise(
        "Write commands with which no pixel of t1 is computed twice, in at most 1 KiB.",
        _commands(1),
        "exchange the loops, so that the one along which tiles overlap is the innermost",
    ),
    "13.8": Exercise(
        "Write commands that do the same with tiles on two threads.",
        _commands(2),
        "a tile waits for the one before it along the rows, and for none along the columns",
    ),
    "13.9": Exercise(
        "Write an annotation of normalise in which the checker finds no fault.",
        _normalised,
        "an element needs the sum of its row, so that a part has whole rows",
    ),
    "13.10": Exercise(
        "How many FLOPs does a product with k = 512 take per byte that fusing saves?",
        number(_flops_per_byte, "FLOPs"),
        "2·k FLOPs per element; t1 and t2 are each written once and read once, 4 bytes each",
    ),
}
