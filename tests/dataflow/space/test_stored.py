"""Choices of what is stored dense: the best of all of them, found by searching each by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import fuseloom as fl
from benchmarks.certificates import CertifiedSpace, best_of
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.space.stored import store_choices
from fuseloom.errors import FuseloomError
from fuseloom.exploration.autoschedule import autoschedule
from fuseloom.program import Program, parse
from fuseloom.results.method import Budget

SEED = 16_400


def drawn(seed: int) -> CertifiedSpace:
    """Products with dense matrices, whose columns are complete; some branch."""
    rng = random.Random(seed)
    lines = ["A: 4x4 csr", "B: 4x3 dense", "C: 4x3 dcsr"]
    lines += ["T[i,j] = A[i,k] * B[k,j]", "U[i,j] = relu(T[i,j])"]
    lines.append(rng.choice(["V[i,j] = U[i,j] * C[i,j]", "V[i,j] = T[i,j] + U[i,j]"]))
    if rng.random() < 0.5:
        lines += ["W[i,j] = exp(T[i,j])", "output V, W"]
    program, draw = parse("\n".join(lines)), np.random.default_rng(seed)
    shapes = {name: program.tensor(name).shape for name in program.inputs}
    data = {name: (draw.random(s) < 0.6) * (draw.random(s) + 0.5) for name, s in shapes.items()}
    return CertifiedSpace(program, data, Budget(), fl.Machine.default(), False)


def otherwise(program: Program) -> Iterator[tuple[str, str]]:
    """Tensors and how they are stored most densely, by trying all candidates."""
    for statement in program.live:
        name = statement.out.tensor
        rank = len(statement.out.indices)
        for levels in sorted(product(("dense", "compressed"), repeat=rank), key="".join):
            words = ",".join(levels)
            try:
                made, _ = prepare(program, Schedule.parse(f"store {name} {words}"))
            except FuseloomError:
                continue
            if "dense" in levels and made != program:
                yield name, words
                break


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("seed", [SEED, SEED + 2, pytest.param(SEED + 1, marks=pytest.mark.fuzz)])
def test_the_best_of_all_choices_is_found(seed: int) -> None:
    given = drawn(seed)
    possible = list(otherwise(given.program))
    assert possible
    best = []
    for number in range(3):
        for chosen in combinations(possible, number):
            text = "; ".join(f"store {name} {words}" for name, words in chosen)
            program, _ = prepare(given.program, Schedule.parse(text))
            own = replace(given, program=program)
            found = best_of(own, own.method(), 1_000)
            assert found is not None
            best.append(found[0])
    found_ = autoschedule(given.program, given.data, stores=2, gap=0, time_limit=600)
    assert found_.best.cost.cycles == min(best)
    assert found_.certificate.bound == min(best)
    run = fl.simulate(fl.compile(given.program, found_.best.schedule), given.data)
    assert run.check().ok
    assert run.cycles == min(best)


def test_choices_are_counted_once() -> None:
    """A tensor that does not leave its region is stored nohow."""
    given = drawn(SEED)
    methods = [given.method()]
    choices = list(store_choices(given.program, 9))
    assert choices[0] == ()
    assert len(choices) == 2 ** len(list(otherwise(given.program)))
    methods += [
        Dataflow(given.program, given.data, stores=chosen, like=methods[0])
        for chosen in choices[1:]
    ]
    total = sum(method.size(Budget())[0] for method in methods)
    found = autoschedule(given.program, given.data, stores=9, gap=0.9)
    assert found.space.schedules == total
    alone = [Dataflow(given.program, given.data, stores=chosen) for chosen in choices]
    assert total == sum(method.size(Budget())[0] for method in alone)
    assert any("formats of more than 9 tensors" in text for text in found.certificate.unsearched)


def test_too_many_choices_are_refused() -> None:
    lines = [f"T{k}[i,j] = A[i,k] * B[k,j]" for k in range(9)]
    lines += [f"U{k}[i,j] = relu(T{k}[i,j])" for k in range(9)]
    program = parse("\n".join(["A: 2x2 csr", "B: 2x2 dense", *lines]))
    assert len(list(store_choices(program, 2))) == 1 + 9 + 36
    with pytest.raises(FuseloomError, match="9 tensors can be stored dense, which makes 512"):
        list(store_choices(program, 9))
