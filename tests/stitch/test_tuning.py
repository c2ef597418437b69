"""Tuning with times that are made up: nothing is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from zlib import crc32

import pytest

from fuseloom.errors import LimitError
from fuseloom.stitch.examples.models import example_inputs, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import DenseModule, random_inputs
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.operation_timing import PerformanceLookup, PerformanceTime, timed_kernel
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.schedules import divisions_of
from fuseloom.stitch.stitched import DeepFusion
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs, relative_error
from fuseloom.stitch.tuning import KernelTuner, tune, tuned_fusion

from .figure3 import figure3
from .stitched_modules import FAST, GraphMaker, module_of


class MadeUpTimes:
    """Times that look random, and depend on nothing but the key and a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def of(self, lookup: PerformanceLookup) -> int:
        return crc32(f"{self.seed} {lookup.key}".encode()) % 1000

    def __call__(self, lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
        return [PerformanceTime(self.of(one), 1) for one in lookups]


def library(folder: Path, seed: int = 0) -> PerformanceLibrary:
    return PerformanceLibrary(folder / f"times{seed}.sqlite", MadeUpTimes(seed), "m")


def model(name: str) -> tuple[DenseModule, DeepFusion]:
    made = fuse_module(read_example(name))
    return made.module, made.frames[0].fusion


def two_groups(dims: tuple[int, ...]) -> GraphMaker:
    """Two functions of different arrays, one of them read across, in one kernel."""
    graph = GraphMaker()
    x, y = graph.parameter(*dims), graph.parameter(*dims[::-1])
    order = tuple(range(len(dims)))[::-1]
    graph.add("exponential", dims, graph.add("negate", dims, x))
    graph.add("tanh", dims, graph.add("transpose", dims, y, dimensions=order))
    return graph


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dims", [(8, 6), (4, 3, 4), (12,)])
def test_two_stages_equal_a_search_of_all_pairs(
    tmp_path: Path, dims: tuple[int, ...], seed: int
) -> None:
    graph = GraphMaker()
    graph.add("exponential", dims, graph.parameter(*dims))
    graph.add("tanh", dims, graph.parameter(*dims))
    module = graph.module()
    made = fuse(module.main)
    (kernel,) = made.kernels
    found = library(tmp_path, seed)
    tuned = tune(module, made, kernel, found)
    times = MadeUpTimes(seed)
    roots = [made.computation.by_name[name] for name in kernel.roots]
    sums = {
        pair: sum(
            times.of(found.lookup(module, made.computation, root, schedule))
            for root, schedule in zip(roots, pair, strict=True)
        )
        for pair in product(divisions_of(dims), repeat=2)
        if pair[0].blocks(dims) == pair[1].blocks(dims)
    }
    assert tuned.nanoseconds == min(sums.values())
    chosen = tuple(tuned.kernel.parts[name].schedule for name in kernel.roots)
    assert {str(pair): nanoseconds for pair, nanoseconds in sums.items()}[str(chosen)] == (
        tuned.nanoseconds
    )


@pytest.mark.parametrize("name", ["birnn", "residual_block", "translation"])
def test_pruning_changes_nothing(tmp_path: Path, name: str) -> None:
    module, fusion = model(name)
    found = library(tmp_path)
    all_, some = (KernelTuner(module, fusion, found, prune=one) for one in (False, True))
    left = 0
    for kernel in fusion.kernels:
        (a,), (b,) = all_.tune(kernel), some.tune(kernel)
        assert a.nanoseconds == b.nanoseconds
        assert a.kernel == b.kernel
        assert not any(one.fits is None for one in a.candidates)
        left += sum(one.fits is None for one in b.candidates)
    assert left > 0


def test_one_root_is_searched_exhaustively(tmp_path: Path) -> None:
    module, fusion = model("translation")
    found = library(tmp_path)
    kernel = max(
        (one for one in fusion.kernels if len(one.roots) == 1),
        key=lambda one: len(one.satisfiable),
    )
    tuned = tune(module, fusion, kernel, found)
    assert {one.schedules for one in tuned.candidates} == {(one,) for one in kernel.satisfiable}
    assert tuned.nanoseconds == min(one.nanoseconds for one in tuned.candidates)
    assert tuned.schedule in kernel.satisfiable
    assert tuned.misses == len(found)
    again = tune(module, fusion, kernel, found)
    assert (again.hits, again.misses) == (tuned.hits + tuned.misses, 0)
    assert again.kernel == tuned.kernel


@pytest.mark.parametrize("name", ["rnn", "birnn", "logistic_regression", "attention"])
def test_parts_are_those_of_the_fusion(tmp_path: Path, name: str) -> None:
    """With the schedule that fusion chose, each operation has the part that it had."""
    module, fusion = model(name)
    tuner = KernelTuner(module, fusion, library(tmp_path))
    seen = 0
    for kernel in fusion.kernels:
        if kernel.schedule is not None:
            (tuned,) = tuner.tune(replace(kernel, satisfiable=(kernel.schedule,)))
            if len(tuned.candidates[0].schedules) == 1:
                assert tuned.kernel.parts == kernel.parts
                assert len(tuned.candidates) == 1
                seen += 1
    assert seen


def test_a_second_model_finds_most_of_what_it_asks_for(tmp_path: Path) -> None:
    found = library(tmp_path)
    tuned_fusion(*model("rnn"), found)
    hits, misses = found.hits, found.misses
    _, tuned = tuned_fusion(*model("birnn"), found)
    hits, misses = found.hits - hits, found.misses - misses
    assert hits >= 0.8 * (hits + misses)
    assert (sum(one.hits for one in tuned), sum(one.misses for one in tuned)) == (hits, misses)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["logistic_regression", "birnn"])
def test_tuned_models_compute_the_same(tmp_path: Path, name: str, seed: int) -> None:
    module, fusion = model(name)
    made, tuned = tuned_fusion(module, fusion, library(tmp_path, seed))
    assert made.count == fusion.count
    assert [one.kernel for one in tuned] == list(made.kernels)
    assert made.kernels != fusion.kernels
    program = StitchedProgram(module, made)
    compile_programs([program], FAST)
    assert program.interpreted.keys() == StitchedProgram(module, fusion).interpreted.keys()
    assert relative_error(program, example_inputs(name)) < 1e-5


@pytest.mark.parametrize("dims", [(8, 6), (4, 3, 4)])
def test_groups_of_different_schedules_compute_the_same(
    tmp_path: Path, dims: tuple[int, ...]
) -> None:
    module = two_groups(dims).module()
    made = fuse(module.main)
    (kernel,) = made.kernels
    programs, differ = [], 0
    for seed in range(6):
        found, (tuned,) = tuned_fusion(module, made, library(tmp_path, seed))
        differ += len({tuned.kernel.parts[name].schedule for name in kernel.roots}) > 1
        programs.append(StitchedProgram(module, found, prefix=f"seed{seed}"))
    assert differ
    compile_programs(programs, FAST)
    inputs = random_inputs(module.main)
    assert max(relative_error(program, inputs) for program in programs) < 1e-6


def test_schedules_whose_buffers_do_not_fit_are_not_chosen(tmp_path: Path) -> None:
    module = module_of(figure3())
    made = fuse(module.main, ProductFusion.BATCHED)
    (kernel,) = [one for one in made.kernels if len(one.operations) > 1]
    tuned = tune(module, made, kernel, library(tmp_path), limit=2048)
    fits = [one for one in tuned.candidates if one.fits]
    assert len(fits) < len(tuned.candidates)
    memory_of(made.computation, tuned.kernel, 2048)
    none = tune(module, made, kernel, library(tmp_path), limit=0)
    assert none.nanoseconds is None
    assert none.kernel is kernel
    with pytest.raises(LimitError):
        memory_of(made.computation, kernel, 0)


def test_what_is_computed_again_counts_as_often(tmp_path: Path) -> None:
    """Of Fig. 3 only the schedule with the most blocks has room for the exponentials."""
    module = module_of(figure3())
    made = fuse(module.main, ProductFusion.BATCHED)
    (kernel,) = [one for one in made.kernels if len(one.operations) > 1]

    def slow(lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
        return [PerformanceTime(1 + (one.key.opcode != "copy"), 1) for one in lookups]

    found = PerformanceLibrary(tmp_path / "times.sqlite", slow, "m")
    tuned = tune(module, made, kernel, found)
    assert not memory_of(made.computation, tuned.kernel).recomputed
    worse = [one.nanoseconds for one in tuned.candidates if one.fits]
    assert sorted(worse)[1] > 10 * min(worse)


def test_finalists_are_chosen_by_the_time_of_the_whole_kernel(tmp_path: Path) -> None:
    """Whole kernels take the longer the later in the ranking they are asked for, from the end."""
    module, fusion = model("translation")
    kernel = max(fusion.kernels, key=lambda one: len(one.satisfiable))
    asked: list[PerformanceLookup] = []
    random = MadeUpTimes()

    def timer(lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
        whole = [one for one in lookups if one.whole is not None]
        asked.extend(whole)
        if whole:
            return [PerformanceTime(10 - n, int(n != 3)) for n in range(len(whole))]
        return random(lookups)

    found = PerformanceLibrary(tmp_path / "times.sqlite", timer, "m")
    tuned = tune(module, fusion, kernel, found, finalists=4)
    assert len(asked) == 4
    ranked = sorted(tuned.candidates, key=lambda one: one.nanoseconds)
    assert [one.measured for one in ranked[:5]] == [10, 9, 8, None, None]
    assert (tuned.schedule,) == ranked[2].schedules
    assert tuned.nanoseconds == ranked[2].nanoseconds
    again = tune(module, fusion, kernel, found, finalists=4)
    assert again.kernel == tuned.kernel
    assert len(asked) == 4
    assert (again.hits, again.misses) == (tuned.hits + tuned.misses, 0)
    assert tune(module, fusion, kernel, found, finalists=1).schedule == ranked[0].schedules[0]
    assert {one.key.opcode for one in asked} == {"kernel"}


def test_a_whole_kernel_is_timed_as_it_is(tmp_path: Path) -> None:
    module = two_groups((8, 6)).module()
    made = fuse(module.main)
    plan = memory_of(made.computation, made.kernels[0])
    found = library(tmp_path)
    one = found.kernel_lookup(module, made.computation, made.kernels[0], plan)
    phased = timed_kernel(one)
    assert phased.kernel == made.kernels[0]
    assert len(phased.inputs) == 2
    other = tune(module, made, made.kernels[0], found).kernel
    assert found.kernel_lookup(module, made.computation, other, plan).key != one.key


def test_calls_of_libraries_stay_as_they_are(tmp_path: Path) -> None:
    module, fusion = model("logistic_regression")
    (call, *_) = [one for one in fusion.kernels if one.is_call]
    tuned = tune(module, fusion, call, library(tmp_path))
    assert tuned.kernel is call
    assert (tuned.nanoseconds, tuned.candidates, tuned.hits, tuned.misses) == (None, (), 0, 0)
