"""The analytical estimate against simulated runs."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest

from engine.dataflow.compiler import Compilation, compile_program
from engine.dataflow.cost import Estimate, estimate
from engine.dataflow.sim.program_runs import Run, simulate
from engine.errors import DataError
from engine.models import gcn, karate
from engine.program import parse

PRODUCT = "A: {0}x{0} {1}\nX: {0}x{0} {1}\nT[i,j] = A[i,k] * X[k,j]"
STAR = nx.to_numpy_array(nx.star_graph(40))


def both(compilation: Compilation, data: Mapping[str, Any]) -> tuple[Estimate, Run]:
    run = simulate(compilation, data, engine="interpreter")
    assert run.check().ok
    return estimate(compilation, data), run


def compiled(text: str, schedule: str = "") -> Compilation:
    return compile_program(parse(text), schedule)


def near(expected: float, share: float) -> Any:
    return pytest.approx(expected, rel=share)


@cache
def karate_club(preset: str) -> tuple[Estimate, Run]:
    model = gcn()
    return both(compile_program(model.program, model.presets[preset]), karate())


@pytest.mark.parametrize("preset", ["unfused", "partial", "full"])
def test_a_gcn_on_the_karate_club(preset: str) -> None:
    expected, run = karate_club(preset)
    assert expected.cycles == near(run.cycles, 0.10)
    assert expected.flops == near(run.work.flops, 0.05)
    assert expected.bytes == near(run.work.bytes, 0.05)
    for mine, theirs in zip(expected.regions, run.regions, strict=True):
        assert mine.name == theirs.name
        assert mine.cycles == near(theirs.cycles, 0.10)


def test_fusion_is_ranked_as_simulated() -> None:
    """Fusing a layer saves the traffic between kernels; fusing both recomputes the hidden one."""
    ranked = ["partial", "unfused", "full"]
    assert sorted(ranked, key=lambda preset: karate_club(preset)[0].cycles) == ranked
    assert sorted(ranked, key=lambda preset: karate_club(preset)[1].cycles) == ranked


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("size", "density"), [(30, 0.1), (60, 0.05), (60, 0.2)])
@pytest.mark.parametrize("form", ["csr", "dcsr"])
def test_uniform_random_products(form: str, size: int, density: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = {name: rng.random((size, size)) * (rng.random((size, size)) < density) for name in "AX"}
    expected, run = both(compiled(PRODUCT.format(size, form)), data)
    assert expected.cycles == near(run.cycles, 0.10)
    assert expected.flops == near(run.work.flops, 0.05)
    assert expected.bytes == near(run.work.bytes, 0.05)


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


def test_a_hub_is_not_averaged_away() -> None:
    """In A·A the hub's row is entered once per neighbour: the average degree says far less."""
    expected, run = both(compiled(PRODUCT.replace("X: {0}x{0} {1}\n", "").replace("X[", "A[")
                                  .format(41, "dcsr")), {"A": STAR})  # fmt: skip
    assert expected.cycles == near(run.cycles, 0.10)
    assert expected.flops == near(run.work.flops, 0.05)
    nnz = STAR.sum()
    by_average_degree = 2 * nnz * nnz / 41
    assert run.work.flops > 10 * by_average_degree


def test_a_chain_of_products_on_a_hub() -> None:
    """The second product's rows are expected ones, and their correlation with A is lost."""
    text = "A: 41x41 dcsr\nT[i,j] = A[i,k] * A[k,j]\nU[i,j] = T[i,k] * A[k,j]"
    for schedule in ("", "fuse T..U"):
        expected, run = both(compiled(text, schedule), {"A": STAR})
        assert expected.cycles == near(run.cycles, 0.15)
        assert expected.flops == near(run.work.flops, 0.30)


@pytest.mark.parametrize("form", ["csr", "dcsr"])
def test_empty_tensors(form: str) -> None:
    """Only stops and done tokens flow, and nothing is divided by nothing."""
    text = PRODUCT.format(4, form) + "\nU[i,j] = relu(T[i,j])"
    data = {"A": np.zeros((4, 4)), "X": np.zeros((4, 4))}
    for schedule in ("", "fuse T..U"):
        expected, run = both(compiled(text, schedule), data)
        assert expected.flops == run.work.flops == 0
        assert expected.cycles == near(run.cycles, 0.10)
        assert np.isfinite(expected.bytes)


def test_one_empty_operand() -> None:
    data = {"A": np.eye(4), "X": np.zeros((4, 4))}
    expected, run = both(compiled(PRODUCT.format(4, "csr")), data)
    assert expected.flops == run.work.flops == 0
    assert expected.cycles == near(run.cycles, 0.15)


def test_the_busiest_node_sets_the_pace() -> None:
    model = gcn()
    for region in estimate(compile_program(model.program, ""), karate()).regions:
        slowest = max(node.cycles for node in region.nodes)
        assert region.bottleneck.cycles == slowest
        assert slowest < region.cycles <= slowest + len(region.nodes)
        assert region.flops == pytest.approx(sum(node.flops for node in region.nodes))


def test_text() -> None:
    text = "A: 4x4 dense\nx: 4 dense\ny[i] = A[i,j] * x[j]"
    result = estimate(compiled(text), {"A": np.ones((4, 4)), "x": np.ones(4)})
    header, line, total = str(result).splitlines()
    assert header.split() == ["region", "cycles", "FLOPs", "bytes"]
    assert line.split()[0] == "y"
    assert line.split()[1:] == total.split()[1:] == [f"{result.cycles:,.0f}", "32", "168"]


def test_data_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="A"):
        estimate(compiled(PRODUCT.format(4, "csr")), {"A": np.eye(3), "X": np.eye(4)})
