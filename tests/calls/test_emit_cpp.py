"""C++: equal to the generated Python, without a warning of the compiler; what is refused."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, annotate
from fuseloom.calls.commands import BreakBefore, Parallelize, Reorder, ReuseOverlap, Subpipeline
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import ImageTensor, Items, Matrix, Vector
from fuseloom.calls.emit_cpp import emit_cpp
from fuseloom.calls.fused import CodeLanguage, FusedFunction
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.calls.schedule import schedule
from fuseloom.errors import LoweringError

from . import programs

SMALL = {"h": 37, "w": 22, "n": 301, "m": 41, "k": 9, "c": 3, "o": 4}
FIRST_SEEDS, DEEP_SEEDS = 8, 56
"""Random programs of the first and of the deep tier: a compiler starts for each."""


def both(composition, commands, given, result, sizes) -> None:
    """Run a schedule in both languages."""
    made = []
    for language in CodeLanguage:
        out = np.full_like(result, np.nan)
        fused = FusedFunction(composition, commands, 2, language)
        fused(**given, **{composition.result.name: out}, **sizes)
        made.append(out)
    assert np.array_equal(*made)


@pytest.mark.parametrize("name", PIPELINES)
def test_compositions_give_the_same(name: str) -> None:
    pipeline = PIPELINES[name]
    case = pipeline.make({x: SMALL[x] for x in pipeline.extents})
    composition = case.composition
    given = {x.name: case.given[x.name] for x in composition.given}
    both(composition, [Parallelize(0)], given, case.result, {pipeline.tile: 7})


@pytest.mark.parametrize(
    "seed",
    [
        *range(FIRST_SEEDS),
        *(pytest.param(n, marks=pytest.mark.deep) for n in range(FIRST_SEEDS, DEEP_SEEDS)),
        *(pytest.param(n, marks=pytest.mark.fuzz) for n in range(DEEP_SEEDS, 200)),
    ],
)
def test_random_programs_give_the_same(seed: int) -> None:
    random_ = random.Random(seed)
    program = programs.random_program(random_, random_.randint(1, 7))
    composition = compose(program.calls)
    commands = programs.random_commands(random_, composition)
    names = FusedFunction(composition, commands).scheduled.parameters
    sizes = {x: random_.randint(1, 16) for x in names if random_.random() < 0.8}
    given = {x.name: program.given[x.name] for x in composition.given}
    both(composition, commands, given, program.value, sizes)


@pytest.mark.parametrize(
    "commands",
    [
        [ReuseOverlap("b", 1)],
        [Reorder(0, 1), ReuseOverlap("b", 1)],
        [Parallelize(0), ReuseOverlap("b", 1)],
        [Subpipeline(0, 2)],
        [BreakBefore(1)],
    ],
)
def test_windows_and_finer_tiles_give_the_same(commands) -> None:
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    along = programs.ROW_SUMS if Reorder(0, 1) in commands else programs.COLUMN_SUMS
    composition = compose([programs.EXP(a, b), along(b, c)])
    data = np.random.default_rng(1).standard_normal((15, 17))
    shape = (14, 17) if along is programs.ROW_SUMS else (15, 15)
    both(composition, commands, {"a": data}, np.zeros(shape), {"tr": 4, "tc": 3})


def test_views_and_types_of_elements() -> None:
    data = np.arange(40, dtype=np.int16).reshape(5, 8)
    a, b = (DataHandle(name, Matrix(np.int16)) for name in "ab")
    negative = annotate(np.negative, str(programs.EXP.annotation), ["a", "out"])
    whole = np.zeros((8, 10), np.int16)
    fused = FusedFunction([negative(a, b)], (), 1, CodeLanguage.CPP)
    fused(a=data.T[::-1], b=whole[:, ::2], tr=3)
    assert np.array_equal(whole[:, ::2], -data.T[::-1])
    assert not whole[:, 1::2].any()


def test_dimensions_that_every_part_has_whole() -> None:
    kind = ImageTensor(np.float32)
    rest = Vector(np.float32, (3,))
    text = "t: Symbolic for x in [0, out.len, t] { produces { out { start: x, len: t } } when "
    double = annotate(lambda a, out: np.add(a, a, out=out), text + "consumes "
                      "{ a { start: x, len: t } } }", ["a", "out"], "double")  # fmt: skip
    a, b, c = (DataHandle(name, rest) for name in "abc")
    data, out = np.ones((5, 3), np.float32), np.zeros((5, 3), np.float32)
    FusedFunction([double(a, b), double(b, c)], (), 1, CodeLanguage.CPP)(a=data, c=out, t=2)
    assert (out == 4).all()
    assert kind != rest


WORDS = "double new this template std unix part_of PartError ArrayPart Room fused_ größe"


def test_names_that_cpp_has_for_something_else() -> None:
    handles = [DataHandle(name, Matrix()) for name in WORDS.split()]
    calls = [programs.EXP(x, y) for x, y in pairwise(handles)]
    data = np.linspace(0, 1, 12).reshape(3, 4)
    both(compose(calls), [], {"double": data}, data, {"tr": 2})


def test_functions_of_one_name_are_two_routines() -> None:
    text = str(programs.EXP.annotation)
    one = annotate(lambda a, out: np.add(a, 1, out=out), text, ["a", "out"], "exp")
    other = annotate(lambda a, out: np.multiply(a, 3, out=out), text, ["a", "out"], "exp")
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    data = np.ones((3, 4))
    both(compose([one(a, b), other(b, c)]), [], {"a": data}, data, {})


@pytest.mark.parametrize("value", [True, -3, 0.1, 1e300, np.inf, -np.inf, np.nan, np.float32(0.1)])
def test_numbers_that_calls_are_given(value) -> None:
    given = []

    def shifted(a, by, out):
        given.append(by)
        np.copyto(out, a)

    text = str(programs.EXP.annotation)
    call = annotate(shifted, text, ["a", "by", "out"])
    a, b = (DataHandle(name, Matrix()) for name in "ab")
    both(compose([call(a, value, b)]), [], {"a": np.ones((2, 2))}, np.ones((2, 2)), {})
    assert len(given) == 2
    assert np.array_equal(given[0], given[1], equal_nan=True)
    assert isinstance(given[1], (bool, int, float))


def test_what_cpp_cannot_have_is_refused() -> None:
    text = str(programs.EXP.annotation)
    a, b = (DataHandle(name, Matrix()) for name in "ab")
    call = annotate(lambda a, axes, out: None, text, ["a", "axes", "out"], "summed")
    with pytest.raises(LoweringError, match=r"summed is given \(0, 1\) for axes"):
        emit_cpp(schedule(compose([call(a, (0, 1), b)])))
    for kind, says in (
        (Matrix(np.float16), "a is an array of float16"),
        (Matrix(np.dtype("U3")), "a is an array of <U3"),
    ):
        with pytest.raises(LoweringError, match=says):
            emit_cpp(schedule(compose([programs.EXP(DataHandle("a", kind), b)])))
    copied = annotate(
        lambda a, out: None, "t: Symbolic for x in [0, out.len, t] { produces "
        "{ out { start: x, len: t } } when consumes { a { start: x, len: t } } }", ["a", "out"],
    )  # fmt: skip
    scheduled = schedule(compose([copied(DataHandle("a", Vector()), DataHandle("b", Items()))]))
    with pytest.raises(LoweringError, match="b is a list, of which C"):
        emit_cpp(scheduled)


def test_lines_know_their_nodes() -> None:
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    scheduled = schedule(compose([programs.EXP(a, b), programs.EXP(b, c)]))
    nodes = list(scheduled.nodes())
    for line in emit_cpp(scheduled).lines:
        if "routines::exp" in line.text:
            assert "compute" in str(nodes[line.node])
