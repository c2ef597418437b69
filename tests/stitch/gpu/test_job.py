"""Jobs for a GPU, run on the processor in its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError, LoweringError
from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import FusedModule, fuse_module
from fuseloom.stitch.gpu.job import TOLERANCE, GpuJob, pack_job
from fuseloom.stitch.gpu.times import read_times

from ..stitched_modules import GraphMaker


def softmax(rows: int = 16, row: int = 40) -> FusedModule:
    """A softmax of rows, scaled, in one kernel."""
    graph = GraphMaker()
    x = graph.parameter(rows, row)
    zero = graph.add("constant", (), literal=np.float32(0))
    e = graph.add("exponential", (rows, row), x)
    s = graph.add("reduce", (rows,), e, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (rows, row), s, dimensions=(0,))
    graph.add("divide", (rows, row), e, wide)
    return fuse_module(graph.module())


def run_job(job: GpuJob, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Write a job, and run it on the processor."""
    job.write(folder)
    return subprocess.run(
        [sys.executable, "run.py", "--on-cpu", "--rounds", "1", *options],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def content(job: GpuJob) -> Any:
    """The description of a job."""
    return json.loads(job.files["job.json"])


def test_a_job_runs_and_its_kernels_are_right(tmp_path: Path) -> None:
    job = pack_job(softmax())
    assert (job.kernels, job.left_out, job.model_reason) == (1, {}, "")
    assert 1 < job.timed <= 8
    done = run_job(job, tmp_path, "--no-compile")
    assert done.returncode == 0, done.stderr
    assert f"{job.timed} kernels on processor, 0 of them wrong" in done.stdout
    result = read_times(tmp_path / "result.json")
    assert (result.on_cpu, result.wrong, len(result.times)) == (True, (), job.timed)
    assert all(time.nanoseconds > 0 for time in result.times.values())


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    [
        "logistic_regression", "word2vec", "residual_block",
        pytest.param("rnn", marks=pytest.mark.fuzz),  # many kernels
    ],
)  # fmt: skip
def test_jobs_of_the_examples(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    job = pack_job(fuse_module(read_example(name)), most_schedules=2)
    done = run_job(job, tmp_path, "--no-compile")
    assert done.returncode == 0, done.stderr
    result = read_times(tmp_path / "result.json")
    assert not result.wrong
    ways = {one.way: one.error for one in result.models}
    if job.model_reason:
        assert "no form in PyTorch" in job.model_reason
        assert not ways
    else:
        assert {*ways} == {"stitched", "eager"}
        assert max(ways.values()) < TOLERANCE


def test_schedules_are_different_and_one_is_chosen() -> None:
    described = content(pack_job(softmax()))["kernels"]
    chosen = [one for one in described if one["chosen"]]
    assert [one["function"] for one in chosen] == ["kernel_0"]
    assert len({one["schedule"] for one in described}) == len(described)
    keys = [json.dumps(one["key"]) for one in described]
    assert len({*keys}) == len(keys)
    assert all(one["key"]["threads"] == one["threads"] for one in described)
    assert len(content(pack_job(softmax(), most_schedules=1))["kernels"]) == 1


def test_a_wrong_kernel_is_found(tmp_path: Path) -> None:
    job = pack_job(softmax(), most_schedules=1)
    text = job.files["job.cu"].decode()
    assert " / v" in text
    wrong = GpuJob(
        {**job.files, "job.cu": text.replace(" / v", " * v").encode()},
        job.kernels, job.timed, job.left_out, job.model_reason,
    )  # fmt: skip
    done = run_job(wrong, tmp_path, "--no-compile")
    assert done.returncode == 1
    assert "1 of them wrong" in done.stdout
    result = read_times(tmp_path / "result.json")
    assert result.wrong == ("kernel_0",)
    assert not result.times


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": 99}, "is of version 99"),
        ({"kind": "else"}, "is of version"),
    ],
)
def test_jobs_of_other_programs_do_not_run(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    job = pack_job(softmax(), most_schedules=1)
    described = content(job) | change
    files = {**job.files, "job.json": json.dumps(described).encode()}
    done = run_job(GpuJob(files, 1, 1, {}, ""), tmp_path)
    assert done.returncode == 1
    assert told in done.stderr
    assert not (tmp_path / "result.json").exists()


def test_a_compiler_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run_job(pack_job(softmax(), most_schedules=1), tmp_path, "--compiler", "no-such-one")
    assert done.returncode == 1
    assert "there is no no-such-one" in done.stderr


def test_modules_without_kernels_make_no_job() -> None:
    graph = GraphMaker()
    x = graph.parameter(4, 4)
    graph.add("dot", (4, 4), x, x, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    with pytest.raises(LoweringError, match="no kernel of made has CUDA: a call of a library"):
        pack_job(fuse_module(graph.module()))


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        pack_job(softmax(), most_schedules=1).write(tmp_path / "file")
