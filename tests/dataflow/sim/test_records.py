"""The records that runs leave say what the runs did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import import_sam
from fuseloom.dataflow.sim.explain.data import PAGE, Detail
from fuseloom.dataflow.sim.imported_runs import run_imported
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import graph_record, program_record, traced_regions
from fuseloom.models import gcn, karate
from fuseloom.program.arrays import operand_shapes, read_npz, store_operand
from fuseloom.results.record import DataSource, RunRecord

SAM = Path(__file__).parents[2] / "conformance" / "sam"


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("name", ["default", "hbm2"])
def test_a_program(name: str) -> None:
    model = gcn()
    compiled = compile_program(model.program, model.presets["partial"])
    machine = Machine.preset(name)
    observe = Observe(log=True)
    run = simulate(compiled, karate(), machine, engine="interpreter", observe=observe)
    source = DataSource("karate")
    record = program_record(run, run.check(), PAGE, source)
    assert RunRecord.from_json(record.to_json()) == record
    assert (record.name, record.schedule) == (model.program.name, str(compiled.schedule))
    assert (record.cycles, record.flops, record.bytes) == (
        run.cycles, run.work.flops, run.work.bytes
    )  # fmt: skip
    assert (record.tokens, record.check, record.data) == (run.tokens, run.check(), source)
    assert record.machine.fingerprint == machine.fingerprint
    assert record.explained
    assert [r.name for r in traced_regions(run)] == [r.name for r in record.regions]
    for region, told in zip(run.regions, record.regions, strict=True):
        assert told.order == region.region.order
        assert (told.memory is None) == (name == "default")
        assert [row["busy"] for row in told.nodes] == region.result.busy.tolist()
        assert told.timeline is not None
        assert len(told.channels) == len(region.result.graph.streams)


def test_a_graph() -> None:
    arrays = read_npz(SAM / "matmul_ikj__small.npz")
    text = (SAM / "matmul_ikj.gv").read_text()
    imported = import_sam(text, operand_shapes(arrays))
    data = {name: store_operand(t, arrays) for name, t in imported.tensors.items()}
    run = run_imported(imported, data, engine="interpreter")
    record = graph_record(run, run.check(arrays["expected"]), Detail(outputs=True))
    assert RunRecord.from_json(record.to_json()) == record
    assert (record.cycles, record.ok, record.schedule, record.data) == (57, True, "", None)
    assert {repair["rule"] for repair in record.repairs} == {"R1", "R2", "R3"}
    output = record.outputs["X"]
    dense = np.zeros(output["shape"])
    dense[tuple(np.transpose(output["coordinates"]))] = output["values"]
    np.testing.assert_allclose(dense, arrays["expected"])
    (region,) = record.regions
    assert region.nodes is region.path is region.channels is region.timeline is None
    assert graph_record(run, None, Detail()).outputs is None
