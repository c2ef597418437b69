"""Calls of libraries fused tile by tile, beside whole calls: does fusing help?

``python -m benchmarks.fused_calls [--threads 1 2] [--rounds 9] [--scale 1] [--only TEXT] [--json]``

Every composition that comes with the program is tuned, over sizes of tiles and places to break, and
the fastest few are measured in turns with whole calls, which allocate their intermediates, and with
whole calls into room that is there; medians of wall time.  Ratios are of the better whole calls to
the fused ones; below 1 fusing does not pay, and the verdict says so.  ``--scale`` multiplies the
rows, or elements, of each composition.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fuseloom.calls.measuring import PipelineMeasurement, tune
from fuseloom.calls.pipelines import PIPELINES, ShippedPipeline
from fuseloom.cli.command import positive
from fuseloom.results.text_table import Align, TextColumn, text_table


def scaled(pipeline: ShippedPipeline, scale: int) -> dict[str, int]:
    """The extents of a composition, with more rows or elements."""
    first = next(iter(pipeline.extents))
    return {**pipeline.extents, first: pipeline.extents[first] * scale}


def row(pipeline: ShippedPipeline, threads: int, made: PipelineMeasurement) -> dict[str, Any]:
    """A measurement as plain data."""
    return {
        "name": pipeline.name,
        "threads": threads,
        "tile": made.schedule.tile,
        "breaks": list(made.schedule.breaks),
        "fused": made.timings.fused,
        "fresh": made.timings.unfused_fresh,
        "kept": made.timings.unfused_preallocated,
        "gain": made.timings.gain,
        "room": made.counts.room,
        "recomputation": max(made.counts.recomputation.values()),
        "error": made.max_abs_error,
        "verdict": made.verdict,
    }


def shown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Measurements as a table."""
    titles = ("threads", "tile", "breaks", "fused, ms", "whole, fresh, ms", "whole, kept, ms",
              "fresh / fused", "kept / fused", "recomputed", "verdict")  # fmt: skip
    columns = [TextColumn("composition", align=Align.LEFT), *map(TextColumn, titles)]
    cells = [
        (
            one["name"], str(one["threads"]), f"{one['tile']:,}",
            ", ".join(map(str, one["breaks"])) or "none", f"{one['fused'] * 1e3:.2f}",
            f"{one['fresh'] * 1e3:.2f}", f"{one['kept'] * 1e3:.2f}",
            f"{one['fresh'] / one['fused']:.2f}", f"{one['kept'] / one['fused']:.2f}",
            f"{one['recomputation']:.2f} ×", one["verdict"],
        )
        for one in rows
    ]  # fmt: skip
    return "\n".join(text_table(columns, cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=positive, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=positive, default=9)
    parser.add_argument("--scale", type=positive, default=1)
    parser.add_argument("--only", default="", metavar="TEXT", help="part of a name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for pipeline in PIPELINES.values():
        if options.only not in pipeline.name:
            continue
        case = pipeline.make(scaled(pipeline, options.scale))
        for threads in options.threads:
            made = tune(case, pipeline.tile, workers=threads, rounds=options.rounds)
            rows.append(row(pipeline, threads, made[0]))
    print(json.dumps(rows) if options.json else shown(rows))


if __name__ == "__main__":
    main()
