"""The best schedule of a program on data and a machine: with a proof, and the reasons in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import inf
from typing import Annotated, Any, TypedDict

from fuseloom import faults
from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.method import FORMATS, KEPT, Dataflow
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.space.stored import store_choices
from fuseloom.dataflow.without_zeros import NonzeroChoice, choose_nonzero
from fuseloom.display.shows import Shows
from fuseloom.errors import (
    CancelledError,
    FuseloomError,
    InternalError,
    ScheduleError,
    SimulationError,
)
from fuseloom.exploration.certificate import Certificate, together
from fuseloom.exploration.found import Best, SpacesWatcher, Watcher
from fuseloom.exploration.pareto import front
from fuseloom.exploration.reasons import reasons, why_not
from fuseloom.exploration.rivals import PresetCost, presets_of, stored_dense
from fuseloom.exploration.search import Progress, Search
from fuseloom.program.printer import print_program
from fuseloom.program.types import Program
from fuseloom.results.declarations import Amount, Count, Positive, Record, declared
from fuseloom.results.document import plain
from fuseloom.results.method import Budget, Cost, Part, every
from fuseloom.wording import agreeing, counted, described

NEAR = 0.02
"""Share by which estimates of what is worth a run may be above the best."""
GAP, TIME_LIMIT = 0.05, 10.0
"""The default limits: cycles above the best, as a share, and the seconds of a search."""
MOST_LANES = 256
"""Lanes of a budget: graphs of more have too many nodes to be searched."""
COUNTING = 0.1
"""Share of the time limit that counting the space may take."""


class ChoiceData(TypedDict):
    """A :class:`Choice` as plain data."""

    schedule: Annotated[str, "Its text."]
    cycles: Annotated[Amount, "Clock cycles."]
    bytes: Annotated[Amount, "Bytes moved to and from memory."]
    on_chip: Annotated[
        Amount,
        "Bytes held on chip at once, as estimated: by accumulators, and by channels that have a "
        "bound.",
    ]
    lanes: Annotated[Positive, "The most lanes of a region."]
    simulated: bool


@dataclass(frozen=True)
class Choice:
    """A schedule that no other one beats in cycles, bytes, memory on chip and lanes together.

    Attributes
    ----------
    simulated : bool
        Whether cycles and bytes are those of a run, not of an estimate.
    """

    schedule: str
    cost: Cost
    simulated: bool

    def to_dict(self) -> ChoiceData:
        """Plain data."""
        return {
            "schedule": self.schedule,
            "cycles": self.cost.cycles,
            "bytes": self.cost.bytes,
            "on_chip": self.cost.on_chip,
            "lanes": self.cost.lanes,
            "simulated": self.simulated,
        }


@dataclass(frozen=True)
class SpaceSize(Record):
    """The number of schedules.

    Attributes
    ----------
    schedules : int
        Legal ones: convex regions, orders, look-ups, lanes, copies; the one found at least.
    exact : bool
        Whether these are all; otherwise there was no time to count more.
    """

    schedules: Count
    exact: bool

    def __str__(self) -> str:
        many = self.schedules
        number = f"{many:,}" if many < 10**15 else f"{many:.3e}"
        return (
            f"{'' if self.exact else 'at least '}{number} {agreeing(many, 'schedule', 'schedules')}"
        )


class AutoscheduledData(TypedDict):
    """What was found, as plain data."""

    schedule: Annotated[str, "Text of the schedule that was found."]
    cycles: Annotated[Amount, "Clock cycles of its run."]
    certificate: Annotated[Certificate, "How good the schedule is proved to be."]
    reasons: Annotated[Sequence[str], "Why it is as it is, in words."]
    space: Annotated[SpaceSize, "How many schedules there are."]
    choices: Annotated[
        Sequence[Choice] | None,
        "Schedules that no other one beats in all respects, the fewest cycles first; null if "
        "they were not asked for.",
    ]


@dataclass(frozen=True)
class Autoscheduled(Shows, html="fuseloom.exploration.display:autoscheduled_html"):
    """A schedule that was found.

    Attributes
    ----------
    schedule : str
        Its text: ``fl.compile(program, schedule)`` gives it again.
    cycles : int
        Of its run.
    certificate : Certificate
    reasons : tuple of str
        Why it is as it is, in words.
    space : SpaceSize
        How many schedules there are.
    run : Run
    best : Best
        What the search found, before dense storage and presets were compared.
    method : Dataflow
        The space in which that lies.
    choices : tuple of Choice or None
        If they were asked for: schedules none of which is beaten, the fewest cycles first.
    presets : tuple of PresetCost
        What each preset is estimated to take.
    """

    schedule: str
    cycles: int
    certificate: Certificate
    reasons: tuple[str, ...]
    space: SpaceSize
    run: Run = field(repr=False)
    best: Best = field(repr=False)
    method: Dataflow = field(repr=False)
    choices: tuple[Choice, ...] | None = field(default=None, repr=False)
    presets: tuple[PresetCost, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return described(
            self,
            f"{counted(self.cycles, 'cycle')}, gap {self.certificate.gap:.1%}: {self.schedule}",
        )

    def why(self, schedule: str) -> str:
        """Why not this one: the rule, bound or rival that removed a schedule.

        Parameters
        ----------
        schedule : str
            Text of the scheduling language.
        """
        return why_not(self.method, self.cycles, schedule)

    def to_dict(self) -> AutoscheduledData:
        """Plain data."""
        made: AutoscheduledData = plain({n: getattr(self, n) for n in declared(AutoscheduledData)})
        return made


@check_arguments
def autoschedule(
    program: Program,
    data: Mapping[str, Any],
    *,
    machine: Machine | None = None,
    base: Schedule | str | None = None,
    also: Sequence[str] = (),
    requirements: Sequence[str] = (),
    presets: Mapping[str, str] | None = None,
    lanes: int = 1,
    on_chip: float | None = None,
    copies: int = 0,
    stores: int = 0,
    nonzero: bool = False,
    sized: bool = False,
    pareto: bool = False,
    gap: float = GAP,
    time_limit: float = TIME_LIMIT,
    limits: Limits | None = None,
    progress: Progress | None = None,
    watch: Watcher | None = None,
) -> Autoscheduled:
    """Find the schedule that takes the fewest cycles.

    Convex regions, dataflow orders, look-ups, lanes, copies and stores are searched, as
    :class:`fuseloom.dataflow.method.Dataflow` has them; what is found is simulated, and how much
    better another one could be is proved (:mod:`fuseloom.exploration.search`).  Then complete
    levels between regions are stored dense where that takes less, and the presets are compared as
    every other command takes them; the proof does not cover these.

    Parameters
    ----------
    data : mapping
        Every input by name.
    base : Schedule or str, optional
        Whose ``block``, ``global``, ``strict``, ``repeat``, ``nonzero`` and ``store`` of all
        tensors hold for every schedule.
    also : sequence of str
        Such settings; with each, all schedules are searched once more, and the proof covers all.
    requirements : sequence of str
        Rules that every region keeps (:mod:`fuseloom.dataflow.space.requirements`).
    presets : mapping of str to str, optional
        Schedules whose cuts are looked at first.
    lanes : int
        Lanes that a region may have.
    on_chip : float, optional
        Bytes that a region may hold on chip, as estimated.
    copies : int
        Tensors that a region may read in another mode order, too.
    stores : int
        Tensors between regions that may be stored dense, where they are complete, and not as they
        are declared: every choice of so many is searched, and the proof covers all.
    nonzero : bool
        Whether results may leave out their zeros: where the estimate says that it saves cycles
        (:func:`fuseloom.dataflow.without_zeros.choose_nonzero`), all schedules are searched once
        more so, and the proof covers both.
    sized : bool
        Whether channels have the capacities that no data can deadlock.
    pareto : bool
        Whether to go on until time is up, for schedules that no other one beats in cycles, bytes,
        memory on chip and lanes together.
    gap : float
        Share of the cycles by which a better one may be missed; 0 searches until none is left.
    time_limit : float
        Seconds after which the best so far is taken.
    watch : callable, optional
        Told each time that the best, or its bound, is better.

    Raises
    ------
    FuseloomError
        If no schedule fits the budget, the data do not fit, or a value is out of bounds.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from fuseloom.models import load
    >>> model, data = load("spmv", "random")
    >>> found = autoschedule(model.program, data)
    >>> found.cycles == fl.simulate(fl.compile(model.program, found.schedule), data).cycles
    True
    """
    _check(lanes, on_chip, copies, stores, gap, time_limit)
    began = time.monotonic()
    base = Schedule.parse(base or "") if isinstance(base, str | None) else base
    budget = Budget(lanes, on_chip, copies)
    tell = progress
    methods: list[Dataflow] = []
    found: list[Best] = []
    cycles = inf
    dropped: tuple[NonzeroChoice, ...] = ()
    if nonzero:  # of presets, from least to most fused, the last seldom is the best
        cuts = [*(presets or {}).values()][:-1]
        kept = Schedule((), (), tuple(s for s in base.settings if isinstance(s, KEPT)))
        dropped = choose_nonzero(program, data, base=str(kept), schedules=cuts, machine=machine)
    directives = "; ".join(choice.directive for choice in dropped)
    also = (*also, directives) if dropped else also
    watcher = SpacesWatcher(watch)
    bases = [base, *(_with(base, text) for text in also)]
    for number, own in enumerate(bases):
        given = partial(
            Dataflow, program, data, machine, base=own, presets=presets, limits=limits, sized=sized,
            requirements=requirements,
        )  # fmt: skip
        plain = given()
        left_over = list(store_choices(plain.program, stores))
        while left_over:
            chosen = left_over.pop(0)
            method = given(stores=chosen, like=plain) if chosen else plain
            spaces = (len(bases) - number) * (len(left_over) + 1)
            left = max(began + time_limit - time.monotonic(), 0.0) / spaces
            searched = Search(
                method,
                budget,
                gap=gap,
                time_limit=left,
                beat=cycles,
                progress=tell,
                watch=watcher.begin(spaces - 1),
            )
            methods.append(method)
            found.append(searched.run())
            cycles = min(cycles, found[-1].cost.cycles)
    method, best = [pair for pair in zip(methods, found, strict=True) if pair[1].parts][-1]
    sizes = [m.size(budget, COUNTING * time_limit / len(methods)) for m in methods]
    space = SpaceSize(max(sum(n for n, _ in sizes), 1), all(exact for _, exact in sizes))
    choices = None
    if pareto:
        choices = tuple(_choices(method, best, budget, began + time_limit, progress))
    proof = together([one.certificate for one in found])
    if stores:
        more = (
            f"formats of more than {counted(stores, 'tensor')}, or others than declared and dense"
        )
        told = {FORMATS: more}
        proof = replace(proof, unsearched=tuple(told.get(text, text) for text in proof.unsearched))
    made = _judged(program, method, best, proof, space, choices, presets or {}, directives, budget)
    left_out = [str(choice) for choice in dropped if choice.directive in made.schedule.split("; ")]
    return replace(made, reasons=(*made.reasons, *left_out))


def _judged(
    program: Program,
    method: Dataflow,
    best: Best,
    proof: Certificate,
    space: SpaceSize,
    choices: tuple[Choice, ...] | None,
    presets: Mapping[str, str],
    dropped: str,
    budget: Budget,
) -> Autoscheduled:
    """The best of the space, or what is outside it and better: run as a whole.

    Parameters
    ----------
    dropped : str
        The zeros that may be left out, as a schedule says it; presets are tried so, too.
    """
    schedule, told = best.schedule, reasons(method, best)

    def judge(compiled: Compilation) -> Run:
        return simulate(compiled, method.given, method.machine, limits=method.limits)

    compiled = compile_program(program, schedule)
    run = judge(compiled.sized() if method.sized else compiled)
    contenders = [(run, schedule, "")]
    others = [*stored_dense(method, compiled)]
    known = [*presets_of(method, presets, budget)]
    without = {f"{name}; {dropped}": f"{text}; {dropped}" for name, text in presets.items()}
    more = [*presets_of(method, without, budget)] if dropped else []
    for rival in [*others, *(rival for _, rival in (*known, *more) if rival is not None)]:
        if rival.expected.cycles >= run.cycles * (1 + NEAR):
            continue
        other = judge(rival.built)
        if (other.cycles, other.work.bytes) < (run.cycles, run.work.bytes):
            why = (
                f"{rival.name}: {counted(other.cycles, 'cycle')} and "
                f"{counted(other.work.bytes, 'byte')} instead of "
                f"{run.cycles:,} and {run.work.bytes:,}"
            )
            contenders.append((other, str(rival.made.resolved), why))
            run = other
    run, schedule, wrong = _first_right(program, method, contenders[::-1], judge)
    told += wrong + [why for _, text, why in contenders if why and text == schedule]
    proof = replace(proof, cycles=run.cycles, bound=min(proof.bound, run.cycles))
    if not method.ideals.whole:
        told.append(f"not searched: {method.unsearched[0]}; the program has too many of them")
    if not method.machine.has_searchers:  # it writes zeros as its reference does
        proof = replace(proof, bound=0.0, complete=False)
        told.append(
            "nothing is proved on this machine: the zeros that a region writes depend on its "
            "order, and what later regions take on these"
        )
    return Autoscheduled(
        schedule, run.cycles, proof, tuple(told), space, run, best, method, choices,
        tuple(cost for cost, _ in known),
    )  # fmt: skip


def _first_right(
    program: Program,
    method: Dataflow,
    contenders: Sequence[tuple[Run, str, str]],
    judge: Callable[[Compilation], Run],
) -> tuple[Run, str, list[str]]:
    """The first run whose results are right, its schedule, and the reports of wrong ones.

    Behind the contenders stands the program without fusion.  A wrong result is a fault of
    Fuseloom, and reported (:mod:`fuseloom.faults`).

    Raises
    ------
    InternalError
        If none is right.
    """
    reports: list[str] = []
    plain = str(method.base)

    def unfused() -> Iterator[tuple[Run, str, str]]:
        compiled = compile_program(program, plain)
        yield judge(compiled.sized() if method.sized else compiled), plain, ""

    for run, schedule, _ in chain(contenders, () if method.requirements else unfused()):
        if not method.machine.has_searchers:  # it has the reference's faults
            return run, schedule, reports
        check = run.check()
        if check.ok:
            return run, schedule, reports
        what = "a schedule that the search found gives wrong results"
        texts = {"program": print_program(program), "schedule": schedule}
        reports.append(str(faults.report(what, AssertionError(str(check)), **texts)))
    raise InternalError(reports[0], hint="take another schedule, and report the error")


def _with(base: Schedule, text: str) -> Schedule:
    """The settings of a schedule, with others that hold throughout, too."""
    more = Schedule.parse(text)
    odd = [d for d in (*more.fusions, *more.orders, *more.settings) if not isinstance(d, KEPT)]
    if odd or not more.settings:
        raise ScheduleError(
            f"'{odd[0] if odd else text}' is searched, or nothing that could hold throughout",
            hint="block, global, strict, repeat, nonzero or store, such as 'block 4'",
        )
    return replace(base, settings=(*base.settings, *more.settings))


def _choices(
    method: Dataflow, best: Best, budget: Budget, until: float, progress: Progress | None
) -> Iterator[Choice]:
    """Return the undominated schedules of the candidates examined in time; run them meanwhile."""
    parts: dict[Part, None] = {part: None for span in best.spans for part in span.parts}
    for units in method.ideals.parts():
        if time.monotonic() > until:
            break
        if progress is not None and progress(best.cost.cycles, method.units[units[0]]) is False:
            raise CancelledError("the search was cancelled")
        for candidate in every(method.candidates(units, budget)):
            if isinstance(candidate, Part):
                parts.setdefault(candidate)
            if time.monotonic() > until:
                break
    runs = dict(best.runs)
    for chosen in front(method.ideals, parts, runs).parts:
        if time.monotonic() > until:
            break
        for number, part in enumerate(chosen):
            if part in runs:
                continue
            if progress is not None and progress(best.cost.cycles, part.text) is False:
                raise CancelledError("the search was cancelled")
            try:
                cost = method.measure(chosen[: number + 1])
            except SimulationError:
                parts.pop(part)
                break
            if cost is not None:
                runs[part] = cost
    found = front(method.ideals, parts, runs)
    for cost, chosen in zip(found.costs, found.parts, strict=True):
        yield Choice(method.schedule(chosen), cost, all(part in runs for part in chosen))


def _check(
    lanes: int, on_chip: float | None, copies: int, stores: int, gap: float, time_limit: float
) -> None:
    if not 1 <= lanes <= MOST_LANES:
        raise FuseloomError(f"a budget of {counted(lanes, 'lane')}", hint=f"from 1 to {MOST_LANES}")
    if on_chip is not None and not on_chip >= 0:
        raise FuseloomError(f"a budget of {counted(on_chip, 'byte')} on chip", hint="0 or more")
    if not 0 <= copies <= 4:
        raise FuseloomError(f"a budget of {counted(copies, 'copy', 'copies')}", hint="from 0 to 4")
    if stores < 0:
        raise FuseloomError(f"a budget of {stores} stores", hint="0 or more")
    if not 0 <= gap < 1:
        raise FuseloomError(f"a gap of {gap}", hint="a share from 0 to below 1, e.g. 0.05")
    if not time_limit > 0:
        raise FuseloomError(f"a time limit of {time_limit} s", hint="some seconds, e.g. 10")
