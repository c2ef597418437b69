"""Runs of pages that go into the run store, where the server was told to keep them.

They are written by the process that has simulated; pages read those of their own program, data
and machine (:mod:`fuseloom_workbench.service.sharing`).  A run that is there stays as it is, and a
store that has grown too large gets no more: nobody who only visits can fill the disk, or throw runs
away.
"""

from __future__ import annotations

import os
from pathlib import Path

from fuseloom.errors import FuseloomError
from fuseloom.exploration.store import Outcome, RunLabel, RunStore, data_hash
from fuseloom.exploration.sweep.plan import run_identity
from fuseloom.results.record import RunRecord
from fuseloom_workbench.service.budgets import KEEP_RUNS
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.shared import slim


def keep(built: BuiltDesign, run: RunRecord, most: int) -> str:
    """Keep a run, if the server was told so.

    Parameters
    ----------
    most : int
        Bytes of the store from which nothing is kept any more.

    Returns
    -------
    str
        Why it is not kept; empty if nothing is wrong.
    """
    path = os.environ.get(KEEP_RUNS)
    if not path:
        return ""
    if Path(path).exists() and Path(path).stat().st_size >= most:
        return f"the run store has more than {most >> 20:,} MiB"
    compiled, design = built.compilation, built.design
    identity = run_identity(
        compiled.source or compiled.program, built.resolved, data_hash(built.data), design.machine
    )
    name = design.model if design.text is None else f"{design.model}, edited"
    label = RunLabel(name, built.loaded.label, design.machine.name, float(built.estimate.cycles))
    try:
        with RunStore(path) as store:
            store.put(identity, Outcome.of(slim(run)), label)
    except FuseloomError as problem:
        return str(problem)
    return ""
