"""Machines and schedules chosen together, against every pair of them run."""

from __future__ import annotations

import json
import random
from itertools import product
from math import inf

import pytest

import fuseloom as fl
from benchmarks.certificates import CertifiedSpace, cuts, space
from fuseloom.dataflow.machine.space import MachineSpace, parse_machine_space
from fuseloom.dataflow.method import Dataflow
from fuseloom.errors import CancelledError, DataError, FuseloomError, SimulationError
from fuseloom.exploration.codesign import codesign
from fuseloom.exploration.designs import Codesign, CodesignData, MachineDesign
from fuseloom.exploration.objective import OBJECTIVES
from fuseloom.results.declarations import read
from fuseloom.results.method import Budget, Cost, Part, every
from tests.tiers import counts

SEED = 462
MOST_PARTS = 16
AXES = {
    "lanes": (1, 2),
    "alu_latency": (1, 6),
    "load_latency": (1, 9),
    "channel_capacity": (8, "unbounded"),
    "memory": ("none", "hbm2", "ddr4"),
    "clock_hz": (1e9, 4e8),
}
SPMM, DATA = fl.load("spmm", "random")
SMALL = 'base = "hbm2"\n[parameters]\nlanes = [1, 2]\n"memory.channels" = [2, 8]'


def machines(rng: random.Random) -> MachineSpace:
    chosen = rng.sample(sorted(AXES), 2)
    lines = [f"{name} = {json.dumps(list(AXES[name]))}" for name in chosen]
    return parse_machine_space("\n".join(["[parameters]", *lines]))


def costs_of(given: CertifiedSpace, method: Dataflow, budget: Budget) -> list[Cost] | None:
    """What every schedule takes; None if they are too many."""
    listed = cuts(method.program)
    regions = sorted({units for cut in listed for units in cut}, key=lambda u: (len(u), u))
    taken: dict[tuple[int, ...], list[Cost]] = {}
    left = MOST_PARTS
    for units in regions:
        taken[units] = []
        for part in every(method.candidates(units, budget)):
            if not isinstance(part, Part):
                continue
            left -= 1
            if left < 0:
                return None
            try:
                cost = method.measure((part,))
            except (SimulationError, DataError):  # it fails, or all that write for it do
                continue
            assert cost is not None
            assert part.least_energy <= cost.energy
            assert part.least <= cost.cycles
            taken[units].append(cost)
    found = []
    for cut in listed:
        for chosen in product(*(taken[units] for units in cut)):
            total = Cost()
            for cost in chosen:
                total = total.then(cost)
            found.append(total)
    return found


def compared(seed: int) -> bool:
    """Compare one space; False if it is too large to be listed."""
    rng = random.Random(seed)
    given, listed = space(seed), machines(rng)
    best = dict.fromkeys(OBJECTIVES, inf)
    designs = set()
    limit = inf
    for point in listed.points():
        method = Dataflow(given.program, given.data, point.machine, energy=True)
        budget = Budget(point.lanes, point.on_chip, given.budget.copies)
        found = costs_of(given, method, budget)
        if found is None:
            return False
        for name, objective in OBJECTIVES.items():
            values = [objective.of(cost, point.machine.clock_hz) for cost in found]
            best[name] = min([best[name], *values])
        clock = point.machine.clock_hz
        designs |= {(cost.cycles / clock, cost.energy) for cost in found}
        limit = min([limit, *(cost.energy for cost in found)])
    for name in ("cycles", "time", "energy", "edp"):
        told = codesign(
            given.program, given.data, listed, objective=name, copies=given.budget.copies,
            time_limit=600, pareto=name == "time",
        )  # fmt: skip
        assert told.value == pytest.approx(best[name], rel=1e-9), (seed, name)
        assert told.bound == pytest.approx(best[name], rel=1e-8), (seed, name)
        assert told.complete or told.gap < 1e-8
        if told.front is not None:
            front = {d for d in designs if not any(o != d and beats(o, d) for o in designs)}
            assert told.front_complete
            assert {(d.seconds, d.energy) for d in told.front} == front, seed
    return True


def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] <= other[1]


@counts(small=1, deep=2, fuzz=24)
def test_the_best_of_all_machines_and_schedules(count: int) -> None:
    seed = SEED
    while count:
        count -= compared(seed)
        seed += 1


@pytest.fixture(scope="module")
def found() -> Codesign:
    return codesign(SPMM.program, DATA, SMALL, objective="edp", pareto=True, every=True)


def test_the_design_is_what_its_run_takes(found: Codesign) -> None:
    design = found.design
    point = parse_machine_space(SMALL).point(design.settings)
    run = fl.simulate(fl.compile(SPMM.program, design.schedule), DATA, point.machine)
    assert run.check().ok
    assert design.cycles == run.cycles
    assert design.energy == pytest.approx(run.energy.joules)
    assert found.value == pytest.approx(run.energy.edp)
    assert found.gap == 0


def test_effects_are_the_best_of_machines(found: Codesign) -> None:
    assert [(e.parameter, e.setting) for e in found.effects] == [
        ("lanes", 1), ("lanes", 2), ("memory.channels", 2), ("memory.channels", 8),
    ]  # fmt: skip
    for effect in found.effects:
        own = [m.value for m in found.machines if m.settings[effect.parameter] == effect.setting]
        assert effect.value == effect.bound == min(v for v in own if v is not None)
    assert [m.verdict for m in found.machines].count("the best") == 1


def test_the_front_has_the_best_and_none_is_beaten(found: Codesign) -> None:
    assert found.front is not None
    assert found.front_complete

    def numbers(one: MachineDesign) -> tuple[float, float, float]:
        return one.seconds, one.energy, one.area

    for one in found.front:
        for other in found.front:
            assert one is other or any(
                a < b for a, b in zip(numbers(one), numbers(other), strict=True)
            )
    assert found.value == pytest.approx(min(d.seconds * d.energy for d in found.front))


def test_as_plain_data_it_is_what_is_declared(found: Codesign) -> None:
    data = found.to_dict()
    assert read(CodesignData, json.loads(json.dumps(data)), "codesign") is not None
    assert data["gap"] == 0.0


def test_budgets_and_requirements_are_kept(found: Codesign) -> None:
    narrow = codesign(SPMM.program, DATA, SMALL, objective="cycles", bandwidth=64e9)
    assert {m.verdict.partition(":")[0] for m in narrow.machines} >= {"the best", "not searched"}
    assert narrow.design.settings["memory.channels"] == 2
    frugal = codesign(
        SPMM.program, DATA, SMALL, objective="cycles", energy=found.design.energy * 1.0000001
    )
    assert frugal.design.energy <= found.design.energy * 1.0000001
    free = codesign(SPMM.program, DATA, SMALL, objective="cycles")
    assert frugal.value >= free.value
    other = codesign(SPMM.program, DATA, SMALL, objective="cycles", requirements=["order i j"])
    assert "order T..T: i,j" in other.design.schedule


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"objective": "speed"}, "no objective is called 'speed'"),
        ({"energy": 1e-30}, "no design was found"),
        ({"energy": -1.0}, "a budget of energy -1"),
        ({"energy": float("nan")}, "a budget of energy nan"),
        ({"bandwidth": 1.0}, "its memory gives"),
        ({"gap": 1.0}, "a gap of 1.0"),
        ({"time_limit": 0.0}, "a time limit of 0.0 s"),
        ({"requirements": ["fuse Q R"]}, "nothing assigns Q"),
    ],
)
def test_of_what_cannot_be_the_reason_is_told(options: dict[str, object], told: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        codesign(SPMM.program, DATA, SMALL, **{"time_limit": 20.0, **options})
    assert told in str(caught.value)
    assert caught.value.hint


def test_it_can_be_cancelled() -> None:
    with pytest.raises(CancelledError):
        codesign(SPMM.program, DATA, SMALL, progress=lambda value, text: False)


def test_where_time_is_up_the_best_so_far_is_told_with_its_bound() -> None:
    gcn, data = fl.load("gcn", "karate")
    told = codesign(
        gcn.program, data, 'base = "hbm2"\n[parameters]\nalu_latency = [1, 2, 3]', objective="edp",
        presets=gcn.presets, time_limit=0.5,
    )  # fmt: skip
    assert 0 <= told.bound < told.value
    assert not told.complete
    assert 0 < told.gap <= 1
