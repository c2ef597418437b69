"""Public objects are one short line each at a prompt, however large the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.ranking import ranked
from fuseloom.contraction.solving.solve import Question
from fuseloom.dataflow.orders import ranking
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.records import program_record
from fuseloom.models import load_labelled
from fuseloom.program.arrays import operand_shapes, read_npz
from fuseloom.program.statistics import TensorStatistics

MOST = 300
ROOT = Path(__file__).parent.parent
MLIR = ROOT / "docs" / "examples" / "gcn.mlir"
SAM = ROOT / "tests" / "conformance" / "sam" / "matmul_ikj.gv"


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Public objects of a program with some hundred statements, and of runs of a small one."""
    store = tmp_path_factory.mktemp("reprs") / "runs.sqlite"
    loaded = load_labelled("gpt3", None, 0, None, layers=4)
    program, preset = loaded.model.program, loaded.model.presets["full"]
    large = fl.compile(program, preset)
    region = large.regions[0]
    model, data = fl.load("gcn", "karate")
    compiled = fl.compile(model.program, model.presets["partial"])
    run = fl.simulate(compiled, data, engine="interpreter")
    record = program_record(run, None, Detail(nodes=True), None)
    what_if = fl.what_if(compiled, data, capacities=[2, 8])
    spmm, values = fl.load("spmm")
    found = fl.autoschedule(spmm.program, values, time_limit=2.0)
    explored = fl.explore(fl.Space(fl.Base("spmm"), {"capacity": ["2", "8"]}), store=store)
    estimate = fl.estimate(large, loaded.data)
    tensor = next(iter(loaded.data.values()))
    lone = binary(from_einsum("ij,jk,kl->il", {"i": 4, "j": 5, "k": 6, "l": 7}), None)
    sam = SAM.read_text(encoding="utf-8")
    candidates = ranked(Question(lone), Data(lone, scattered(lone, 0.5)).held)
    every = {
        "MLIR": fl.from_mlir(MLIR.read_text(encoding="utf-8")),
        "SAM": fl.import_sam(sam, operand_shapes(read_npz(SAM.with_name("matmul_ikj__small.npz")))),
        "candidates": candidates, "candidate": candidates.candidates[0],
        "model": loaded.model, "loaded": loaded, "program": program, "tensor": program.tensors[0],
        "statement": program.statements[0], "schedule": fl.Schedule.parse(preset),
        "compilation": large, "compiled region": region, "region": region.region,
        "graph": region.graph, "table": region.table, "order graph": region.region.pog,
        "estimate": estimate, "region estimate": estimate.regions[0], "stored tensor": tensor,
        "statistics": TensorStatistics.of(tensor), "machine": fl.Machine.preset("hbm2"),
        "limits": fl.Limits(), "observe": fl.Observe(log=True), "run": run,
        "region run": run.regions[0], "result": run.regions[0].result, "trace": run.trace[0],
        "check": run.check(), "record": record, "region record": record.regions[0],
        "what-if": what_if, "variant": what_if.base, "ranking": ranking(compiled, data),
        "best orders": fl.best_orders(compiled, data), "autoscheduled": found,
        "explored": explored, "row": explored.rows[0], "network": lone,
    }  # fmt: skip
    assert len(program.statements) > 150
    return every


@pytest.mark.deep  # takes seconds
def test_every_representation_is_a_short_line(objects: dict[str, Any]) -> None:
    long = {name: len(repr(thing)) for name, thing in objects.items() if len(repr(thing)) > MOST}
    assert not long
    assert not [name for name, thing in objects.items() if not repr(thing).isprintable()]


def test_a_run_says_what_came_of_it(objects: dict[str, Any]) -> None:
    model, data = fl.load("spmv")
    run = fl.simulate(fl.compile(model.program), data, engine="interpreter")
    assert repr(run) == f"<Run of spmv: 1 region, {run.cycles:,} cycles; not checked>"
    check = run.check()
    assert repr(run) == f"<Run of spmv: 1 region, {run.cycles:,} cycles; {check}>"
    assert repr(objects["estimate"]).startswith("<Estimate of ")


def test_names_of_any_length_are_shortened() -> None:
    name = "A" * 90
    program = fl.parse(
        f"program {'p' * 90}\n{name}: 4x4 csr\nx: 4 dense\ny[i] = {name}[i,j] * x[j]"
    )
    stored = fl.StoredTensor.from_dense(program.tensor(name), np.eye(4))
    for thing in (program, stored, fl.compile(program), fl.compile(program).regions[0]):
        assert len(repr(thing)) <= MOST


def test_a_late_region_is_described_without_its_graph(objects: dict[str, Any]) -> None:
    program = objects["program"]
    compiled = fl.compile(program, "")
    before = [len(vars(region)) for region in compiled.regions]
    repr(compiled)
    assert [len(vars(region)) for region in compiled.regions] == before
