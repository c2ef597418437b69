"""The analytical estimate against simulated runs."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, estimate
from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.errors import DataError
from fuseloom.models import gcn, karate
from tests.dataflow.cost.products import PRODUCT, both, compiled, near


@cache
def karate_club(preset: str) -> tuple[Estimate, Run]:
    model = gcn()
    return both(compile_program(model.program, model.presets[preset]), karate())


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("preset", ["unfused", "partial", "full"])
def test_a_gcn_on_the_karate_club(preset: str) -> None:
    expected, run = karate_club(preset)
    assert expected.cycles == near(run.cycles, 0.10)
    assert expected.flops == near(run.work.flops, 0.05)
    assert expected.bytes == near(run.work.bytes, 0.05)
    for mine, theirs in zip(expected.regions, run.regions, strict=True):
        assert mine.name == theirs.name
        assert mine.cycles == near(theirs.cycles, 0.10)


@pytest.mark.deep  # takes seconds
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


def test_the_busiest_node_sets_the_pace() -> None:
    model = gcn()
    compilation = compile_program(model.program, "")
    for region in estimate(compilation, karate()).regions:
        slowest = max(node.cycles for node in region.nodes)
        assert region.bottleneck.cycles == slowest
        assert region.least is not None
        assert slowest < region.least <= region.cycles
    for region in estimate(compilation, karate(), mode="metadata").regions:
        assert region.least is None
        assert region.bottleneck.cycles < region.cycles
        assert region.cycles <= region.bottleneck.cycles + len(region.nodes)
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


ESTIMATED = """
import sys
import fuseloom as fl
import fuseloom.dataflow.cost, fuseloom.dataflow.orders, fuseloom.dataflow.what_if
spmv, data = fl.load("spmv")
fl.estimate(fl.compile(spmv.program), data)
print([name for name in sys.modules if name.startswith("fuseloom.dataflow.sim")])
"""


def test_an_estimate_imports_no_simulator() -> None:
    command = [sys.executable, "-c", ESTIMATED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
