"""Rooflines: whether arithmetic or memory limits a run."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.display import Drawing, PlotLine, PlotMark, plot
from fuseloom.errors import DataError
from fuseloom.wording import counted
from fuseloom_workbench.state.expected import peak


def roofline(runs: Mapping[str, Run], *, title: str = "") -> Drawing:
    """FLOPs per cycle of runs against their FLOPs per byte, under what the machines allow.

    A memory that moves so many bytes a cycle lets a run with so many FLOPs per byte do no more
    FLOPs in a cycle than both multiplied: a slanted line for each memory.  Each node that computes
    gives at most one value a cycle: a level line, for the graph that has the most of them.

    Parameters
    ----------
    runs : mapping of str to Run
        By the names that the picture has for them.

    Raises
    ------
    DataError
        If there is no run that computes and moves something.

    Examples
    --------
    >>> import fuseloom as fl
    >>> model, data = fl.load("spmm")
    >>> run = fl.simulate(fl.compile(model.program), data, fl.Machine.preset("ddr4"))
    >>> print(roofline({"spmm": run}).title)
    FLOPs per cycle and per byte of spmm
    """
    drawn = {name: run for name, run in runs.items() if run.work.flops and run.work.bytes}
    if not drawn:
        raise DataError("no run computes and moves anything", hint="give a dict of names and runs")
    marks = [
        PlotMark(run.work.flops / run.work.bytes, run.work.flops / run.cycles, name)
        for name, run in drawn.items()
    ]
    low, high = min(m.x for m in marks) / 2, max(m.x for m in marks) * 2
    top = max(peak(r.region.graph) for run in drawn.values() for r in run.regions)
    memories = _memories(drawn)
    low = min([low, *(top / rate / 2 for rate in memories.values())])
    lines = []
    for name, rate in memories.items():
        end = min(high, top / rate)
        said = f"{name}: {counted(rate, 'byte', spec='g')} a cycle"
        lines.append(PlotLine(((low, low * rate), (end, end * rate)), said))
    lines.append(PlotLine(((low, top), (high, top)), f"every node computes: {top:g} a cycle"))
    return plot(
        marks,
        lines,
        x="FLOPs per byte",
        y="FLOPs per cycle",
        title=title or f"FLOPs per cycle and per byte of {', '.join(drawn)}",
        log=True,
    )


def _memories(runs: Mapping[str, Run]) -> dict[str, float]:
    """Bytes a cycle of each machine's memory, where it has a limit."""
    found = {}
    for run in runs.values():
        if run.machine.memory is not None:
            rate = run.machine.memory.peak_per_cycle(run.machine.clock_hz)
            if isfinite(rate):
                found[run.machine.name] = rate
    return found
