"""``fuseloom simulate --explain`` and ``--trace-out``: why a run took its cycles and its energy."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from fuseloom.cli.command import check_folder
from fuseloom.cli.tables import channel_table, energy_line, energy_table, summary_table
from fuseloom.dataflow.sim.events.files import new_file
from fuseloom.dataflow.sim.events.trace import write_trace as write_intervals
from fuseloom.dataflow.sim.explain.perfetto import (
    TracedRegion,
    told_in_full,
    trace_json,
    trace_regions,
)
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.program import regular_files
from fuseloom.results.record import RegionRecord, RunRecord
from fuseloom.wording import counted

SHOWN = 8
"""Rows of each table for people; ``--json`` has more."""


def observation(options: Any) -> Observe | None:
    """Return the observation that the options request.

    Raises
    ------
    DataError
        If the trace cannot go where it should, before anything runs.
    """
    if options.trace_out is not None:
        check_folder(options.trace_out)
        return Observe(log=True, events=new_file())
    return Observe(log=True) if options.explain else None


def write_trace(options: Any, regions: Sequence[TracedRegion]) -> None:
    """Write the trace, whole or not at all, if it was asked for.

    Short runs of the golden models, which know the stream of each wait, say which it is.
    """
    if options.trace_out is None:
        return
    files = [observed.events for r in regions if (observed := r.result.observed) is not None]
    try:
        with regular_files.written(options.trace_out) as file:
            if told_in_full(regions):
                file.write(trace_json(regions).encode())
            else:
                text = io.TextIOWrapper(file, encoding="utf-8")
                write_intervals(text, trace_regions(regions))
                text.detach()  # or it would close the file
    finally:
        for path in files:
            if path is not None:
                path.unlink(missing_ok=True)


def explanation(record: RunRecord) -> str:
    """Critical path, fullest channels and terms of the energy of each region, as tables."""
    return "\n\n".join("\n".join(_region_lines(region)) for region in record.regions)


def _region_lines(region: RegionRecord) -> list[str]:
    path, channels = region.path, region.channels
    assert path is not None
    assert channels is not None
    known = f", known from cycle {path['start']:,}" if path["start"] else ""
    shown = path["summary"][:SHOWN]
    lines = [f"{region.name}: {counted(path['cycles'], 'cycle')}", f"critical path{known}:"]
    lines += summary_table(shown)
    if path["summaries"] > SHOWN:
        rest = path["cycles"] - path["start"] - sum(row["cycles"] for row in shown)
        lines.append(f"  and {path['summaries'] - SHOWN} more, {counted(rest, 'cycle')} together")
    if path["what_if"]:
        guess = path["what_if"][0]
        lines.append(
            f"twice as fast, {guess['label']} would save at most {counted(guess['gain'], 'cycle')} "
            f"(at best {guess['cycles']:,})"
        )
    lines += ["fullest channels:", *channel_table(channels[:SHOWN])]
    if region.energy is not None and region.energy_terms is not None:
        lines += [f"{energy_line(region.energy)}, the sum of:", *energy_table(region.energy_terms)]
    return lines
