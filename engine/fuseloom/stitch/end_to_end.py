"""The speedup of a whole program by deep fusion: predicted from times of its parts, and measured.

Section 6.4 of FusionStitching (Long et al., 2018).  Kernels of deep fusion and those that XLA's
rules of 2018 make of the same computation are run on this machine, as C, and calls of libraries
by NumPy and its BLAS.  Only the computation that is run first is timed: the numbers of iterations
of loops are not known, and loops and branches are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any, TypeAlias

from fuseloom.stitch.baseline_kernels import baseline_kernels
from fuseloom.stitch.cpu_schedules import cpu_fusion
from fuseloom.stitch.frames import FusedModule
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_cases import relative_difference
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.module_check import TOLERANCE
from fuseloom.stitch.prepared_program import PreparedProgram, StepKind
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs
from fuseloom.timing import in_turns, rounds_within

ROUNDS = 7
LEAST_TIME = 1_000_000
"""Nanoseconds of a measurement: shorter runs are repeated."""
MOST_REPEATED = 100
Clock: TypeAlias = Callable[[], int]
"""Tells a time in nanoseconds."""
_KERNELS = (StepKind.KERNEL, StepKind.EVALUATED)


def predicted_speedup(fusable_ratio: float, fusion_speedup: float) -> float:
    """Predict the speedup of a program from that of its kernels, by the paper's formula.

    That is ``1 + F (1 - 1/S)``: the share of the time that is saved, added to 1.  Exact, for parts
    that run one after another, is ``1 / (1 - F (1 - 1/S))`` (:func:`amdahl_speedup`), of which
    this is the beginning of a series; it is never more, and close where little is saved.

    Parameters
    ----------
    fusable_ratio : float
        The share of kernels that may be fused in the time of the program, from 0 to 1.
    fusion_speedup : float
        Their time before over that after fusion, more than 0.

    Examples
    --------
    >>> round(predicted_speedup(0.3, 1.74), 3), round(amdahl_speedup(0.3, 1.74), 3)
    (1.128, 1.146)
    """
    return 1 + fusable_ratio * (1 - 1 / fusion_speedup)


def amdahl_speedup(fusable_ratio: float, fusion_speedup: float) -> float:
    """Return the speedup of a program of which one part becomes faster: Amdahl's law.

    Parameters
    ----------
    fusable_ratio, fusion_speedup : float
        As :func:`predicted_speedup` takes them.

    Examples
    --------
    >>> amdahl_speedup(1.0, 2.0), amdahl_speedup(0.0, 2.0)
    (2.0, 1.0)
    """
    return 1 / (1 - fusable_ratio * (1 - 1 / fusion_speedup))


@dataclass(frozen=True)
class EndToEnd:
    """Times of a program's main computation, in nanoseconds.

    Attributes
    ----------
    fused : float
        Of the kernels of deep fusion.
    baseline : float
        Of the kernels that XLA's rules of 2018 make.
    taken_in : float
        Of products that are calls of a library for these rules, and parts of kernels of deep
        fusion.
    calls : float
        Of calls of libraries that both have.
    fused_whole, baseline_whole : float
        Of one run of all of these in order; 0 if there is nothing to run.
    fused_kernels, baseline_kernels : int
        The kernels that were timed. A kernel of the rules that is no single kernel here counts as
        those that it was divided into.
    evaluated : tuple of str
        Kernels without a form in C, by the operation whose value they write: their times are those
        of NumPy, on both sides.
    left_out : tuple of str
        Loops and branches, which are in no time here.
    fused_error, baseline_error : float
        The largest differences of the results of the two programs that were timed from the meaning
        of the module, by the largest value.

    Examples
    --------
    >>> made = EndToEnd(fused=20, baseline=60, taken_in=0, calls=40,
    ...                 fused_whole=62, baseline_whole=100)
    >>> made.fusable_ratio, made.fusion_speedup, made.predicted, round(made.measured, 3)
    (0.6, 3.0, 1.4, 1.613)
    >>> round(made.amdahl, 3)
    1.667
    """

    fused: float
    baseline: float
    taken_in: float
    calls: float
    fused_whole: float = 0.0
    baseline_whole: float = 0.0
    fused_kernels: int = 0
    baseline_kernels: int = 0
    evaluated: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    fused_error: float = 0.0
    baseline_error: float = 0.0

    @property
    def ok(self) -> bool:
        """True if both programs compute what the module means."""
        return max(self.fused_error, self.baseline_error) <= TOLERANCE

    @property
    def fusable(self) -> float:
        """The time of all that deep fusion's kernels take the place of."""
        return self.baseline + self.taken_in

    @property
    def fusable_ratio(self) -> float:
        """Its share in the time of the baseline."""
        whole = self.fusable + self.calls
        return self.fusable / whole if whole else 0.0

    @property
    def fusion_speedup(self) -> float:
        """Its time over that of the kernels of deep fusion; 1 where there are none."""
        return self.fusable / self.fused if self.fused else 1.0

    @property
    def predicted(self) -> float:
        """The speedup of the program by the formula of the paper."""
        return predicted_speedup(self.fusable_ratio, self.fusion_speedup)

    @property
    def amdahl(self) -> float:
        """The speedup of the program by Amdahl's law."""
        return amdahl_speedup(self.fusable_ratio, self.fusion_speedup)

    @property
    def measured(self) -> float:
        """The time of a run with the kernels of the baseline, over that with deep fusion's."""
        return self.baseline_whole / self.fused_whole if self.fused_whole else 1.0


def time_module(
    made: FusedModule,
    inputs: Mapping[str, Any] | None = None,
    *,
    shared_memory: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    tuned: bool = False,
    expected: Sequence[Any] | None = None,
    rounds: int = ROUNDS,
    seconds: float = inf,
    clock: Clock = time.perf_counter_ns,
    progress: Callable[[int], None] = lambda _: None,
) -> EndToEnd:
    """Time the kernels of a module and of its baseline, calls of libraries, and whole runs.

    Both programs are timed in turns, in rounds, of which the medians count: in each round first
    the parts of runs, and then runs as a whole.  A kernel's time is that of a call of its function
    from Python, with arrays that are there.

    Parameters
    ----------
    made : FusedModule
    inputs : mapping, optional
        Arrays for the parameters; by default random numbers.
    shared_memory : int
        Bytes that a block may have.
    sharing : SpaceSharing
    tuned : bool
        True if the kernels of the module are timed with the schedules that they have; others, and
        those of the baseline, get schedules for processors
        (:func:`~fuseloom.stitch.cpu_schedules.cpu_fusion`).
    expected : sequence of array, optional
        The results that both are compared with; by default those that the module means.
    rounds : int
    seconds : float
        After so long no other round begins; there is one.
    clock : callable
        Tells a time in nanoseconds.
    progress : callable
        Given the number of each round; what it raises ends the work.

    Raises
    ------
    DataError
        If an input is missing, or is not of the type of its parameter.
    LoweringError
        If there is no compiler, or it fails.
    ProgramError
        If an operation has no meaning here, such as a call of a library that is not known, or there
        is no round.

    Examples
    --------
    >>> from fuseloom.stitch.frames import fuse_module
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> found = time_module(fuse_module(read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[64,32] parameter(0)
    ...   y = f32[32,64] transpose(x), dimensions={1,0}
    ...   ROOT z = f32[32,64] exponential(y)
    ... }''')), rounds=1)
    >>> found.fused_kernels, found.baseline_kernels, found.fusable_ratio
    (1, 2, 1.0)
    """
    frame = made.frames[0]
    other = baseline_kernels(
        made.module, frame.baseline, shared_memory=shared_memory, sharing=sharing
    )
    programs = []
    for prefix, module, fusion in (
        ("fused", made.module, frame.fusion), ("baseline", other.module, other.fusion)
    ):  # fmt: skip
        keeps = tuned and fusion is frame.fusion
        chosen = fusion if keeps else cpu_fusion(fusion, limit=shared_memory, sharing=sharing)
        programs.append(
            StitchedProgram(module, chosen, limit=shared_memory, sharing=sharing, prefix=prefix)
        )
    compile_programs(programs)
    given = random_inputs(frame.computation) if inputs is None else inputs
    prepared = [PreparedProgram(one, given) for one in programs]
    wanted = evaluate(made.module, given) if expected is None else expected
    errors = [_error(one, wanted) for one in prepared]
    timers = [_ProgramTimer(one, clock) for one in prepared]
    for number in rounds_within(rounds, seconds):
        progress(number)
        for timer in in_turns(timers, number):
            timer.round()
    return _record(timers[0], timers[1], errors)


class _ProgramTimer:
    """Times of the steps of a program, and of its runs, round by round."""

    def __init__(self, program: PreparedProgram, clock: Clock) -> None:
        self.clock = clock
        self.control = [one for one in program.steps if one.kind is StepKind.CONTROL]
        self.steps = [one for one in program.steps if one.kind is not StepKind.CONTROL]
        self.repeats = 0
        self.times: list[list[float]] = []
        self.whole: list[float] = []

    def round(self) -> None:
        """Time each step in runs, and then runs as a whole."""
        if not self.repeats:
            self._runs(1)
            once = self._runs(1)
            self.repeats = int(min(max(LEAST_TIME / max(once, 1.0), 1), MOST_REPEATED))
        sums = [0] * len(self.steps)
        for _ in range(self.repeats):
            for place, step in enumerate(self.steps):
                start = self.clock()
                step.run()
                sums[place] += self.clock() - start
        self.times.append([one / self.repeats for one in sums])
        self.whole.append(self._runs(self.repeats))

    def _runs(self, repeats: int) -> float:
        runs = [step.run for step in self.steps]
        start = self.clock()
        for _ in range(repeats):
            for run in runs:
                run()
        return (self.clock() - start) / repeats

    def medians(self) -> dict[str, tuple[StepKind, float]]:
        """Per step its kind and its time."""
        columns = zip(*self.times, strict=True)
        return {
            step.name: (step.kind, median(column))
            for step, column in zip(self.steps, columns, strict=True)
        }


def _error(program: PreparedProgram, wanted: Sequence[Any]) -> float:
    """Run a program, and compare its results with those of its module."""
    pairs = zip(program(), wanted, strict=True)
    return max((relative_difference(found, value) for found, value in pairs), default=0.0)


def _record(fused: _ProgramTimer, before: _ProgramTimer, errors: Sequence[float]) -> EndToEnd:
    here, there = fused.medians(), before.medians()
    calls = {name for name, (kind, _) in here.items() if kind is StepKind.CALL}

    def total(times: Mapping[str, tuple[StepKind, float]], *kinds: StepKind) -> float:
        return sum(time for kind, time in times.values() if kind in kinds)

    taken_in = sum(
        time for name, (kind, time) in there.items() if kind is StepKind.CALL and name not in calls
    )
    evaluated = [
        name for times in (here, there) for name, (kind, _) in times.items()
        if kind is StepKind.EVALUATED
    ]  # fmt: skip
    return EndToEnd(
        total(here, *_KERNELS),
        total(there, *_KERNELS),
        taken_in,
        total(here, StepKind.CALL),
        median(fused.whole),
        median(before.whole),
        sum(kind in _KERNELS for kind, _ in here.values()),
        sum(kind in _KERNELS for kind, _ in there.values()),
        tuple(dict.fromkeys(evaluated)),
        tuple(one.name for one in fused.control),
        *errors,
    )
