"""CUDA kernels on the processor compute what the interpreter does, in any order of threads."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.errors import LoweringError
from fuseloom.stitch.cuda.emitter import (
    ThreadWork,
    block_threads,
    emit_stitched_cuda,
    phase_division,
)
from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.gpu.cuda_on_cpu import CudaOnCpu, largest_difference
from fuseloom.stitch.graph import DenseModule, random_inputs
from fuseloom.stitch.kernel_cases import StitchedCase, kernel_cases
from fuseloom.stitch.kernel_code import KernelCode, KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.stitched import DeepFusion
from tests.tiers import counts

from ..c.test_emitter import SETTINGS, moves
from ..random_graphs import random_module
from ..stitched_modules import GraphMaker

TOGETHER = 50
"""Graphs that are compiled at once."""


def cuda_cases(
    module: DenseModule, fusion: DeepFusion, seed: int = 0, limit: int = 20_480
) -> tuple[StitchedCase, ...]:
    """Kernels of a fusion and their arrays; all that are no calls of libraries have CUDA."""
    codes = kernel_codes(module, fusion, KernelLanguage.CUDA, limit=limit, prefix=f"graph{seed}")
    for code in codes:
        assert code.text or "library" in code.reason or "shared memory" in code.reason, code.reason
    return kernel_cases(module, fusion.computation, codes, random_inputs(module.main, seed))


def only_kernel(graph: GraphMaker) -> KernelCode:
    """The one kernel of a graph."""
    module = graph.module()
    (code,) = kernel_codes(module, fuse(module.main, ProductFusion.ALL), KernelLanguage.CUDA)
    assert code.text, code.reason
    return code


@counts(small=15, deep=45, fuzz=200)
def test_random_graphs(count: int) -> None:
    for first in range(0, count, TOGETHER):
        cases: list[tuple[int, StitchedCase]] = []
        for seed in range(first, min(first + TOGETHER, count)):
            draw = random.Random(seed)
            module = random_module(draw, draw.choice((6, 12, 20)))
            products = draw.choice(list(ProductFusion))
            limit = draw.choice((64, 256, 2048, 20_480, 20_480))
            check = memory_check(module.main, products, limit) if draw.random() < 0.5 else None
            made = fuse(module.main, products, settings=draw.choice(SETTINGS), consistent=check)
            cases += [(seed, case) for case in cuda_cases(module, made, seed, limit)]
        kernels = CudaOnCpu([case.code.text for _, case in cases], ("-O1",))
        for seed, case in cases:
            assert largest_difference(kernels, [case], least=1.0) < 1e-5, (seed, case.code.kernel)


@pytest.mark.parametrize(
    "name",
    [
        "logistic_regression",
        *(
            pytest.param(name, marks=pytest.mark.deep)
            for name in EXAMPLES
            if name not in ("logistic_regression", "birnn")
        ),
        pytest.param("birnn", marks=pytest.mark.fuzz),  # twice the layers of rnn
    ],
)
def test_kernels_of_the_examples(name: str) -> None:
    made = fuse_module(read_example(name))
    fusion = made.frames[0].fusion
    codes = kernel_codes(made.module, fusion, KernelLanguage.CUDA)
    cases = kernel_cases(
        made.module, fusion.computation, codes, random_inputs(made.frames[0].computation)
    )
    assert cases
    kernels = CudaOnCpu([case.code.text for case in cases])
    assert largest_difference(kernels, cases) < 1e-5


def test_moved_elements() -> None:
    module = moves().module()
    cases = cuda_cases(module, fuse(module.main))
    assert largest_difference(CudaOnCpu([case.code.text for case in cases]), cases) < 1e-6


@pytest.mark.parametrize(
    ("rows", "row", "work"),
    [
        (64, 8, ThreadWork.ELEMENTS),
        (512, 64, ThreadWork.ELEMENTS),
        (1, 50, ThreadWork.WARPS),
        (1, 1000, ThreadWork.BLOCK),
        (3, 100, ThreadWork.BLOCK),
        (16, 100, ThreadWork.WARPS),
    ],
)
@pytest.mark.parametrize("apply", ["sum", "product", "largest", "least"])
def test_reductions_by_threads_warps_and_blocks(
    rows: int, row: int, work: ThreadWork, apply: str
) -> None:
    graph = GraphMaker()
    x = graph.parameter(rows, row)
    start = graph.add("constant", (), literal=np.float32(0.5))
    total = graph.add("reduce", (rows,), x, start, dimensions=(1,), to_apply=apply)
    wide = graph.add("broadcast", (rows, row), total, dimensions=(0,))
    graph.add("subtract", (rows, row), x, wide)
    module = graph.module()
    fusion = fuse(module.main, settings=SETTINGS[1] if rows == 16 else None)
    one_block = [k for k in fusion.kernels if len(k.operations) > 2]
    assert one_block
    cases = cuda_cases(module, fusion)
    divisions = [phase_division(p) for c in cases if c.code.phased for p in c.code.phased.phases]
    if rows in (1, 3) or row == 8:
        assert work in {one.work for one in divisions}
    assert largest_difference(CudaOnCpu([case.code.text for case in cases]), cases) < 1e-5


def test_nan_and_infinities_pass_through_shuffles() -> None:
    graph = GraphMaker()
    x = graph.parameter(1, 300)
    low = graph.add("constant", (), literal=np.float32(-np.inf))
    graph.add("reduce", (1,), x, low, dimensions=(1,), to_apply="largest")
    module = graph.module()
    fusion = fuse(module.main)
    codes = kernel_codes(module, fusion, KernelLanguage.CUDA)
    for place in (0, 31, 150, 299):
        value = np.full((1, 300), -np.inf, np.float32)
        value[0, place] = np.nan
        cases = kernel_cases(module, fusion.computation, codes, {x: value})
        assert np.isnan(cases[0].expected[0]).all()
        assert largest_difference(CudaOnCpu([codes[0].text]), cases) == 0


def test_a_barrier_that_is_missing_shows() -> None:
    module = read_example("attention")
    made = fuse_module(module)
    fusion = made.frames[0].fusion
    (code,) = kernel_codes(made.module, fusion, KernelLanguage.CUDA)
    whole = code.text.split("__syncthreads();\n")
    for place in range(1, len(whole)):
        text = "__syncthreads();\n".join(whole[:place]) + "__syncthreads();\n".join(whole[place:])
        text = text.replace("LAUNCH(kernel_0, 512,", "LAUNCH(kernel_0, 1,")
        (case,) = kernel_cases(made.module, fusion.computation, [code], random_inputs(module.main))
        first = StitchedCase(code, case.inputs, case.expected)
        kernels = CudaOnCpu([text])
        found = [kernels.run(first, order)[0][0, 0] for order in (0, 1, 5)]
        wanted = case.expected[0][0, 0]
        assert not all(np.allclose(one, wanted, rtol=1e-4) for one in found), place


def test_a_barrier_that_some_do_not_reach_is_an_error() -> None:
    graph = GraphMaker()
    graph.add("negate", (64,), graph.parameter(64))
    code = only_kernel(graph)
    module = graph.module()
    cases = cuda_cases(module, fuse(module.main))
    some = "if (at > 3) __syncthreads();"
    text = code.text.replace("const int i1 = at;", f"const int i1 = at; {some}")
    text = text.replace("kernel_0", cases[0].code.function)
    with pytest.raises(LoweringError, match="barrier"):
        CudaOnCpu([text]).run(cases[0])


def test_blocks_have_threads_for_their_phases() -> None:
    graph = GraphMaker()
    graph.add("negate", (5,), graph.parameter(5))
    small = only_kernel(graph)
    (large,) = attention_codes(1 << 20)
    assert small.phased is not None
    assert large.phased is not None
    assert (block_threads(small.phased), block_threads(large.phased)) == (32, 256)


def attention_codes(
    limit: int, schedule: BlockSchedule | None = None, language: KernelLanguage = KernelLanguage.C
) -> tuple[KernelCode, ...]:
    """The kernel of the paper's example, under a schedule."""
    made = fuse_module(read_example("attention"))
    fusion = made.frames[0].fusion
    if schedule is not None:
        kernel = with_schedule(fusion.computation, fusion.kernels[0], schedule)
        fusion = replace(fusion, kernels=(kernel,))
    return kernel_codes(made.module, fusion, language, limit=limit)


def test_too_much_shared_memory_is_refused() -> None:
    few = BlockSchedule(0, 4)
    (code,) = attention_codes(1 << 30, few, KernelLanguage.CUDA)
    assert "bytes of shared memory" in code.reason
    assert not code.text
    (other,) = attention_codes(1 << 30, few)
    assert other.text
    assert other.phased is not None
    with pytest.raises(LoweringError, match="shared memory") as refused:
        emit_stitched_cuda(other.phased, "kernel")
    assert "49,152" in str(refused.value.hint)
