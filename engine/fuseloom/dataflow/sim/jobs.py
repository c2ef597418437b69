"""Simulating what a message asks for: plain data in, the record of the run out.

A worker process is told by the name of :func:`run_job` what to do; the message holds the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import DataError
from fuseloom.program import Program, StoredTensor, parse, print_program
from fuseloom.program.tensor_files import read_tensors
from fuseloom.results.declarations import Count, Record, read
from fuseloom.results.record import DataSource

TARGET = "fuseloom.dataflow.sim.jobs:run_job"
"""The name of :func:`run_job`."""


@dataclass(frozen=True)
class _Request(Record):
    """The message; see :func:`job_request`."""

    program: str
    schedule: str
    sized: bool
    machine: Mapping[str, Any]
    tensors: str
    data: DataSource | None
    check: bool
    tokens: Count | None
    memory: Count


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
    request: dict[str, Any] = _Request(
        print_program(compilation.source or compilation.program),
        str(compilation.resolved),
        sized,
        machine.to_dict(),
        str(tensors),
        source,
        check,
        limits.tokens,
        limits.memory,
    ).to_dict()
    return request


def run_job(request: Mapping[str, Any], report: Callable[[float, str], bool]) -> dict[str, Any]:
    """Simulate what the message of :func:`job_request` asks for; the record as plain data.

    Raises
    ------
    FuseloomError
        Whatever stands in the way of compiling or simulating; or the run was told to end.
    """
    given = read(_Request, request, "job")
    program = parse(given.program)
    compiled = compile_program(program, given.schedule)
    if given.sized:
        compiled = compiled.sized()
    machine = Machine.from_dict(given.machine)
    limits = Limits(given.tokens, given.memory)
    data = _tensors(given.tensors, program)
    run = simulate(compiled, data, machine, progress=report, limits=limits)
    check = run.check(memory=limits.memory) if given.check else None
    return program_record(run, check, Detail(), given.data).to_dict()


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
