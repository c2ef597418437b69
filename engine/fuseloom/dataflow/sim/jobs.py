"""Simulating what a message asks for: plain data in, the record of the run out.

A worker process is told by the name of :func:`run_job` what to do; the message holds the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import DataError
from fuseloom.program import Program, StoredTensor, parse, print_program
from fuseloom.program.tensor_files import read_tensors
from fuseloom.results.fields import Fields
from fuseloom.results.record import DataSource

TARGET = "fuseloom.dataflow.sim.jobs:run_job"
"""The name of :func:`run_job`."""
_NAMES = ("program", "schedule", "sized", "machine", "tensors", "data", "check", "tokens", "memory")


def job_request(
    compilation: Compilation,
    machine: Machine,
    tensors: Path,
    source: DataSource | None = None,
    *,
    sized: bool = False,
    check: bool = True,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """The message that makes :func:`run_job` simulate this very compilation.

    Parameters
    ----------
    tensors : Path
        File of the data (:func:`fuseloom.program.tensor_files.write_tensors`).
    sized : bool
        Channels have the capacities that no data can deadlock (``Compilation.sized``).
    check : bool
        Compare the results with the dense reference.
    """
    limits = limits or Limits()
    return {
        "program": print_program(compilation.source or compilation.program),
        "schedule": str(compilation.resolved),
        "sized": sized,
        "machine": machine.to_dict(),
        "tensors": str(tensors),
        "data": None if source is None else source.to_dict(),
        "check": check,
        "tokens": limits.tokens,
        "memory": limits.memory,
    }


def run_job(request: Mapping[str, Any], report: Callable[[float, str], bool]) -> dict[str, Any]:
    """Simulate what the message of :func:`job_request` asks for; the record as plain data.

    Raises
    ------
    FuseloomError
        Whatever stands in the way of compiling or simulating; or the run was told to end.
    """
    given = Fields.of(request, "job", _NAMES)
    program = parse(given.text("program"))
    compiled = compile_program(program, given.text("schedule"))
    if given.flag("sized"):
        compiled = compiled.sized()
    machine = Machine.from_dict(given.mapping("machine"))
    source = given.optional("data", lambda name: DataSource.from_dict(given.data[name], "job.data"))
    limits = Limits(given.optional("tokens", given.whole), given.whole("memory"))
    data = _tensors(given.text("tensors"), program)
    run = simulate(compiled, data, machine, progress=report, limits=limits)
    check = run.check(memory=limits.memory) if given.flag("check") else None
    return program_record(run, check, Detail(), source).to_dict()


def _tensors(path: str, program: Program) -> Mapping[str, StoredTensor]:
    """The data of a file; jobs that follow each other mostly have the same."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot read tensors from {path}: {problem}") from None
    text = print_program(program)
    return _read(path, found.st_mtime_ns, found.st_ino, text)


@lru_cache(maxsize=1)
def _read(path: str, changed: int, inode: int, text: str) -> Mapping[str, StoredTensor]:
    return read_tensors(Path(path), parse(text))
