"""Dense operands are looked up or scanned and joined: the results are the same."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.samml.passes.lookups import insert_locators, remove_locators
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from tests.dataflow.samml.passes import engines, passed
from tests.property.programs import make_case
from tests.tiers import counts

SEED = 20_251_124
TEXT = "A: 6x40 csr\nX: 40x3 dense\nT[i,j] = A[i,k] * X[k,j]"


def ops(graph: Graph) -> Counter[str]:
    return Counter(n.op for n in graph.nodes)


def test_a_locator_becomes_a_scan_and_back() -> None:
    compilation = compile_program(parse(TEXT))
    before = compilation.regions[0].graph
    scanned = passed(compilation, remove_locators)
    graph = scanned.regions[0].graph
    assert ops(graph) - ops(before) == Counter(dense_scan=1, intersect=1)
    assert ops(before) - ops(graph) == Counter(locate=1, repeat=1, repsig=1)
    again = passed(scanned, insert_locators).regions[0].graph
    assert ops(again) == ops(before)


def test_looking_up_is_faster_where_few_are_wanted() -> None:
    compilation = compile_program(parse(TEXT))
    scanned = passed(compilation, remove_locators)
    rng = np.random.default_rng(5)
    data = {
        "A": (rng.random((6, 40)) < 0.05).astype(np.float32),
        "X": rng.random((40, 3)).astype(np.float32),
    }
    runs = [simulate(c, data, engine="interpreter") for c in (compilation, scanned)]
    assert all(run.check().ok for run in runs)
    assert runs[1].cycles > 2 * runs[0].cycles


def test_an_operand_that_may_be_absent_stays() -> None:
    """Rows of D beside rows of a union have no reference where D lacks the row."""
    text = (
        "A: 5x5 dcsr\nD: 5x5 [compressed, dense]\nB: 5x5 dcsr\n"
        "S[i,j] = A[i,j] + B[i,j]\nT[i,j] = S[i,j] * D[i,j]"
    )
    compilation = compile_program(parse(text), "fuse S..T")
    eye = np.eye(5, dtype=np.float32)
    data = {"A": eye * (np.arange(5) > 2), "B": eye[::-1] * (np.arange(5) < 2), "D": eye}
    for change in (insert_locators, remove_locators):
        changed = passed(compilation, change)
        assert simulate(changed, data, engine="interpreter").check().ok


@counts(small=25, deep=40, fuzz=150)
def test_random_programs(count: int) -> None:
    print(f"seeds from {SEED}")
    looked_up = 0
    for seed in range(SEED, SEED + count):
        case = make_case(random.Random(seed))
        if case is None:
            continue
        scanned = passed(case.compilation, remove_locators)
        again = passed(scanned, insert_locators)
        more = passed(case.compilation, insert_locators)
        bounded = replace(
            scanned,
            regions=tuple(
                replace(r, graph=size_buffers(r.graph, r.region.extents, default=2))
                for r in scanned.regions
            ),
        )
        for compilation in (scanned, again, more, bounded):
            for engine in engines(compilation):
                check = simulate(compilation, case.data, engine=engine).check()
                assert check.ok, f"seed {seed}, engine {engine}: {check}\n{case!r}"
        looked_up += sum(ops(r.graph)["locate"] for r in again.regions)
    assert looked_up > 15
