"""Pipelines node by node: equal to generated code, and to whole calls."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.commands import Parallelize, ReuseOverlap
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.interpreter import interpret
from fuseloom.calls.pipeline_nodes import ComputeNode, FreeNode
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.errors import ScheduleError

from . import programs
from .test_pipelines import SMALL


@pytest.mark.parametrize("name", PIPELINES)
def test_compositions_give_what_code_gives(name: str) -> None:
    case = PIPELINES[name].make(SMALL[name])
    fused = FusedFunction(case.composition)
    sizes = {PIPELINES[name].tile: 3}
    fused(**case.arguments, **sizes)
    expected = case.result.copy()
    case.result.fill(np.nan)
    computed: list[str] = []

    def seen(node) -> None:
        if isinstance(node, ComputeNode):
            computed.append(node.call.function.name)

    values = fused.values(**case.arguments, **sizes)
    interpret(fused.scheduled, case.arguments, values, seen)
    assert np.array_equal(case.result, expected)
    assert len(computed) == fused.counts(**case.arguments, **sizes).calls


@pytest.mark.parametrize("seed", range(80))
def test_random_programs_give_what_whole_calls_give(seed: int) -> None:
    random_ = random.Random(seed)
    program = programs.random_program(random_, random_.randint(1, 7))
    composition = compose(program.calls)
    commands = programs.random_commands(random_, composition)
    names = [call.output.name for call in composition.calls[:-1]]
    if seed % 2 and names:
        commands = [ReuseOverlap(random_.choice(names), random_.randint(0, 1))]
    try:
        fused = FusedFunction(composition, commands)
    except ScheduleError:
        return
    out = np.full_like(program.value, np.nan)
    given = {x.name: program.given[x.name] for x in composition.given}
    given |= {composition.result.name: out}
    sizes = {name: random_.randint(1, 9) for name in fused.scheduled.parameters}
    interpret(fused.scheduled, given, fused.values(**given, **sizes))
    assert np.array_equal(out, program.value)


def test_what_is_freed_is_no_longer_there() -> None:
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    fused = FusedFunction([programs.EXP(a, b), programs.EXP(b, c)], [Parallelize(0)])
    given = {"a": np.zeros((4, 3)), "c": np.zeros((4, 3))}
    freed: list[str] = []

    def seen(node) -> None:
        if isinstance(node, FreeNode):
            freed.append(node.name)

    interpret(fused.scheduled, given, fused.values(**given, tr=2), seen)
    assert {*freed} == {"a_part", "c_part", "b_room"}
    assert freed.count("b_room") == 2
