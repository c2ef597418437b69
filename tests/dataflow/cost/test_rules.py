"""Rules count the tokens of dense products exactly."""

from __future__ import annotations

import numpy as np

from tests.dataflow.cost.products import both, compiled, near


def test_a_dense_product_is_counted_exactly() -> None:
    rng = np.random.default_rng(0)
    data = {"A": rng.random((7, 8)), "X": rng.random((8, 9))}
    text = "A: 7x8 dense\nX: 8x9 dense\nT: 7x9 dense\nT[i,j] = A[i,k] * X[k,j]"
    expected, run = both(compiled(text), data)
    assert expected.flops == run.work.flops == 2 * 7 * 8 * 9
    assert expected.bytes == run.work.bytes
    assert expected.cycles == near(run.cycles, 0.02)


def test_every_token_of_a_dense_product_is_counted() -> None:
    data = {"A": np.ones((7, 8)), "X": np.ones((8, 9))}
    text = "A: 7x8 dense\nX: 8x9 dense\nT: 7x9 dense\nT[i,j] = A[i,k] * X[k,j]"
    expected, run = both(compiled(text), data)
    for node in expected.regions[0].nodes:
        outputs = run.compilation.regions[0].graph.nodes[node.node].outputs
        made = [int(run.regions[0].result.tokens[s]) for s in outputs if s is not None]
        if made:
            assert node.tokens == max(made)
