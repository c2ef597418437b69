"""Regions compiled before are what compiling them anew gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.fusion.directives import Fuse, Parallel, Repeat
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.orders import best_orders
from fuseloom.errors import FuseloomError
from fuseloom.models import load
from fuseloom.program import Program, parse
from tests.property.test_everything_at_once import draw

SCHEDULES = 8


def schedules(program: Program, rng: random.Random) -> Iterator[Schedule]:
    names = [statement.out.tensor for statement in program.statements]
    indices = sorted({x for statement in program.statements for x in statement.indices})
    for _ in range(SCHEDULES):
        cuts = sorted(rng.sample(range(1, len(names)), rng.randrange(len(names))))
        ends = [0, *cuts, len(names)]
        spans = pairwise(ends)
        fusions = tuple(Fuse(names[a], names[b - 1], True) for a, b in spans if b - a > 1)
        settings: tuple[Parallel | Repeat, ...] = ()
        if indices and rng.random() < 0.3:
            settings = (Parallel(rng.choice(indices), 2),)
        yield Schedule(fusions, (), settings)


def told(
    program: Program, schedule: Schedule | str = "", before: CompiledBefore | None = None
) -> list[object] | str:
    """Return a summary of the compiled program, or the reason of its refusal."""
    try:
        compiled = compile_program(program, schedule, before=before)
    except FuseloomError as reason:
        return str(reason)
    return described(compiled)


def described(compiled: Compilation) -> list[object]:
    """A summary of each region."""
    return [
        (r.name, r.graph, str(r.table), r.order, r.legal_orders, r.region.pog, r.copies)
        for r in compiled.regions
    ]


@pytest.mark.parametrize("seed", range(25))
def test_random_schedules_of_random_programs(seed: int) -> None:
    case = draw(seed)
    if case is None:
        return
    before = CompiledBefore()
    for schedule in schedules(case.program, random.Random(seed)):
        assert told(case.program, schedule, before) == told(case.program, schedule)


@pytest.mark.parametrize("seed", range(25))
def test_best_orders_of_random_programs(seed: int) -> None:
    """Regions are the same in programs that store other tensors otherwise, too."""
    case = draw(seed)
    if case is None:
        return
    before = CompiledBefore()
    for schedule in schedules(case.program, random.Random(seed)):
        try:
            compiled = compile_program(case.program, schedule, before=before)
            found = best_orders(compiled, case.data, before=before).compilation
        except FuseloomError:
            continue
        alone = best_orders(compile_program(case.program, schedule), case.data).compilation
        assert described(found) == described(alone)
        assert all(r.region.program == found.program for r in found.regions)


def test_what_other_regions_store_does_not_matter() -> None:
    program = parse(
        "A: 4x4 csr\nX: 4x4 dense\nT[i,j] = A[i,k] * X[k,j]\nU[i,j] = exp(T[i,j])\n"
        "V[i,j] = U[i,k] * X[k,j]"
    )
    before = CompiledBefore()
    dense, other = (
        compile_program(program, schedule, before=before).regions
        for schedule in ("store U compressed,dense", "store U compressed,compressed")
    )
    assert [a.graph is b.graph for a, b in zip(dense, other, strict=True)] == [True, False, False]
    assert dense[0].table.region is dense[0].region is not other[0].region
    assert other[0].region.program.tensor("U").format != dense[0].region.program.tensor("U").format


def test_a_named_order_is_found_where_it_was_chosen() -> None:
    program = parse("A: 4x4 csr\nX: 4x4 dense\nT[i,j] = A[i,k] * X[k,j]")
    before = CompiledBefore()
    named = compile_program(program, "order T..T: i,k,j", before=before).regions[0]
    (free,) = compile_program(program, "", before=before).regions
    asked = compile_region(free.region, ("i", "k", "j"), before=before)
    assert asked.graph is named.graph
    assert (named.region.chosen, asked.region.chosen) == (("i", "k", "j"), None)


def test_only_what_is_new_is_compiled() -> None:
    model, _ = load("gcn", "karate")
    names = [statement.out.tensor for statement in model.program.statements]
    before = CompiledBefore()
    one = compile_program(model.program, f"fuse {names[0]}..{names[1]}", before=before)
    other = compile_program(model.program, f"fuse {names[4]}..{names[5]}", before=before)
    known = {id(region) for region in one.regions}
    new = [region.name for region in other.regions if id(region) not in known]
    assert new == [names[0], names[1], f"{names[4]}..{names[5]}"]


def test_a_region_that_shares_less_is_another() -> None:
    """Of equal statements under equal names, but one is used twice where the other is computed."""
    program = parse("A: 4x4 csr\nB: 4x4 csr\nT[i,j] = A[i,j] * B[i,j]\nU[i,j] = T[i,j] * T[i,j]")
    before = CompiledBefore()
    for schedule in ("fuse T..U", "", "fuse T..U"):
        assert told(program, schedule, before) == told(program, schedule)


def test_few_are_kept() -> None:
    model, _ = load("gcn", "karate")
    before = CompiledBefore(most=1)
    first, again = (compile_program(model.program, before=before) for _ in range(2))
    assert first.regions[0] is not again.regions[0]
    assert first.regions[0].graph == again.regions[0].graph
