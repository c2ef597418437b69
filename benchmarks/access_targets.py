"""Mapping onto arrays: time and nodes beside their targets, extraction, utilisation, machine code.

``python -m benchmarks.access_targets [--rounds 5] [--seconds 10] [--only TEXT] [--json]``

Each round goes through all cases in turn, and the medians of the rounds are printed.  A case is
mapped (wall time of saturation and greedy extraction, targets beside it); the cheapest term is
extracted from the same e-graph greedily and by CP-SAT, whose search ends after ``--seconds``; and
the mapped term is computed by the interpreter (``evaluate``, NumPy) and by machine code made of C,
without its compilation.  A cost is 1,000 for each cycle of a call and 1 for each node of the term.
The utilisation of the calls stands beside that of the best uniform size of blocks, found by trying
every size with either operand held.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import prod
from statistics import median
from typing import Any

import numpy as np

from fuseloom.access.hardware import Call, SystolicArray
from fuseloom.access.kernels import Convolution, conv2d, matmul
from fuseloom.access.lower import CompiledTerm, compile_term
from fuseloom.access.mapping import Mapped, hardware_cost, map_term
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.saturation.cp_sat import extract_optimally, load_cp_sat
from fuseloom.access.saturation.extract import extract_greedily
from fuseloom.access.terms import Term
from fuseloom.cli.command import positive
from fuseloom.results import relative_error
from fuseloom.results.text_table import Align, TextColumn, text_table

LEAST = 0.02
"""Seconds that are measured of what is repeated."""
TOLERANCE = 1e-9
"""The largest error of a mapping and of its machine code, relative to the largest value."""


@dataclass(frozen=True)
class MappingTarget:
    """A term and its array.

    Attributes
    ----------
    name : str
    term : Term
    array : SystolicArray
    extents : tuple of int
        Vectors, their length, and the vectors of weights, as a product of two matrices.
    seconds : float
        Target of its mapping.
    nodes : int
        Target of its e-graph.
    """

    name: str
    term: Term
    array: SystolicArray
    extents: tuple[int, int, int]
    seconds: float
    nodes: int


def _product(size: int, array: int, seconds: float, nodes: int) -> MappingTarget:
    return MappingTarget(
        f"matmul {size}", matmul(size, size, size), SystolicArray(array, array), (size,) * 3,
        seconds, nodes,
    )  # fmt: skip


CASES = (
    _product(32, 32, 0.1, 20),
    MappingTarget(
        "conv2d 3×32×32, 8 of 3×3", conv2d(Convolution(1, 3, 32, 32, 8, (3, 3))),
        SystolicArray(64, 64), (900, 27, 8), 0.2, 40,
    ),
    _product(32, 16, 0.3, 300),
    _product(64, 16, 1.5, 3_000),
    _product(128, 16, 8.0, 40_000),
    _product(512, 64, 8.0, 40_000),
)  # fmt: skip


@dataclass(frozen=True)
class RoundTimes:
    """Times of one round, and the answer of CP-SAT.

    Attributes
    ----------
    map, greedy, cp_sat, interpreter, code : float
        Seconds.
    cost : int
        Of the term that CP-SAT found.
    proved : bool
        Whether it proved that no term of the e-graph costs less.
    """

    map: float
    greedy: float
    cp_sat: float
    interpreter: float
    code: float
    cost: int
    proved: bool


@dataclass(frozen=True)
class MeasuredMapping:
    """A case that is mapped, compiled and checked, and the times of its rounds.

    Attributes
    ----------
    case : MappingTarget
    mapped : Mapped
    compiled : CompiledTerm
        The mapped term.
    data : mapping
    times : list of RoundTimes
    """

    case: MappingTarget
    mapped: Mapped
    compiled: CompiledTerm
    data: Mapping[str, np.ndarray[Any, Any]]
    times: list[RoundTimes]


@dataclass(frozen=True)
class TargetRow:
    """Medians of a case.

    Attributes
    ----------
    name, array : str
    seconds, target_seconds : float
        Of the mapping.
    nodes, target_nodes : int
    met : bool
        Whether both targets are met.
    greedy_cost, cp_sat_cost : int
        Of the extracted terms; the largest of the rounds.
    greedy_seconds, cp_sat_seconds : float
    proved : bool
        Whether CP-SAT proved its cost in every round.
    utilisation, best_blocks : float
        Shares of the array's multipliers, of the mapping and of the best size of blocks.
    interpreter_seconds, code_seconds : float
        Of one evaluation of the mapped term.
    speedup : float
        The median ratio of the two within a round.
    """

    name: str
    array: str
    seconds: float
    target_seconds: float
    nodes: int
    target_nodes: int
    met: bool
    greedy_cost: int
    greedy_seconds: float
    cp_sat_cost: int
    cp_sat_seconds: float
    proved: bool
    utilisation: float
    best_blocks: float
    interpreter_seconds: float
    code_seconds: float
    speedup: float


def least_block_cycles(extents: tuple[int, int, int], array: SystolicArray) -> int:
    """The fewest cycles of a product in uniform blocks: every size of them, either operand held."""
    first, length, second = extents
    return min(
        sum(
            Call(r, c, batch).cycles * rows * columns
            for (r, rows), (c, columns) in product(_blocks(length, height), _blocks(held, width))
        )
        for batch, held in ((first, second), (second, first))
        for height, width in product(range(1, array.rows + 1), range(1, array.columns + 1))
    )


def _blocks(extent: int, size: int) -> list[tuple[int, int]]:
    """Sizes of the blocks of an extent, each with their number."""
    whole, rest = divmod(extent, size)
    return [(size, whole)] * (whole > 0) + [(rest, 1)] * (rest > 0)


def prepare(case: MappingTarget) -> MeasuredMapping:
    """Map and compile a case; both must compute what the given term means."""
    mapped = map_term(case.term, case.array)
    data = random_data(case.term)
    compiled = compile_term(mapped.after)
    wanted = evaluate(case.term, data)
    for made in (evaluate(mapped.after, data), compiled(data)):
        error = relative_error(made, wanted)
        if not error <= TOLERANCE:
            raise AssertionError(f"{case.name}: an error of {error:.1e}")
    return MeasuredMapping(case, mapped, compiled, data, [])


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time of a call, and its result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def repeated(work: Callable[[], Any]) -> float:
    """Wall time of a call, as the mean of so many as take a while."""
    count, began = 0, time.perf_counter()
    while (taken := time.perf_counter() - began) < LEAST:
        work()
        count += 1
    return taken / count


def measure(one: MeasuredMapping, seconds: float) -> RoundTimes:
    """One round of a case."""
    mapping, mapped = once(lambda: map_term(one.case.term, one.case.array))
    classes = mapped.saturation.classes
    cost = hardware_cost(classes)
    greedy, _ = once(lambda: extract_greedily(classes, cost))
    cp_sat, best = once(lambda: extract_optimally(classes, cost, seconds))
    interpreter = repeated(lambda: evaluate(one.mapped.after, one.data))
    code = repeated(lambda: one.compiled(one.data))
    return RoundTimes(mapping, greedy, cp_sat, interpreter, code, best.cost, best.optimal)


def row(one: MeasuredMapping) -> TargetRow:
    """The medians of a case's rounds."""
    case, mapped, times = one.case, one.mapped, one.times
    multipliers = case.array.rows * case.array.columns
    seconds, nodes = median(t.map for t in times), mapped.saturation.classes.count
    return TargetRow(
        name=case.name,
        array=f"{case.array.rows} × {case.array.columns}",
        seconds=seconds,
        target_seconds=case.seconds,
        nodes=nodes,
        target_nodes=case.nodes,
        met=seconds <= case.seconds and nodes <= case.nodes,
        greedy_cost=mapped.extraction.cost,
        greedy_seconds=median(t.greedy for t in times),
        cp_sat_cost=max(t.cost for t in times),
        cp_sat_seconds=median(t.cp_sat for t in times),
        proved=all(t.proved for t in times),
        utilisation=mapped.utilisation,
        best_blocks=prod(case.extents) / least_block_cycles(case.extents, case.array) / multipliers,
        interpreter_seconds=median(t.interpreter for t in times),
        code_seconds=median(t.code for t in times),
        speedup=median(t.interpreter / t.code for t in times),
    )


def table(rows: Sequence[TargetRow]) -> list[str]:
    """The lines of the table for people."""
    titles = (
        "map, s", "target, s", "nodes", "target", "met", "greedy: cost", "ms", "CP-SAT: cost",
        "ms", "proved", "utilised, %", "blocks, %", "NumPy, ms", "C, ms", "NumPy / C",
    )  # fmt: skip
    columns = [TextColumn(x, align=Align.LEFT) for x in ("case", "array")]
    cells = [
        (
            r.name, r.array,
            f"{r.seconds:.3f}", f"{r.target_seconds:g}", f"{r.nodes:,}", f"{r.target_nodes:,}",
            "yes" if r.met else "NO",
            f"{r.greedy_cost:,}", f"{1e3 * r.greedy_seconds:.2f}",
            f"{r.cp_sat_cost:,}", f"{1e3 * r.cp_sat_seconds:.1f}", "yes" if r.proved else "no",
            f"{100 * r.utilisation:.2f}", f"{100 * r.best_blocks:.2f}",
            f"{1e3 * r.interpreter_seconds:.3f}", f"{1e3 * r.code_seconds:.3f}",
            f"{r.speedup:.2f}",
        )
        for r in rows
    ]  # fmt: skip
    return text_table([*columns, *map(TextColumn, titles)], cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=positive, default=5, help="(default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of CP-SAT (default: 10)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case.name]
    if not cases:
        parser.error(f"no case has {options.only} in its name")
    load_cp_sat()  # which is not part of the time
    prepared = [prepare(case) for case in cases]
    for _ in range(options.rounds):
        for one in prepared:
            one.times.append(measure(one, options.seconds))
    rows = list(map(row, prepared))
    if options.json:
        print(json.dumps({"rounds": options.rounds, "cases": list(map(asdict, rows))}))
        return
    print(f"wall time, median of {options.rounds} rounds in turn")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
