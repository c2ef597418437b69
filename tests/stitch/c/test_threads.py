"""Blocks dealt out among threads: each is run once, in forked processes and by several callers."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from fuseloom.stitch.c.threads import DEALER, with_threads
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs

from ..stitched_modules import GraphMaker, fused

SIZES = ((256, 256), (17, 4096), (4096, 33), (3, 40_000))


def large(rows: int, width: int, prefix: str) -> StitchedProgram:
    """A program of one kernel whose blocks are dealt out, in which each block's sum is its own."""
    graph = GraphMaker()
    x, zero = graph.parameter(rows, width), graph.parameter()
    sums = graph.add("reduce", (rows,), x, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (rows, width), sums, dimensions=(0,))
    graph.add("subtract", (rows, width), x, wide)
    return fused(graph.module(), prefix=prefix)


def expected(inputs: dict[str, Any]) -> Any:
    (x, zero) = inputs.values()
    return x - (x.astype(np.float64).sum(1, keepdims=True) + zero)


def test_only_kernels_that_deal_out_blocks_need_threads() -> None:
    assert with_threads(["void f(void) {}"]) == ["void f(void) {}"]
    assert len(with_threads(["void f(void) {}", f"void g(void) {{ {DEALER}(); }}"])) == 3


def test_each_block_is_run_again_and_again() -> None:
    programs = [large(*size, prefix=f"dealt{n}") for n, size in enumerate(SIZES)]
    assert all(DEALER in program.code for program in programs)
    compile_programs(programs)
    cases = [(program, random_inputs(program.module.main, 3)) for program in programs]
    for number in range(60):
        for program, inputs in cases:
            (made,) = program(inputs)
            assert np.allclose(made, expected(inputs), atol=1e-2), number


def test_several_threads_call_at_once() -> None:
    program = large(256, 1024, "together")
    inputs = random_inputs(program.module.main, 4)
    wanted = expected(inputs)
    program(inputs)
    wrong: list[int] = []

    def call(number: int) -> None:
        right = [np.allclose(program(inputs)[0], wanted, atol=1e-2) for _ in range(40)]
        if not all(right):
            wrong.append(number)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on Unix")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_runs_blocks_by_itself() -> None:
    program = large(256, 512, "forked")
    inputs = random_inputs(program.module.main, 5)
    program(inputs)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send(program(inputs)[0]))
    child.start()
    try:
        assert here.poll(60), "the kernel of the forked process does not end"
        assert np.allclose(here.recv(), expected(inputs), atol=1e-2)
    finally:
        child.join(10)
        if child.is_alive():
            child.kill()
    assert np.allclose(program(inputs)[0], expected(inputs), atol=1e-2)


@pytest.mark.parametrize("threads", ["1", "3", "0", "many", "1000"])
def test_the_number_of_threads_is_chosen(threads: str) -> None:
    code = (
        "import numpy as np\n"
        "from tests.stitch.c.test_threads import expected, large, random_inputs\n"
        "program = large(256, 512, 'chosen')\n"
        "inputs = random_inputs(program.module.main, 6)\n"
        "for _ in range(5):\n"
        "    assert np.allclose(program(inputs)[0], expected(inputs), atol=1e-2)\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)
