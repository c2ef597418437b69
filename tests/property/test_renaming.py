"""Names of indices mean nothing: under others a program compiles or not, to the same graphs, in the
same cycles.  And whatever a program and its schedule are, compiling never fails inside.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.program import Program
from tests.property.programs import random_options, renamed, several_outputs

SEED = 20_261_122
BLOCKS = (1, 1, 1, 2, 3)


def shape(graph: Graph) -> list[Any]:
    """A graph without what it calls things."""
    return [
        *((s.kind, s.depth) for s in graph.streams),
        *((n.op, n.inputs, n.outputs, _params(n.params)) for n in graph.nodes),
    ]


def _params(params: Any) -> list[tuple[str, Any]]:
    """Parameters, with the axes of tiles lettered as they come."""
    found = []
    for name, value in sorted(params.items()):
        if name == "tile":
            letters: dict[str, str] = {}
            value = "".join(
                letters.setdefault(c, chr(97 + len(letters))) if c.isalpha() else c for c in value
            )
        found.append((name, value))
    return found


def compiled(program: Program, schedule: str) -> Compilation | str:
    """Return the compiled program, or the kind of refusal."""
    try:
        return compile_program(program, schedule)
    except FuseloomError as problem:
        return type(problem).__name__


def search(first: int, wanted: int, every: int, wide: bool = False) -> Counter[str]:
    """Run that many pairs; count what became of them."""
    seen: Counter[str] = Counter()
    seed = first
    while seen["pairs"] < wanted:
        rng = random.Random(seed)
        made = several_outputs(rng, rng.choice(BLOCKS), wide=wide)
        seed += 1
        if made is None:
            continue
        program, data, schedule = made
        mine, other = (compiled(p, schedule) for p in (program, renamed(program, rng)))
        what = f"seed {seed - 1}: {schedule}\n{program}"
        seen["pairs"] += 1
        if isinstance(mine, str) or isinstance(other, str):
            assert mine == other, what
            seen["refused"] += 1
            continue
        assert [r.name for r in mine.regions] == [r.name for r in other.regions], what
        for a, b in zip(mine.regions, other.regions, strict=True):
            assert shape(a.graph) == shape(b.graph), what
        seen["fused"] += any(len(r.region.statements) > 1 for r in mine.regions)
        seen["several outputs"] += any(len(r.region.outputs) > 1 for r in mine.regions)
        seen["blocked"] += any(t.format.blocked for t in program.tensors)
        if seen["pairs"] % every == 0:
            assert simulate(mine, data).cycles == simulate(other, data).cycles, what
            seen["runs"] += 1
    print(f"seeds {first} to {seed - 1}: {dict(seen)}")
    return seen


def orders(first: int, wanted: int) -> Counter[str]:
    """Compile regions of so many programs under random legal orders and options."""
    seen: Counter[str] = Counter()
    seed = first
    while seen["programs"] < wanted:
        rng = random.Random(seed)
        made = several_outputs(rng, rng.choice(BLOCKS))
        seed += 1
        if made is None:
            continue
        program, _, schedule = made
        seen["programs"] += 1
        try:
            regions = fuse(program, Schedule.parse(schedule))
        except FuseloomError:
            continue
        for region in regions:
            varied = replace(region, options=random_options(region, rng))
            seen["orders"] += 1
            try:
                compile_region(varied, region.pog.sample(rng))
            except FuseloomError:
                seen["refused"] += 1
    print(f"seeds {first} to {seed - 1}: {dict(seen)}")
    return seen


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the errors inside the compiler, as they are logged."""
    return [r.getMessage() for r in caplog.records if r.name == "fuseloom.dataflow.compiler"]


def check(
    first: int, wanted: int, every: int, caplog: pytest.LogCaptureFixture, wide: bool = False
) -> None:
    with caplog.at_level(logging.WARNING, "fuseloom.dataflow.compiler"):
        seen = search(first, wanted, every, wide)
    assert not faults(caplog), faults(caplog)[0]
    for what in ("fused", "several outputs", "blocked", "runs"):
        assert seen[what] >= wanted // 12, what


def check_orders(first: int, wanted: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "fuseloom.dataflow.compiler"):
        seen = orders(first, wanted)
    assert not faults(caplog), faults(caplog)[0]
    assert 0 < seen["refused"] < seen["orders"] / 4


@pytest.mark.deep  # takes seconds
def test_names_of_indices_mean_nothing(caplog: pytest.LogCaptureFixture) -> None:
    check(SEED, 50, 4, caplog)


@pytest.mark.deep  # takes seconds
def test_names_of_wide_indices_mean_nothing(caplog: pytest.LogCaptureFixture) -> None:
    check(SEED + 20_000, 40, 4, caplog, wide=True)


@pytest.mark.deep  # takes seconds
def test_no_order_fails_inside(caplog: pytest.LogCaptureFixture) -> None:
    check_orders(SEED + 50_000, 60, caplog)


@pytest.mark.fuzz
def test_names_of_indices_mean_nothing_in_two_thousand_pairs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check(SEED + 100_000, 2_000, 1, caplog)


@pytest.mark.fuzz
def test_names_of_wide_indices_mean_nothing_in_a_thousand_pairs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check(SEED + 300_000, 1_000, 4, caplog, wide=True)


@pytest.mark.fuzz
def test_no_order_of_twenty_thousand_programs_fails_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_orders(SEED + 200_000, 20_000, caplog)
