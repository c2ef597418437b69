"""The latest runs of the store on the home page, each with an address that opens it again."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from fuseloom.dataflow.machine import PRESETS as MACHINES
from fuseloom.errors import FuseloomError, shortened
from fuseloom.exploration.store import RunReader, StoredRun
from fuseloom.models import MODELS, fitting
from fuseloom.results.cpu import NANOSECOND
from fuseloom.wording import counted, duration
from fuseloom_workbench.state.addresses import LONGEST_ADDRESS

MOST = 9
"""Runs that are shown."""
LONGEST_SCHEDULE = 44
"""Characters of a schedule that are shown."""
_NANOSECONDS = ", 1 ns cycles"
"""The end of the name of a processor that measured, whose cycles are time."""
_DATA = re.compile(r"([\w-]+)(?: \(stand-in, seed 0\))?")


def recent_runs(path: str | Path) -> str:
    """The latest runs as a section of the page; empty where there is none.

    A store that cannot be read is told in place of the runs.
    """
    try:
        with RunReader(path) as reader:
            runs = reader.latest(MOST)
    except FuseloomError as problem:
        return _section(f"<li>They cannot be read: {escape(problem.message)}</li>")
    return _section("".join(map(_line, runs))) if runs else ""


def run_address(run: StoredRun) -> str:
    """The address of the explorer that opens what a run simulated.

    Empty where no address has all of it: the run is of no ready-made model on data of its own, of a
    machine without a name, or with settings of its own, or its program and schedule are too long.

    Examples
    --------
    >>> from fuseloom.exploration.store.runs import RunIdentity, RunLabel, State
    >>> machine = MACHINES["default"]().fingerprint
    >>> identity = RunIdentity("y[i] = A[i,j] * x[j]", "", "0" * 64, machine)
    >>> run = StoredRun(
    ...     "0" * 64, 1, State.DONE, RunLabel("spmv", "random", "default"), identity, 38, 0.1, "",
    ...     1, 0.0, 0.0,
    ... )
    >>> run_address(run)
    'explorer?model=spmv&data=random&program=y%5Bi%5D+%3D+A%5Bi%2Cj%5D+%2A+x%5Bj%5D&run='
    """
    model = run.label.name.removesuffix(", edited")
    named = _DATA.fullmatch(run.label.data)
    data = named[1].lower() if named else ""
    machine = run.label.machine
    if model not in MODELS or data not in fitting(model) or not run.identity.program:
        return ""
    if run.identity.settings:
        return ""
    if machine not in MACHINES or MACHINES[machine]().fingerprint != run.identity.machine:
        return ""
    words = {"model": model, "data": data}
    if machine != "default":
        words["machine"] = machine
    words |= {"program": run.identity.program, "run": run.identity.schedule}
    address = f"explorer?{urlencode(words)}"
    return address if len(address) <= LONGEST_ADDRESS else ""


def _line(run: StoredRun) -> str:
    name, address = escape(run.label.name or "a program"), run_address(run)
    shown = f'<a href="{escape(address)}">{name}</a>' if address else f"<b>{name}</b>"
    on = f" on {escape(run.label.data)}" if run.label.data else ""
    schedule = escape(shortened(run.identity.schedule or "unfused", LONGEST_SCHEDULE))
    machine = escape(run.label.machine.removesuffix(_NANOSECONDS))
    return (
        f"<li>{shown}{on}: {_cost(run)}, {machine}<br><code>{schedule}</code> "
        f"<time>{run.when:%Y-%m-%d %H:%M} UTC</time></li>"
    )


def _cost(run: StoredRun) -> str:
    """Cycles with their noun, or the time of what was measured on a processor."""
    if run.cycles is None:
        return "no cycles"
    if run.label.machine.endswith(_NANOSECONDS):
        return duration(run.cycles * NANOSECOND)
    return counted(run.cycles, "cycle")


def _section(lines: str) -> str:
    return f'<h2>Recent runs</h2>\n<ul class="models runs">{lines}</ul>'
