"""Random programs: every cycle of a run is attributed, and every change keeps what is proven of it.

Programs are those of :mod:`tests.property.test_everything_at_once`.  Records tell a few rows of a
path only in every other case, so that what they leave out has its place, too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateContext, estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.why.attribution import (
    CAUSES,
    AttributedCycles,
    AttributionLevel,
    attribution,
)
from fuseloom.dataflow.why.difference import Change, difference
from fuseloom.dataflow.why.promises import held
from fuseloom.dataflow.why.recomputation import recomputation
from fuseloom.dataflow.why.suggestions import Suggestion, SuggestionRequest, suggestions
from fuseloom.errors import FuseloomError
from fuseloom.results.record import RunRecord
from tests.property.programs import Case
from tests.property.test_everything_at_once import draw

SEED = 20_261_123
MACHINES = (Machine.default(), Machine.preset("hbm2"), Machine.preset("ideal"))


def cases(first: int, wanted: int) -> Iterator[tuple[int, Case]]:
    """Cases that can be compiled, with their seeds."""
    seed, given = first, 0
    while given < wanted:
        case = draw(seed)
        if case is not None:
            given += 1
            yield seed, case
        seed += 1


def record_of(
    compilation: Compilation, case: Case, machine: Machine, explain: bool, rows: int = 100
) -> RunRecord:
    run = simulate(compilation, case.data, machine, observe=Observe(log=True) if explain else None)
    return program_record(run, None, Detail(nodes=True, rows=rows))


def check_sums(part: AttributedCycles, what: str) -> None:
    """Every part is the sum of its own, and says what it is."""
    assert part.cycles >= 0, what
    if part.level is AttributionLevel.CAUSE:
        assert part.name in CAUSES, what
        assert not part.parts, what
        return
    assert sum(p.cycles for p in part.parts) == part.cycles, what
    for smaller in part.parts:
        check_sums(smaller, what)


def check_attribution(seed: int, case: Case, machine: Machine) -> Counter[str]:
    """Attribute two runs of a program, and compare them."""
    what, rng = f"seed {seed}", random.Random(seed)
    mine = record_of(case.compilation, case, machine, True, rng.choice([1, 100]))
    tree = attribution(mine, case.compilation)
    check_sums(tree, what)
    leaves = list(tree.leaves())
    assert sum(leaf.cycles for leaf in leaves) == tree.cycles == mine.cycles, what
    alone = compile_program(case.compilation.source or case.program)
    theirs = record_of(alone, case, machine, rng.random() < 0.8)
    other = attribution(theirs, alone)
    check_sums(other, what)
    found = difference(tree, other)
    parts: tuple[tuple[Change, ...], ...] = (found.statements, found.nodes, found.causes)
    for changes in parts:
        assert sum(c.more for c in changes) == theirs.cycles - mine.cycles == found.more, what
        assert sum(c.a or 0 for c in changes) == mine.cycles, what
        assert sum(c.b or 0 for c in changes) == theirs.cycles, what
    return Counter({leaf.name(AttributionLevel.CAUSE) for leaf in leaves})


def attributed(first: int, wanted: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed, case in cases(first, wanted):
        seen += check_attribution(seed, case, MACHINES[seed % len(MACHINES)])
        seen["cases"] += 1
    print(f"seeds from {first}: {dict(seen)}")
    assert {"working", "waiting for a token", "smaller parts"} <= seen.keys()
    return seen


def check_change(seed: int, case: Case, made: Suggestion, machine: Machine) -> Counter[str]:
    """Carry out a change and run it: its bound holds, and its estimate is that of its text."""
    what = f"seed {seed}: {made.text}\n{made.schedule}\n{case!r}"
    source = case.compilation.source or case.program
    schedule = made.schedule or case.compilation.resolved
    machine = made.machine or machine
    compiled = compile_program(source, schedule)
    promise = made.promise
    assert str(compiled.resolved) == str(schedule), what
    expected = estimate(compiled, case.data, machine=machine).cycles
    assert promise.estimated is not None, what
    assert expected == pytest.approx(promise.estimated), what
    assert promise.estimated < promise.now or promise.now != promise.estimated, what
    record = program_record(simulate(compiled, case.data, machine), None, Detail())
    assert record.cycles >= promise.least - 1e-6, what
    verdict = held(promise, record)
    assert verdict.text == "held" or verdict.text.startswith("missed by"), what
    return Counter({made.kind.value: 1, "held" if verdict.held else "missed": 1, "changes": 1})


def promised(first: int, wanted: int) -> Counter[str]:
    """Look for changes of random programs until so many were carried out."""
    seen: Counter[str] = Counter()
    for seed, case in cases(first, 20 * wanted):
        machine = MACHINES[seed % len(MACHINES)]
        if seed % 2:
            machine = Machine(channel_capacity=None if seed % 4 == 1 else 64)
        source = case.compilation.source or case.program
        try:
            compiled = compile_program(source, case.compilation.resolved)
            record = record_of(compiled, case, machine, False)
        except FuseloomError:
            continue
        now = estimate(compiled, case.data, machine=machine)
        if not compiled.regions:
            continue
        context = EstimateContext.of(compiled.program, case.data, machine=machine)
        for one in recomputation(compiled, context, now):
            assert np.isfinite(one.factor), f"seed {seed}: {one}"
            seen["recomputed"] += one.factor > 1
        asked = SuggestionRequest(compiled, case.data, machine, now, record)
        for made in suggestions(asked, seconds=0.3):
            if made.applies:
                seen += check_change(seed, case, made, machine)
        seen["cases"] += 1
        if seen["changes"] >= wanted:
            break
    print(f"seeds from {first}: {dict(seen)}")
    assert seen["changes"] >= wanted
    assert seen["held"] >= 0.8 * seen["changes"]
    return seen


@pytest.mark.deep  # takes seconds
def test_every_cycle_is_attributed() -> None:
    attributed(SEED, 6)


@pytest.mark.deep  # takes seconds
def test_changes_keep_their_bounds() -> None:
    seen = promised(SEED, 8)
    assert seen["join"] or seen["cut"]


@pytest.mark.fuzz
def test_every_cycle_of_many_runs_is_attributed() -> None:
    attributed(SEED + 1_000, 200)


@pytest.mark.fuzz
def test_many_changes_keep_their_bounds() -> None:
    seen = promised(SEED + 1_000, 200)
    assert {"join", "cut", "lanes"} <= seen.keys()
