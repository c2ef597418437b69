"""Judging what a run wrote by the meaning of its program and by what float32 can tell.

Every region is compared with the meaning of its statements on what it read: if each is right, the
whole program is, and errors of one region are not held against the next.  An element may differ
by a bound on its rounding error (:mod:`fuseloom.program.rounded`).  Where such bounds are too wide
to judge by, because a region is deep or badly conditioned, they are scaled down to what random
rounding is seen to do.

A region is evaluated for some rows of its outputs at a time, in random order, until all are done
or the budget is spent; how many rows were compared is told.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from fuseloom.dataflow.sim.matched import MARGIN, Matched, MatchVerdict
from fuseloom.errors import FuseloomError
from fuseloom.program.distinct import distinct
from fuseloom.program.integral import integral_tensors
from fuseloom.program.rounded import (
    Box,
    Elements,
    Errors,
    EvaluationBudget,
    Rounding,
    TooMuchError,
    evaluate_rounded,
)
from fuseloom.program.rounded.evaluate import Read
from fuseloom.program.rounded.rounding import UNIT
from fuseloom.program.rounded.tensors import Floats, Ints
from fuseloom.program.rounded.wanted import Wanted
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program, Statement
from fuseloom.results.check import Against, Check

FEWEST, SAMPLES = 3, 16
"""The number of samples of random rounding that are drawn, at least and at most."""
LEAST_PRODUCTS = 2e7
PER_SECOND = 1.5e8
"""Products that take a check about a second."""
LEAST_SECONDS = 2.0
PATIENCE = 1.5
"""The time limit of a region's check, as a multiple of its run.

Two thirds of it are for all rows at once; if that does not suffice, a third is for parts of them,
once there is a first one.
"""
LEAST_BYTES = 2**29
FIRST_PART = 2
"""The extra time, in patiences, to compare one row where all are too much.

Its operands may be nearly everything, and rounding is observed on it some times.
"""
LARGEST_PART = 1 / 4
"""The share of the rows that is compared at once where all of them are too much."""
CANDIDATES = 2**22
"""Rows among which those to compare are drawn, where a tensor has more."""


@dataclass(frozen=True)
class CheckStep:
    """A region, or a reshape between regions.

    Attributes
    ----------
    seconds : float
        Wall time of its run, by which the effort of checking it is measured.
    """

    name: str
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    seconds: float = 0.0


def check_outputs(
    program: Program,
    steps: Sequence[CheckStep],
    inputs: Mapping[str, StoredTensor],
    outputs: Mapping[str, StoredTensor],
    *,
    memory: int | None = None,
    seed: int = 0,
) -> Check:
    """Compare everything that was written with what it should be.

    Parameters
    ----------
    steps : sequence of CheckStep
        What wrote it, in order.
    memory : int, optional
        Bytes that the check may hold; by default what the tensors of a region take, and at least
        512 MiB.
    seed : int
        Of the order in which rows are compared.
    """
    stored = {**inputs, **outputs}
    verdict = MatchVerdict()
    for step in steps:
        if any(name in outputs for name in step.outputs):
            try:
                _Judge(program, step, stored, memory, seed).judge(verdict)
            except (FuseloomError, OverflowError, MemoryError) as problem:
                verdict.unchecked.append(f"{step.name} ({_reason(problem)})")
    return Check(
        verdict.error,
        verdict.pattern,
        None,
        Against.REFERENCE,
        share=verdict.share,
        undetermined=verdict.undetermined,
        rows=None if verdict.rows == verdict.rows_of else (verdict.rows, verdict.rows_of),
        unchecked=tuple(verdict.unchecked),
        wrong=verdict.wrong,
    )


def _reason(problem: Exception) -> str:
    match problem:
        case FuseloomError():
            return problem.message
        case MemoryError():
            return "its meaning does not fit into memory"
        case _:
            return str(problem)


class _Judge:
    """Compares the outputs of one step."""

    def __init__(
        self,
        program: Program,
        step: CheckStep,
        stored: Mapping[str, StoredTensor],
        memory: int | None,
        seed: int,
    ) -> None:
        self.program = program
        self.whole = integral_tensors(program)
        self.step = step
        self.zeros = not any(s.nonzero for s in step.statements)
        self.stored = stored
        self.names = tuple(name for name in step.outputs if name in stored)
        self.random = np.random.default_rng(seed)
        self.read: Read = {}
        reads = {a.tensor for s in step.statements for a in s.operands}
        touched = sum(stored[name].bytes for name in {*reads, *self.names} if name in stored)
        room = max(touched, LEAST_BYTES)
        self.budget = EvaluationBudget(
            room if memory is None else min(room, memory),
            max(LEAST_PRODUCTS, PER_SECOND * step.seconds),
        )
        self.patience = max(LEAST_SECONDS, PATIENCE * step.seconds)

    def judge(self, verdict: MatchVerdict) -> None:
        """Compare as many rows as the budget allows.

        Raises
        ------
        FuseloomError, OverflowError
            If nothing could be compared.
        """
        total = sum(self._row_count(name) for name in self.names)
        verdict.rows_of += total
        everything: dict[str, Box] = {
            name: (None,) * self.program.tensor(name).rank for name in self.names
        }
        started = time.process_time()
        self.budget.deadline = started + 2 / 3 * self.patience
        try:
            self._compare(everything, verdict)
        except TooMuchError:
            # What was not finished is done again in parts.
            self.budget.spent = min(self.budget.spent, self.budget.products / 2)
            verdict.rows += self._by_parts(verdict)
        else:
            verdict.rows += total

    def _by_parts(self, verdict: MatchVerdict) -> int:
        """Compare rows in random order until the budget is spent; how many they were.

        In fact what lies at some coordinates of one dimension: the one along which a part reads
        least, or the next where one coordinate takes too much; a share of them counts as that
        share of the rows.
        """
        rank = max(self.program.tensor(name).rank for name in self.names)
        until = time.process_time() + FIRST_PART * self.patience
        for axis in sorted(range(rank), key=self._read_by):
            self.budget.deadline = until
            rows = {name: self._candidates(name, axis) for name in self.names}
            done = self._in_parts(axis, rows, verdict)
            if done:
                drawn = (self._drawn(name, axis, rows[name]) for name in self.names)
                return sum(round(min(done, 1.0) * count) for count in drawn)
        raise FuseloomError("its meaning takes more than the check may")

    def _read_by(self, axis: int) -> tuple[float, float]:
        """About how many elements one coordinate of a dimension reads; and how short that is."""
        boxes: dict[str, Box] = {}
        longest = 0
        for name in self.names:
            shape = self.program.tensor(name).shape
            longest = max(longest, *shape[axis : axis + 1], 0)
            boxes[name] = tuple(
                np.zeros(1, np.int64) if d == axis else None for d in range(len(shape))
            )
        wanted = Wanted(self.program, boxes)
        for statement in reversed(self.step.statements):
            wanted.ask(statement)
        made = {s.out.tensor for s in self.step.statements}
        read = 0.0
        for name in {a.tensor for s in self.step.statements for a in s.operands} - made:
            shape = self.program.tensor(name).shape
            shares = [
                len(only) / n
                for only, n in zip(wanted.of(name), shape, strict=True)
                if only is not None
            ]
            read += self.stored[name].nnz * prod(shares)
        return read, -longest

    def _in_parts(self, axis: int, rows: Mapping[str, Ints | None], verdict: MatchVerdict) -> float:
        """Compare what fits along one dimension, ever more at a time; what share that was."""
        least = 1.0 / max((len(r) for r in rows.values() if r is not None), default=1)
        done, share = 0.0, least
        while done < 1.0 - least / 2:
            boxes = {name: self._box(name, axis, rows[name], done, share) for name in self.names}
            before = self.budget.spent
            try:
                self._compare(boxes, verdict)
            except TooMuchError as much:
                if (done and much.work) or share <= least:
                    break
                self.budget.spent = before
                share = max(share / 4, least)
                continue
            if not done:  # something has been compared; now a third of the time for more
                self.budget.deadline = time.process_time() + self.patience / 3
            done += share
            share = min(4 * share, max(LARGEST_PART, least), 1.0 - done)
        return done

    def _row_count(self, name: str) -> int:
        shape = self.program.tensor(name).shape
        return shape[0] if shape else 1

    def _drawn(self, name: str, axis: int, chosen: Ints | None) -> int:
        """Return the number of rows that would be compared if all that was drawn were."""
        rows = self._row_count(name)
        if chosen is None:
            return rows
        return round(rows * len(chosen) / self.program.tensor(name).shape[axis])

    def _candidates(self, name: str, axis: int) -> Ints | None:
        """Coordinates of a dimension in random order; None where there is none."""
        tensor = self.program.tensor(name)
        if tensor.rank <= axis:
            return None
        size = tensor.shape[axis]
        if size <= CANDIDATES:
            return self.random.permutation(size)
        there = distinct(self.stored[name].to_coo()[0][:, axis])
        drawn = self.random.integers(size, size=CANDIDATES)
        return self.random.permutation(np.union1d(there, drawn))

    def _box(self, name: str, axis: int, rows: Ints | None, done: float, share: float) -> Box:
        """Everything, but along one dimension from one share to the next."""
        box: list[Ints | None] = [None] * self.program.tensor(name).rank
        if rows is not None:
            begin, end = round(done * len(rows)), round((done + share) * len(rows))
            box[axis] = np.sort(rows[begin:end])
        return tuple(box)

    def _compare(self, boxes: Mapping[str, Box], verdict: MatchVerdict) -> None:
        rounding = Rounding()
        self.read = {}
        ends: dict[str, tuple[Elements, Elements]] = {}
        wants = self._evaluated(boxes, rounding, ends)
        found = {
            name: Matched.of(
                self.stored[name],
                wants[name],
                box,
                self._whole(name, wants[name], box, ends),
                self.zeros,
            )
            for name, box in boxes.items()
        }
        allowed = {name: f.bounds for name, f in found.items()}
        if rounding.crossed or any(f.suspects.any() for f in found.values()):
            allowed = self._observed(boxes, found, rounding)
        for name, f in found.items():
            f.tell(name, allowed[name], verdict)

    def _whole(
        self,
        name: str,
        wanted: Elements,
        box: Box,
        ends: Mapping[str, tuple[Elements, Elements]],
    ) -> tuple[Elements, Elements] | None:
        """The least and the largest integers that are right, where others are not."""
        if name in ends:
            low, high = (e.restricted(box) for e in ends[name])
            return low, high
        if name not in self.whole:
            return None
        bounds = np.zeros(1) if wanted.bounds is None else wanted.bounds
        return (
            replace(wanted, values=wanted.values - bounds),
            replace(wanted, values=wanted.values + bounds),
        )

    def _evaluated(
        self,
        boxes: Mapping[str, Box],
        rounding: Rounding,
        ends: dict[str, tuple[Elements, Elements]] | None = None,
    ) -> dict[str, Elements]:
        made = evaluate_rounded(
            self.program,
            self.step.statements,
            self.stored,
            boxes,
            self.budget,
            rounding,
            self.read,
            ends,
        )
        return {name: elements.restricted(boxes[name]) for name, elements in made.items()}

    def _observed(
        self, boxes: Mapping[str, Box], found: Mapping[str, Matched], first: Rounding
    ) -> dict[str, Floats]:
        """Bounds, those of suspects narrowed to a margin above what random rounding shows.

        Samples are drawn until they explain all suspects, or there are enough of them.
        """
        moved = {name: np.zeros(f.wanted.shape) for name, f in found.items()}
        samples = [Rounding(Errors.AWAY, left=first.left)]
        samples += [
            Rounding(Errors.RANDOM, random=r, left=first.left) for r in self.random.spawn(SAMPLES)
        ]
        for number, rounding in enumerate(samples):
            sample = self._evaluated(boxes, rounding)
            for name, f in found.items():
                np.maximum(moved[name], f.moved(sample[name]), out=moved[name])
            if number >= FEWEST and all(f.explained(moved[name]) for name, f in found.items()):
                break
        # Poles are told by bounds of the right size only.
        most = min(1.0, MARGIN * max(f.share(moved[name]) for name, f in found.items()))
        narrow = Rounding(unit=UNIT * max(most, 1e-9), poles=True, left=first.left)
        scaled = self._evaluated(boxes, narrow)
        allowed = {n: f.narrowed(moved[n], scaled[n].bounds) for n, f in found.items()}
        if first.undecided:  # which no sample shows
            allowed = {
                n: np.where(np.isinf(found[n].bounds), np.inf, a) for n, a in allowed.items()
            }
        return allowed
