"""Compositions as functions: random programs and schedules against whole calls; bad arguments."""

from __future__ import annotations

import random
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, IntegerArgument, annotate
from fuseloom.calls.commands import (
    BreakBefore,
    Parallelize,
    Reorder,
    ReuseOverlap,
    Subpipeline,
    SubstituteValue,
)
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.fused import CodeLanguage, FusedFunction
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.errors import DataError, ScheduleError

from . import programs


@pytest.mark.parametrize("seed", range(200))
def test_random_programs_are_what_whole_calls_give(seed: int) -> None:
    random_ = random.Random(seed)
    program = programs.random_program(random_, random_.randint(1, 7))
    composition = compose(program.calls)
    commands = programs.random_commands(random_, composition)
    fused = FusedFunction(composition, commands, workers=2)
    out = np.full_like(program.value, np.nan)
    sizes = {
        name: random_.randint(1, 16)
        for name in fused.scheduled.parameters
        if random_.random() < 0.8
    }
    used = {x.name for x in composition.given}
    given = {name: array for name, array in program.given.items() if name in used}
    before = {name: array.copy() for name, array in given.items()}
    fused(**given, **{composition.result.name: out}, **sizes)
    assert np.array_equal(out, program.value)
    assert all(np.array_equal(given[name], array) for name, array in before.items())
    counts = fused.counts(**given, **{composition.result.name: out}, **sizes)
    assert counts.computed[composition.result.name] == out.size
    assert all(factor >= 1 for factor in counts.recomputation.values())


def test_without_sizes_every_call_runs_once() -> None:
    program = programs.random_program(random.Random(3), 6)
    composition = compose(program.calls)
    places = [BreakBefore(place) for place in range(1, len(composition.calls))]
    out = np.empty_like(program.value)
    for commands in ([], places):
        fused = FusedFunction(composition, commands)
        counts = fused.counts(**_given(composition, program), **{composition.result.name: out})
        assert counts.calls == len(composition.calls)
        assert set(counts.recomputation.values()) == {1.0}


def _given(composition, program):
    return {x.name: program.given[x.name] for x in composition.given}


def test_room_is_that_of_a_tile() -> None:
    a, b, c = (DataHandle(name, Matrix(np.float32)) for name in "abc")
    fused = FusedFunction([programs.EXP(a, b), programs.EXP(b, c)])
    given = {"a": np.zeros((100, 60), np.float32), "c": np.zeros((100, 60), np.float32)}
    assert fused.counts(**given, tr=10, tc=20).room == 10 * 20 * 4
    assert fused.counts(**given, tr=10).room == 10 * 60 * 4
    unfused = FusedFunction([programs.EXP(a, b), programs.EXP(b, c)], [BreakBefore(1)])
    assert unfused.counts(**given, tr=10, tc=20).room == 100 * 60 * 4


def test_room_of_what_is_no_longer_read_is_used_again() -> None:
    handles = [DataHandle(f"m{n}", Matrix()) for n in range(6)]
    calls = [programs.EXP(x, y) for x, y in pairwise(handles)]
    fused = FusedFunction(calls)
    assert fused.source.count("np.empty") == 2


def test_rows_of_windows_are_counted() -> None:
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    fused = FusedFunction([programs.ROW_SUMS(a, b), programs.ROW_SUMS(b, c)])
    given = {"a": np.zeros((18, 5)), "c": np.zeros((16, 5))}
    counts = fused.counts(**given, tr=4)
    assert counts.computed["b"] == 4 * 5 * 5
    assert counts.recomputation["b"] == pytest.approx(20 / 17)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"a": None}, "a is not given"),
        ({"q": 3}, "nothing is called q"),
        ({"tr": 0}, "tr is an integer of 1 or more"),
        ({"tr": 2.5}, "tr is an integer"),
        ({"a": np.zeros((4, 4), np.float32)}, "a holds float32, and float64 is declared"),
        ({"a": np.zeros(4)}, "has 2 dimensions"),
        ({"a": [[1.0]]}, "is an array, not a list"),
        ({"b": np.zeros(4)}, "has 2 dimensions"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(changes, says: str) -> None:
    a, b = (DataHandle(name, Matrix()) for name in "ab")
    fused = FusedFunction([programs.EXP(a, b)])
    given = {"a": np.zeros((4, 4)), "b": np.zeros((4, 4)), **changes}
    with pytest.raises(DataError, match=says):
        fused(**{name: value for name, value in given.items() if value is not None})


def test_a_result_in_an_input_is_refused() -> None:
    a, b = (DataHandle(name, Matrix()) for name in "ab")
    whole = np.zeros((4, 4))
    with pytest.raises(DataError, match="lies in the memory of a"):
        FusedFunction([programs.EXP(a, b)])(a=whole, b=whole[:2])


def test_an_input_that_is_too_small_is_refused() -> None:
    """NumPy cuts slices that reach beyond an array, and would reduce over fewer elements."""
    a, b, v = DataHandle("a", Matrix()), DataHandle("b", Matrix()), DataHandle("v", Vector())
    width = IntegerArgument("width")
    fused = FusedFunction([programs.ROW_MAX(a, width, v), programs.SUBTRACT(a, v, b)])
    small, out = np.zeros((3, 4)), np.zeros((5, 4))
    with pytest.raises(DataError, match="a has rows 3, and 5 are needed for the whole b"):
        fused(a=small, b=out, width=4, tr=2)
    with pytest.raises(DataError, match="a has cols 4, and 10 are needed"):
        fused(a=np.zeros((5, 4)), b=out, width=10)
    fused(a=np.zeros((6, 9)), b=out, width=9)


def test_an_error_in_a_thread_is_raised() -> None:

    def fails(a, out):
        raise RuntimeError("this kernel fails")

    failing = annotate(fails, str(programs.EXP.annotation))
    a, b = (DataHandle(name, Matrix()) for name in "ab")
    fused = FusedFunction([failing(a, b)], [Parallelize(0)], workers=2)
    with pytest.raises(RuntimeError, match="this kernel fails"):
        fused(a=np.zeros((8, 4)), b=np.zeros((8, 4)), tr=2)


REUSED = [
    ([ReuseOverlap("b", 1)], {"tr": 4, "tc": 3}),
    ([Reorder(0, 1), ReuseOverlap("b", 1)], {"tr": 3, "tc": 4}),
    ([Parallelize(0), ReuseOverlap("b", 1)], {"tr": 5, "tc": 2}),
    ([ReuseOverlap("b", 1), SubstituteValue("tc", 1)], {"tr": 3}),
]


@pytest.mark.parametrize(("commands", "sizes"), REUSED)
def test_what_tiles_share_is_computed_once(commands, sizes) -> None:
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    along = programs.ROW_SUMS if isinstance(commands[0], Reorder) else programs.COLUMN_SUMS
    calls = [programs.EXP(a, b), along(b, c)]
    data = np.random.default_rng(1).standard_normal((15, 17))
    halo = (1, 0) if along is programs.ROW_SUMS else (0, 2)
    out = np.full((15 - halo[0], 17 - halo[1]), np.nan)
    fused = FusedFunction(calls, commands, workers=2)
    fused(a=data, c=out, **sizes)
    whole = np.exp(-data)
    expected = whole[:-1] + whole[1:] if halo[0] else whole[:, :-2] + whole[:, 2:]
    assert np.array_equal(out, expected)
    counts = fused.counts(a=data, c=out, **sizes)
    assert counts.computed["b"] == data.size
    plain = FusedFunction(calls).counts(a=data, c=out, tr=3, tc=2)
    assert plain.computed["b"] > data.size


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_that_share_parts_give_the_same(seed: int) -> None:
    random_ = random.Random(seed)
    program = programs.random_program(random_, random_.randint(2, 7))
    composition = compose(program.calls)
    names = [call.output.name for call in composition.calls[:-1]]
    if not names:
        return
    commands = [ReuseOverlap(random_.choice(names), random_.randint(0, 1))]
    if random_.random() < 0.5:
        commands.insert(0, Reorder(0, 1))
    out = np.full_like(program.value, np.nan)
    given = _given(composition, program) | {composition.result.name: out}
    try:
        fused = FusedFunction(composition, commands)
    except ScheduleError:
        return
    sizes = {"tr": random_.randint(1, 6), "tc": random_.randint(1, 6)}
    fused(**given, **sizes)
    assert np.array_equal(out, program.value)


def test_a_subpipeline_needs_less_room() -> None:
    a, b, c, d = (DataHandle(name, Matrix()) for name in "abcd")
    calls = [programs.EXP(a, b), programs.COLUMN_SUMS(b, c), programs.ROW_SUMS(c, d)]
    data = np.random.default_rng(2).standard_normal((14, 16))
    out = np.empty((13, 14))
    plain, finer = FusedFunction(calls), FusedFunction(calls, [Subpipeline(0, 2)])
    assert finer.scheduled.parameters == ("tr", "tc", "c_tr", "c_tc")
    sizes = {"tr": 6, "c_tr": 2, "c_tc": 5}
    finer(a=data, d=out, **sizes)
    sums = np.exp(-data)
    sums = sums[:, :-2] + sums[:, 2:]
    assert np.array_equal(out, sums[:-1] + sums[1:])
    counts = finer.counts(a=data, d=out, **sizes)
    assert counts.room == (7 * 14 + 2 * 7) * 8
    assert plain.counts(a=data, d=out, tr=6).room == (7 * 16 + 7 * 14) * 8
    assert counts.computed["c"] == plain.counts(a=data, d=out, tr=6).computed["c"]


ONE_ROW = annotate(
    lambda a, width, out: np.max(a, axis=1, out=out),
    """for r in [0, out.len, 1] { produces { out { start: r, len: 1 } }
       when consumes { a { row: r, col: 0, rows: 1, cols: width } } }""",
    ["a", "width", "out"],
    "one_row_max",
)


@pytest.mark.parametrize("language", CodeLanguage)
def test_a_call_whose_part_has_one_size_is_not_asked_for_more(language: CodeLanguage) -> None:
    a, b, c, v = *(DataHandle(name, Matrix()) for name in "abc"), DataHandle("v", Vector())
    calls = [programs.EXP(a, b), ONE_ROW(b, 5, v), programs.SUBTRACT(b, v, c)]
    data = np.random.default_rng(0).standard_normal((6, 5))
    powers, out = np.exp(-data), np.empty((6, 5))
    fused = FusedFunction(calls, (), 1, language)
    assert "require tr_len <= 1" in str(fused.scheduled).replace(
        "r + tr_len <= r + 1", "tr_len <= 1"
    )
    fused(a=data, c=out, tr=1)
    assert np.array_equal(out, powers - powers.max(axis=1, keepdims=True))
    for run in (fused, fused.counts):
        with pytest.raises(DataError, match="one_row_max does not compute all len of v"):
            run(a=data, c=out, tr=2)
    out[:] = np.nan
    FusedFunction(calls, [BreakBefore(2)], 1, language)(a=data, c=out, tr=4)
    assert np.array_equal(out, powers - powers.max(axis=1, keepdims=True))


def test_names_of_one_stage_are_not_those_of_data_of_another() -> None:
    """Calls of the annotation have loops over r and c, which here are data, too."""
    text = "a b r c r_rows a_rows b_room_cols tc_len b_tr r_part b_room"
    names = text.split()
    handles = [DataHandle(name, Matrix()) for name in names]
    composition = compose([programs.EXP(x, y) for x, y in pairwise(handles)])
    data, out = np.random.default_rng(0).standard_normal((6, 5)), np.empty((6, 5))
    whole = data
    for _ in names[1:]:
        whole = np.exp(-whole)
    places = range(1, len(composition.calls))
    every = [BreakBefore(place) for place in places]
    for commands in ([], every, *([one] for one in every)):
        FusedFunction(composition, commands)(a=data, b_room=out, tr=2)
        assert np.array_equal(out, whole)
        out[:] = np.nan


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_numbers_that_are_not_finite_are_given_on(value: float) -> None:
    given = []

    def shifted(a, by, out):
        given.append(by)

    call = annotate(shifted, str(programs.EXP.annotation), ["a", "by", "out"])
    a, b = (DataHandle(name, Matrix()) for name in "ab")
    FusedFunction([call(a, value, b)])(a=np.ones((2, 2)), b=np.ones((2, 2)))
    assert np.array_equal(given, [value], equal_nan=True)


@pytest.mark.parametrize("language", CodeLanguage)
@pytest.mark.parametrize(
    "commands",
    [
        [Parallelize(0)],
        [Parallelize(1)],
        [Parallelize(0), Subpipeline(0, 2)],
        [Parallelize(0), ReuseOverlap("b", 1)],
    ],
)
def test_threads_share_no_room(commands, language: CodeLanguage) -> None:
    """Every call writes where no call of another thread reads or writes meanwhile."""
    lock = threading.Lock()
    busy: list[tuple[np.ndarray, bool]] = []
    seen: list[str] = []

    def guarded(function):
        def run(a, out):
            mine = [(a, False), (out, True)]
            with lock:
                for one, writes in mine:
                    for other, wrote in busy:
                        if (writes or wrote) and np.shares_memory(one, other):
                            seen.append("two threads share memory")
                busy.extend(mine)
            together.wait(0.05)  # so that the other threads come to the same place
            function(a, out)
            with lock:
                busy[:] = [x for x in busy if not any(x[0] is one for one, _ in mine)]

        return run

    together = threading.Event()
    exp = annotate(
        guarded(programs.EXP.function), str(programs.EXP.annotation), ["a", "out"], "exp"
    )
    sums = programs.COLUMN_SUMS
    sums = annotate(guarded(sums.function), str(sums.annotation), ["a", "out"], "sums")
    a, b, c = (DataHandle(name, Matrix()) for name in "abc")
    data, out = np.random.default_rng(0).standard_normal((6, 10)), np.empty((6, 8))
    FusedFunction([exp(a, b), sums(b, c)], commands, 3, language)(a=data, c=out, tr=2, tc=4)
    assert not seen
    whole = np.exp(-data)
    assert np.array_equal(out, whole[:, :-2] + whole[:, 2:])


def test_infinities_and_what_is_no_number_pass_through() -> None:
    case = PIPELINES["blur"].make({"h": 20, "w": 12})
    case.given["A"][3, 4], case.given["A"][9, 1], case.given["A"][15, 7] = np.inf, -np.inf, np.nan
    whole = FusedFunction(case.composition)
    whole(**case.arguments)
    expected = case.result.copy()
    assert np.isnan(expected).any()
    assert np.isinf(expected).any()
    for commands in ([Parallelize(0)], [ReuseOverlap("t1", 1), SubstituteValue("m", 5)]):
        case.result[:] = 0
        FusedFunction(case.composition, commands, 2)(**case.arguments, n=3)
        assert np.array_equal(case.result, expected, equal_nan=True)


def test_memory_is_that_of_a_few_tiles() -> None:
    """A softmax of 2 MiB in tiles of 128 KiB: two of intermediates, and what the calls take."""
    case = PIPELINES["softmax"].make({"h": 512, "w": 1024})
    fused = FusedFunction(case.composition)
    arguments, tile = case.arguments, 32 * 1024 * 4
    fused(**arguments, n=32)
    tracemalloc.start()
    try:
        fused(**arguments, n=32)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 3 * tile
    assert case.result.nbytes == 16 * tile
