"""Factored and global iteration as loops: the results, and the work that the machine does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.contraction.loopnest.interpreter import count_steps, multiplications
from fuseloom.contraction.loopnest.ir import Assign, Nest
from fuseloom.contraction.loopnest.iteration import factored, global_iteration
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.tree import ContractionTree
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.explain.data import PAGE
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.program import StoredTensor
from tests.contraction.drawn import data_of, drawn, wanted
from tests.contraction.loopnest.test_generate import computed


def products(nest: Nest, tree: ContractionTree) -> int:
    """Multiplications where every loop runs through all of its index."""
    return count_steps(nest, tree.extents, multiplications)


@pytest.mark.parametrize("seed", range(30))
def test_both_compute_the_network(seed: int) -> None:
    rng = random.Random(seed)
    tree = drawn(rng)
    data = data_of(tree, seed)
    want = wanted(tree, data)
    order = rng.sample(sorted(tree.extents), len(tree.extents))
    for nest in (factored(tree, order), global_iteration(tree, order)):
        np.testing.assert_allclose(computed(nest, tree, data), want, rtol=1e-9, atol=1e-12)


def operations(nest: Nest, tree: ContractionTree) -> int:
    """Multiplications, and an addition for each where something is summed."""

    def each(step: Assign) -> int:
        made = tree.by_name[step.out.tensor]
        return 2 if set(made.indices) - set(made.out.indices) else 1

    return count_steps(nest, tree.extents, each)


def simulated(tree: ContractionTree, order: list[str]) -> float:
    """Operations of the fused region under an order, on full tensors."""
    names = [c.name for c in tree.contractions]
    text = f"fuse {names[0]}..{names[-1]}; order {names[0]}..{names[-1]}: {','.join(order)}"
    data = {
        name: StoredTensor.from_coo(tree.program.tensor(name), coords, values)
        for name, (coords, values) in scattered(tree, 1.0).items()
    }
    run = simulate(compile_program(tree.program, text), data)
    return program_record(run, run.check(), PAGE).flops


@pytest.mark.deep  # takes seconds
def test_the_machine_does_what_the_loops_say() -> None:
    compared = 0
    for seed in range(400):
        rng = random.Random(seed)
        tree = drawn(rng, least=1)
        summed = [len(set(c.indices) - set(c.out.indices)) for c in tree.contractions]
        if len(summed) < 2 or max(summed) > 1:  # two reducers add what the first has added again
            continue
        order = rng.sample(sorted(tree.extents), len(tree.extents))
        try:
            found = simulated(tree, order)
        except FuseloomError:
            continue  # levels or the result forbid the order
        compared += 1
        assert found == operations(factored(tree, order), tree), (seed, str(tree), order)
    assert compared >= 20


def test_factoring_saves_what_global_iteration_repeats() -> None:
    tree = binary(from_einsum("ij,jk,kl->il", dict.fromkeys("ijkl", 6)), "((A B) C)")
    assert products(factored(tree, "ijkl"), tree) == 2 * 6**3
    assert products(global_iteration(tree, "ijkl"), tree) == 2 * 6**4
    # l outside: the first product is done again for every l
    assert products(factored(tree, "ilkj"), tree) == 6**4 + 6**3


@pytest.mark.parametrize("order", ["ij", "ijkk", "ijkz", ""])
def test_what_is_no_order_is_refused(order: str) -> None:
    tree = binary(from_einsum("ij,jk->ik", dict.fromkeys("ijk", 2)))
    with pytest.raises(ProgramError, match="no order of the indices") as told:
        factored(tree, order)
    assert told.value.hint == "order i, j, k"
