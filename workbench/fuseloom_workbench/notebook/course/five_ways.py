"""Notebook 15: one program by five systems, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.program_calls import TILE, program_case
from fuseloom.comparison.compare import compare, problem_of
from fuseloom.comparison.examples import example
from fuseloom.comparison.rows import Comparison, ComparisonRow, FusionSystem
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import count_products
from fuseloom.contraction.loopnest.ir import Nest
from fuseloom.contraction.ranking import FusionScheme, ranked
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.models import load
from fuseloom.program import parse
from fuseloom.results.energy import ActionKind
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.program_graph import program_module
from fuseloom.wording import counted, grouped
from fuseloom_workbench.notebook.exercises import Exercise, Judge, names, number

SECONDS = 0.5
"""Time limit of each search and of each tuning."""
UNSETTLED = ("found", "tuned")
"""Schemes whose counts depend on a time limit or on the clock."""
TILE_ROWS = 8
"""Rows of Y in a tile of fused calls."""
SPARSE_STATEMENTS = {
    "p": "p[i,j] = 0.5 * A[i,j]",
    "b": "b[i,j] = A[i,j] + 1",
    "r": "r[i,j] = relu(A[i,j])",
    "e": "e[i,j] = exp(A[i,j])",
    "s": "s[i] = A[i,j]",
    "m": "m[i] = max[j] A[i,j]",
    "y": "y[i] = A[i,j] * v[j]",
}
"""Statements that read a sparse matrix."""


@dataclass(frozen=True)
class TableFigure:
    """One figure of a comparison.

    Attributes
    ----------
    program : str
    system : str
    way : str
    column : str
        ``simulated_cycles``, ``predicted`` or ``measured_seconds``.
    """

    program: str
    system: str
    way: str
    column: str

    def __str__(self) -> str:
        column = self.column.split("_")[0]
        return f"{self.program} by {self.system}, {self.way}: {column}"

    @property
    def machine(self) -> str:
        """The machine that the figure is of."""
        return MACHINES.get(self.system, "this processor")


MACHINES = {"dataflow": "the dataflow machine", "access": "the systolic array"}
"""Machines that are simulated or predicted; all others are this processor."""
FIGURE_PAIRS = {
    "a": (TableFigure("attention_block", "dataflow", "unfused", "simulated_cycles"),
          TableFigure("attention_block", "dataflow", "full", "simulated_cycles")),
    "b": (TableFigure("attention_block", "dataflow", "full", "simulated_cycles"),
          TableFigure("attention_block", "access", "mapped", "predicted")),
    "c": (TableFigure("gcn_layer", "contraction", "fused", "predicted"),
          TableFigure("gcn_layer", "stitch", "stitched", "measured_seconds")),
    "d": (TableFigure("gcn_layer", "contraction", "n-ary", "predicted"),
          TableFigure("gcn_layer", "contraction", "fused", "predicted")),
    "e": (TableFigure("gcn_layer", "dataflow", "unfused", "predicted"),
          TableFigure("gcn_layer", "access", "mapped", "predicted")),
    "f": (TableFigure("gcn_layer", "calls", "unfused", "measured_seconds"),
          TableFigure("gcn_layer", "stitch", "stitched", "measured_seconds")),
    "g": (TableFigure("attention_block", "stitch", "stitched", "measured_seconds"),
          TableFigure("gcn_layer", "stitch", "stitched", "measured_seconds")),
}  # fmt: skip
"""Figures of which it is asked whether they can rank two rows."""


@dataclass(frozen=True)
class FusionGoal:
    """A goal for which a row of a comparison is chosen.

    Attributes
    ----------
    program : str
    text : str
    column : str
        The count that is to be least.
    here : bool
        Whether only kernels of this processor are of use.
    once : bool
        Whether nothing may be computed more than once.
    """

    program: str
    text: str
    column: str
    here: bool = False
    once: bool = False

    def __str__(self) -> str:
        return f"{self.program}: {self.text}"

    def obstacle(self, row: ComparisonRow) -> str:
        """Return why the row is out of the question; an empty text where it is not."""
        if not row.applies:
            return f"does not apply: {row.reason}"
        if row.way in UNSETTLED:
            return "depends on a time limit or on the clock"
        if self.here and row.system.value in MACHINES:
            return f"is of {MACHINES[row.system.value]}"
        if self.once and row.recompute != 1.0:
            if row.recompute is None:
                return "does not say what it computes again"
            return f"computes {row.recompute:.2f} times what it computes without fusion"
        return ""


GOALS = {
    "a": FusionGoal("attention_block", "the fewest kernels", "kernels"),
    "b": FusionGoal("attention_block", "the fewest kernels on this processor",
                    "kernels", here=True),
    "c": FusionGoal("attention_block", "the fewest bytes between on this processor",
                    "bytes_between", here=True),
    "d": FusionGoal("gcn_layer", "the fewest bytes between, nothing computed twice",
                    "bytes_between", once=True),
}  # fmt: skip
"""Goals by letter."""
_UNITS = {"kernels": "kernel", "bytes_between": "byte"}


def compared(name: str) -> Comparison:
    """An example by every system, with short searches and one run by the clock.

    Examples
    --------
    >>> len(compared("gcn_layer").rows)
    12
    """
    rows = (row for system in FusionSystem for row in _rows(name, system.value))
    return Comparison(name, "random", tuple(rows))


def row_of(name: str, system: str, way: str) -> ComparisonRow:
    """The row of an example by one scheme of one system.

    Examples
    --------
    >>> row_of("gcn_layer", "dataflow", "unfused").kernels
    2
    """
    return next(row for row in _rows(name, system) if row.way == way)


@cache
def _rows(name: str, system: str) -> tuple[ComparisonRow, ...]:
    program, data = example(name)
    statements = [statement.out.tensor for statement in program.statements]
    full = {"full": f"fuse {statements[0]}..{statements[-1]}"}
    made = compare(program, data, presets=full, systems=[system], seconds=SECONDS, rounds=1)
    return made.rows


def dense_refusal_of(line: str) -> str:
    """Say why a statement over a sparse matrix A has no dense meaning; an empty text if it has one.

    Examples
    --------
    >>> dense_refusal_of("e[i,j] = exp(A[i,j])")
    'e has no dense meaning: exp is applied to those elements that A has'
    """
    program = parse(f"A: 4x4 csr\nv: 4 dense\n{line}")
    given = {"A": np.eye(4), "v": np.ones(4)}
    needed = {name: given[name] for name in program.given}
    try:
        _ = problem_of(program, needed).dense
    except FuseloomError as reason:
        return reason.message
    return ""


def kernels_of(name: str) -> dict[str, list[list[str]]]:
    """The statements of each kernel, by XLA's rules and by deep fusion.

    Examples
    --------
    >>> kernels_of("gcn_layer")["stitched"]
    [['T'], ['Y']]
    """
    program, data = example(name)
    frame = fuse_module(program_module(problem_of(program, data).dense)).frames[0]
    known = {statement.out.tensor for statement in program.live}
    return {
        way: [[x for x in kernel.operations if x in known] for kernel in kernels]
        for way, kernels in (
            ("XLA's rules", frame.baseline.kernels),
            ("stitched", frame.fusion.kernels),
        )
    }


@cache
def simulated_multiplications(name: str) -> int:
    """The multiplications of the simulated dataflow machine, by the tokens of its units."""
    program, data = example(name)
    run = simulate(compile_program(program, ""), data)
    return sum(
        int(action.count)
        for region in run.regions
        for node in region.actions.nodes
        for action in node
        if action.kind is ActionKind.MULTIPLY
    )


@cache
def counted_assignments(name: str, scheme: str = "fused") -> dict[str, int]:
    """Executions of each assignment of a loop nest, by counters in its C code."""
    tree, given = _network(name)
    return count_products(nest_of(name, scheme), tree, given, levels=given.levels)


@cache
def nest_of(name: str, scheme: str) -> Nest:
    """The loop nest of a scheme that is expected to be the fastest.

    Examples
    --------
    >>> print(nest_of("gcn_layer", "fused"))  # doctest: +ELLIPSIS
    forall(i, where(forall(n, forall(h, Y(n,h) += A(i,n) * T(h))), ...
    """
    tree, given = _network(name)
    found = ranked(Question(tree), given.held).candidates
    return next(one.nest for one in found if one.scheme is FusionScheme(scheme))


@cache
def _network(name: str) -> tuple[ContractionTree, Data]:
    program, data = example(name)
    tree = ContractionTree.of(program)
    return tree, Data(tree, {x: data[x] for x in tree.given})


def _applying(name: str) -> set[str]:
    return {row.system.value for row in compared(name).rows if row.applies}


def _without_dense_meaning() -> set[str]:
    return {name for name, line in SPARSE_STATEMENTS.items() if dense_refusal_of(line)}


def _mask(answer: Any) -> str:
    """A mask with which attention has a dense meaning."""
    if not isinstance(answer, np.ndarray):
        return "this is no array"
    model, data = load("attention")
    _ = problem_of(model.program, {**data, "M": answer}).dense  # its error is told
    return ""


def _left_in_memory() -> set[str]:
    program, _ = example("attention_block")
    written = {kernel[-1] for kernel in kernels_of("attention_block")["stitched"]}
    return written - set(program.outputs)


def _count(name: str, system: str, way: str, column: str) -> Callable[[], float]:
    def wanted() -> float:
        found: float = getattr(row_of(name, system, way), column)
        return found

    return wanted


def _over(one: Callable[[], float], other: Callable[[], float]) -> Callable[[], float]:
    return lambda: one() / other()


def _times_computed() -> float:
    program, data = example("gcn_layer")
    case = program_case(problem_of(program, data).dense, data)
    counts = FusedFunction(case.composition).counts(**case.arguments, **{TILE: TILE_ROWS})
    return counts.recomputation["T"]


def _rankable() -> set[str]:
    """Pairs of figures of one program, one machine and one column."""
    return {
        letter
        for letter, (one, other) in FIGURE_PAIRS.items()
        if (one.program, one.machine, one.column) == (other.program, other.machine, other.column)
    }


def _rows_for(goals: Mapping[str, FusionGoal]) -> Judge:
    """A row for each goal, as a pair of system and way."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, Mapping):
            return "this is no dict of letters to (system, way)"
        for letter, goal in goals.items():
            given = answer.get(letter, ...)
            if given is ...:
                return f"goal {letter} has no row yet"
            problem = _row_for(goal, given)
            if problem:
                return f"goal {letter}: {problem}"
        return ""

    return wrong


def _row_for(goal: FusionGoal, given: Any) -> str:
    rows = {(row.system.value, row.way): row for row in compared(goal.program).rows}
    key = tuple(given) if isinstance(given, list | tuple) else given
    if not isinstance(key, tuple) or not all(isinstance(x, str) for x in key) or key not in rows:
        return f"{str(given)[:40]} is no row: write (system, way)"
    row, told = rows[key], ", ".join(key)
    problem = goal.obstacle(row)
    if problem:
        return f"{told} {problem}"
    count = getattr(row, goal.column)
    fewest = min(getattr(x, goal.column) for x in rows.values() if not goal.obstacle(x))
    if count > fewest:
        return f"{told} has {counted(count, _UNITS[goal.column])}, and another row has fewer"
    return ""


def stored_elements(name: str) -> str:
    """The number of elements that each input of an example has, a line each.

    Examples
    --------
    >>> print(stored_elements("gcn_layer"))
    A: 372 of 1,156
    X: 206 of 680
    W: 160 of 160
    """
    program, data = example(name)
    return "\n".join(
        f"{x}: {grouped(data[x].nnz)} of {grouped(int(np.prod(program.tensor(x).shape)))}"
        for x in program.given
    )


EXERCISES = {
    "15.1": Exercise(
        "Which of the five systems take attention_block?",
        names(lambda: _applying("attention_block")),
        "one of them knows nothing but products",
    ),
    "15.2": Exercise(
        "Which statements have no dense meaning if A is sparse?",
        names(_without_dense_meaning),
        "put 0 in the place of an absent element: is the result there still 0, or left as it is?",
    ),
    "15.3": Exercise(
        "Write a mask M of 8 × 8 with which the dense systems take attention.",
        _mask,
        "an element that is 0 counts as absent",
    ),
    "15.4": Exercise(
        "Which tensors does memory hold between the stitched kernels of attention_block?",
        names(_left_in_memory),
        "each kernel writes the last tensor that it computes; O is the result",
    ),
    "15.5": Exercise(
        "How many bytes does memory hold between the kernels by XLA's rules?",
        number(_count("attention_block", "stitch", "XLA's rules", "bytes_between"), "bytes"),
        "five of the six kernels write an intermediate; x and s have 32 elements of 4 bytes",
    ),
    "15.6": Exercise(
        "How many multiplications does gcn_layer take, if absent elements are skipped?",
        number(lambda: sum(counted_assignments("gcn_layer").values()), "multiplications"),
        "each stored element of X meets a row of W; each stored element of A meets a row of T",
    ),
    "15.7": Exercise(
        "How many times as many FLOPs does gcn_layer take on dense arrays?",
        number(
            _over(
                _count("gcn_layer", "stitch", "stitched", "flops"),
                _count("gcn_layer", "contraction", "fused", "flops"),
            ),
            "times",
            0.005,
        ),
        "34 · 20 · 8 multiplications for T, and 34 · 34 · 8 for Y",
    ),
    "15.8": Exercise(
        "How often does the n-ary nest of gcn_layer execute its assignment?",
        number(lambda: sum(counted_assignments("gcn_layer", "n-ary").values()), "times"),
        "for each stored A[n,i], once for each stored X[i,f] of row i and each of 8 columns",
    ),
    "15.9": Exercise(
        "By which factor does the dataflow machine compute more, with all fused?",
        number(_count("gcn_layer", "dataflow", "full", "recompute"), "times", 0.005),
        "its products with A are as many as before; those of T are as many as in 15.8",
    ),
    "15.10": Exercise(
        "How often is T computed by fused calls with tiles of 8 rows?",
        number(_times_computed, "times"),
        "Y has 34 rows, and the last tile is shorter than the others",
    ),
    "15.11": Exercise(
        "How many times as many bytes as the fused nest of mttkrp does the unfused one hold?",
        number(
            _over(
                _count("mttkrp", "contraction", "unfused", "bytes_between"),
                _count("mttkrp", "contraction", "fused", "bytes_between"),
            ),
            "times",
        ),
        "T has 20 × 16 × 8 elements, and one fiber along r has 8",
    ),
    "15.12": Exercise(
        "Which pairs of figures can rank their two rows?",
        names(_rankable),
        "one program, one machine, and either both simulated, both predicted or both measured",
    ),
    "15.13": Exercise(
        "Choose a row of the tables for each of the goals.",
        _rows_for(GOALS),
        "leave out the rows that the goal excludes, and look for the least of the others",
    ),
}
