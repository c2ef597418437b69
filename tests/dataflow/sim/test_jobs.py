"""Simulating what a message asks for gives what simulating gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.jobs import TARGET, job_request, run_job
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import DataError, LimitError, RecordError, SimulationError
from fuseloom.models import random_data, spmm
from fuseloom.program.tensor_files import write_tensors
from fuseloom.results.record import DataSource, RunRecord

SOURCE = DataSource("random")


@pytest.mark.parametrize("sized", [False, True])
def test_a_message_gives_the_same_run(sized: bool, tmp_path: Path) -> None:
    model = spmm()
    data = random_data(model, 3)
    write_tensors(tmp_path / "t.npz", data)
    compiled = compile_program(model.program, "parallel i by 2")
    machine = Machine.preset("hbm2")
    request = job_request(compiled, machine, tmp_path / "t.npz", SOURCE, sized=sized)
    request = json.loads(json.dumps(request))
    made = RunRecord.from_dict(json.loads(json.dumps(run_job(request, lambda *_: True))))
    run = simulate(compiled.sized() if sized else compiled, data, machine)
    wanted = program_record(run, run.check(), Detail(), SOURCE)
    assert (made.regions, made.check, made.machine) == (
        wanted.regions,
        wanted.check,
        wanted.machine,
    )
    assert made.schedule == str(compiled.resolved)
    assert TARGET.endswith(f"{run_job.__module__}:{run_job.__name__}")


def test_limits_and_cancelling(tmp_path: Path) -> None:
    model = spmm()
    write_tensors(tmp_path / "t.npz", random_data(model, 0))
    compiled = compile_program(model.program)
    machine = Machine.default()
    few = job_request(compiled, machine, tmp_path / "t.npz", check=False, limits=Limits(1))
    with pytest.raises(LimitError):
        run_job(few, lambda *_: True)
    request = job_request(compiled, machine, tmp_path / "t.npz", check=False)
    assert run_job(request, lambda *_: True)["check"] is None
    with pytest.raises(SimulationError, match="cancelled"):
        run_job(request, lambda *_: False)
    with pytest.raises(RecordError, match="has no 'program'"):
        run_job({}, lambda *_: True)
    with pytest.raises(DataError, match="cannot read"):
        run_job({**request, "tensors": str(tmp_path / "none.npz")}, lambda *_: True)
