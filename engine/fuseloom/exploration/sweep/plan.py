"""From a point of a space to what is to be run: program, resolved schedule, data and machine."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations, count, pairwise
from pathlib import Path
from typing import Any

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.fusion.classes import nest_classes
from fuseloom.dataflow.fusion.directives import Block, Fuse, Materialise, Order, Parallel
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.sequence import sequenced
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.jobs import TARGET, job_request
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.what_if import with_size
from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom.exploration.executors import JobLimits, Task
from fuseloom.exploration.store import Outcome, RunIdentity, RunLabel, data_hash
from fuseloom.exploration.sweep.space import SIZES, ProgramWithData, Space
from fuseloom.models import load_labelled
from fuseloom.program.tensor_files import write_tensors
from fuseloom.program.types import Program

MOST_RANKED = 400
"""Regions of a program whose orders are ranked; of longer ones the first orders are taken."""
MOST_WAYS = 1024
"""Regions of which all orders that were found are remembered."""
_KEPT = 8
"""Programs with their data that are remembered, and compilations of each."""


@dataclass(frozen=True, eq=False)
class SweepSubject:
    """A program with its data, as a sweep needs them."""

    given: ProgramWithData
    tensors: Path

    @cached_property
    def hash(self) -> str:
        """Of the data."""
        return data_hash(self.given.data)

    @cached_property
    def file(self) -> Path:
        """The data in a file, for worker processes."""
        path = self.tensors / f"{self.hash}.npz"
        if not path.exists():
            write_tensors(path, self.given.data)
        return path


@dataclass(frozen=True)
class Plan:
    """A configuration that may be estimated and run; or why it may not.

    Attributes
    ----------
    values : mapping of str to str
        The point of the space; of ``cuts`` and ``order`` what ``all`` became.
    refused : Outcome or None
        Why it cannot be compiled.
    asked : str or None
        Text of its schedule before the compiler's choices; None if it has none.
    """

    values: Mapping[str, str]
    refused: Outcome | None = None
    subject: SweepSubject | None = field(default=None, repr=False)
    compiled: Compilation | None = field(default=None, repr=False)
    machine: Machine = field(default_factory=Machine.default)
    asked: str | None = None
    sized: bool = False

    @cached_property
    def identity(self) -> RunIdentity | None:
        """The identity of its run; None where there is no program, or no schedule."""
        if self.subject is None or self.asked is None:
            return None
        program, schedule = self.subject.given.program, self.asked
        if self.compiled is not None:
            program = self.compiled.source or self.compiled.program
            schedule = str(self.compiled.resolved)
        return run_identity(program, schedule, self.subject.hash, self.machine, sized=self.sized)

    def label(self, estimated: float | None) -> RunLabel:
        """Return the label of its run for people."""
        if self.subject is None:
            return RunLabel(machine=self.machine.name, estimated=estimated)
        given = self.subject.given
        return RunLabel(given.name, given.label, self.machine.name, estimated)

    def estimated(self) -> float:
        """Expected cycles.

        Raises
        ------
        FuseloomError
            If nothing can be said.
        """
        assert self.compiled is not None
        assert self.subject is not None
        data = self.subject.given.data
        return float(estimate(self.compiled, data, machine=self.machine).cycles)

    def task(
        self, estimated: float | None, limits: Limits, job: JobLimits, *, check: bool = True
    ) -> Task:
        """Its simulation."""
        assert self.compiled is not None
        assert self.subject is not None
        assert self.identity is not None
        file = self.subject.file
        request = job_request(
            self.compiled, self.machine, file, self.subject.given.source,
            sized=self.sized, check=check, limits=limits,
        )  # fmt: skip
        label = self.label(estimated)
        return Task(self.identity, TARGET, request, label, job, (str(file),))


def run_identity(
    program: Program, schedule: str, data: str, machine: Machine, *, sized: bool = False
) -> RunIdentity:
    """Return the identity of a program's run, which every command uses."""
    settings = {"capacity": "sized"} if sized else {}
    return RunIdentity(str(program), schedule, data, machine.fingerprint, settings=settings)


class Planner:
    """Makes plans of the points of a space, one after another.

    Parameters
    ----------
    folder : Path
        Where the data are written for worker processes.
    """

    def __init__(self, space: Space, folder: Path) -> None:
        self._space = space
        self._folder = folder
        self._subject = lru_cache(maxsize=_KEPT)(self._load)
        self._compiled = lru_cache(maxsize=_KEPT * _KEPT)(self._compile)
        self._before = CompiledBefore()
        self._ways: OrderedDict[int, _Orders] = OrderedDict()

    def plans(self) -> Iterator[Plan]:
        """Every configuration, the legal ones and the others."""
        for point in self._space.points():
            try:
                yield from self._plans(point)
            except Exception as reason:  # one that cannot be does not end the others
                yield Plan(point, Outcome.of_error(reason))

    # Inside -------------------------------------------------------------------------------------

    def _plans(self, point: dict[str, str]) -> Iterator[Plan]:
        base = self._space.base
        sizes = dict(base.sizes)
        sizes |= {n.partition(".")[2]: v for n, v in point.items() if n.startswith("with.")}
        subject = self._subject(
            point.get("model") or (base.of if isinstance(base.of, str) else None),
            point.get("data", base.data),
            int(point.get("seed", base.seed)),
            tuple(sorted(sizes.items())),
        )
        machine, sized = self._machine(point)
        plan = Plan(point, None, subject, None, machine, None, sized)
        try:
            asked = self._schedule(point, subject.given)
            for values, schedule in self._cut(point, asked, subject.given):
                text = str(schedule)
                plan = replace(plan, values=values, asked=text)
                yield from self._ordered(plan, schedule)
        except Exception as reason:
            yield replace(plan, refused=Outcome.of_error(reason))

    def _load(
        self, model: str | None, data: str | None, seed: int, sizes: tuple[tuple[str, Any], ...]
    ) -> SweepSubject:
        base = self._space.base
        if model is None:
            assert isinstance(base.of, ProgramWithData)
            return SweepSubject(base.of, self._folder)
        loaded = load_labelled(model, data, seed, base.data_dir, **dict(sizes))
        source = loaded.source
        given = ProgramWithData(
            loaded.model.program, loaded.data, model, loaded.label, loaded.model.presets, source
        )
        return SweepSubject(given, self._folder)

    def _machine(self, point: Mapping[str, str]) -> tuple[Machine, bool]:
        base, machine = self._space.base, self._space.base.machine
        if "machine" in point:
            name = point["machine"]
            known = self._space.machines
            machine = known[name] if name in known else Machine.preset(name)
        for size in SIZES:
            if size in point:
                machine = with_size(machine, size, int(point[size]))
        match point.get("capacity", base.capacity):
            case None:
                return machine, False
            case "sized":
                return machine, True
            case "none":
                return replace(machine, channel_capacity=None), False
            case tokens:
                return replace(machine, channel_capacity=int(tokens)), False

    def _schedule(self, point: Mapping[str, str], given: ProgramWithData) -> Schedule:
        base = self._space.base
        if "schedule" in point:
            text = self._space.schedules[point["schedule"]]
        elif "preset" in point or (base.preset is not None):
            name = point.get("preset", base.preset) or ""
            if name not in given.presets:
                known = ", ".join(given.presets) or "none"
                raise ScheduleError(f"{given.name} has no preset {name[:40]!r}",
                                    hint=f"presets: {known}")  # fmt: skip
            text = given.presets[name]
        else:
            text = base.schedule or ""
        schedule = Schedule.parse(text)
        settings = schedule.settings
        if "block" in point:
            settings = tuple(s for s in settings if not isinstance(s, Block))
            if point["block"] != "none":
                settings = (*settings, Block(int(point["block"])))
        for name, value in point.items():
            head, _, index = name.partition(".")
            if head == "lanes":
                settings = tuple(
                    s for s in settings if not (isinstance(s, Parallel) and s.index == index)
                )
                if int(value) > 1:
                    settings = (*settings, Parallel(index, int(value)))
        return replace(schedule, settings=settings)

    def _cut(
        self, point: dict[str, str], schedule: Schedule, given: ProgramWithData
    ) -> Iterator[tuple[dict[str, str], Schedule]]:
        """The schedule with every choice of cuts that the point asks for."""
        if point.get("cuts") != "all":
            yield point, schedule
            return
        settings = tuple(s for s in schedule.settings if not isinstance(s, Materialise))
        try:
            live = sequenced(given.program, schedule).live
        except ScheduleError:  # told when it is compiled
            yield point, schedule
            return
        names = [(s.out.tensor, s.op.fuses) for s in live]
        free = [k for k in range(1, len(names)) if names[k][1] and names[k - 1][1]]
        fixed = {k for k in range(1, len(names)) if k not in free}
        for number in range(len(free) + 1):
            for chosen in combinations(free, number):
                ends = [0, *sorted({*fixed, *chosen}), len(names)]
                spans = [(names[a][0], names[b - 1][0]) for a, b in pairwise(ends)]
                fusions = tuple(Fuse(first, last) for first, last in spans if first != last)
                told = "; ".join(f"{a}..{b}" if a != b else a for a, b in spans)
                yield {**point, "cuts": told}, Schedule(fusions, (), settings)

    def _ordered(self, plan: Plan, schedule: Schedule) -> Iterator[Plan]:
        """The plan, compiled, with every choice of orders that it asks for."""
        order = plan.values.get("order", self._space.base.order)
        assert plan.subject is not None
        assert plan.asked is not None
        machine = plan.machine if order == "best" else Machine.default()
        try:
            compiled = self._compiled(plan.subject, plan.asked, order, machine)
        except Exception as reason:
            yield replace(plan, refused=Outcome.of_error(reason))
            return
        if order != "all":
            yield replace(plan, compiled=_finished(compiled, plan))
            return
        choices = [self._orders(region) for region in compiled.regions]
        for regions in _combined(choices):
            made = replace(compiled, regions=regions)
            told = "; ".join(f"{r.name}: {','.join(r.own_order)}" for r in regions if r.own_order)
            values = {**plan.values, "order": told}
            yield replace(plan, values=values, compiled=_finished(made, plan))
        for region, orders in zip(compiled.regions, choices, strict=True):
            for named, problem in orders.refused:
                asked = replace(schedule, orders=(*schedule.orders, _order(region, named)))
                values = {**plan.values, "order": f"{region.name}: {','.join(named)}"}
                outcome = Outcome.of_error(problem)
                yield replace(plan, values=values, asked=str(asked), refused=outcome)

    def _orders(self, compiled: CompiledRegion) -> _Orders:
        """The orders of a region that other schedules may have too."""
        found = self._ways.get(id(compiled))
        if found is None:
            found = self._ways[id(compiled)] = _Orders(compiled, self._before)
            if len(self._ways) > MOST_WAYS:
                self._ways.popitem(last=False)
        return found

    def _compile(
        self, subject: SweepSubject, schedule: str, order: str, machine: Machine
    ) -> Compilation:
        compiled = compile_program(subject.given.program, schedule, before=self._before)
        if order == "best" and len(compiled.regions) <= MOST_RANKED:
            return best_orders(compiled, subject.given.data, machine=machine).compilation
        return compiled


def _finished(compiled: Compilation, plan: Plan) -> Compilation:
    return compiled.sized() if plan.sized else compiled


def _order(compiled: CompiledRegion, order: tuple[str, ...]) -> Order:
    first, _, last = compiled.name.partition("..")
    return Order(first, last or first, order)


class _Orders:
    """A region under one order of every nest class, found as they are asked for.

    As it is if the schedule names its order.
    """

    def __init__(self, compiled: CompiledRegion, before: CompiledBefore) -> None:
        self._compiled, self._before = compiled, before
        self.refused: list[tuple[tuple[str, ...], FuseloomError]] = []
        self._known: list[CompiledRegion] = []
        self._coming = self._find()

    def __iter__(self) -> Iterator[CompiledRegion]:
        for place in count():
            if place == len(self._known):
                found = next(self._coming, None)
                if found is None:
                    return
                self._known.append(found)
            yield self._known[place]

    def _find(self) -> Iterator[CompiledRegion]:
        compiled = self._compiled
        if compiled.region.chosen is not None or not compiled.own_order:
            yield compiled
            return
        for nests in nest_classes(compiled.region):
            try:
                yield compile_region(compiled.region, nests.order, before=self._before)
            except FuseloomError as reason:  # no primitive does that
                self.refused.append((nests.order, reason))


def _combined(choices: Sequence[_Orders]) -> Iterator[tuple[CompiledRegion, ...]]:
    """Every combination; none is made before it is asked for."""
    if not choices:
        yield ()
        return
    for region in choices[0]:
        for others in _combined(choices[1:]):
            yield (region, *others)
