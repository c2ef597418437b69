"""``fuseloom estimate``: expected cycles, FLOPs and bytes of every region."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from engine.cli.command import Command, print_json
from engine.cli.inputs import inputs, program_options
from engine.cli.tables import statistics_table
from engine.program import StoredTensor
from engine.program.statistics import TensorStatistics
from engine.results.document import Kind


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    parser.add_argument(
        "--statistics", action="store_true",
        help="show the statistics of the inputs that the estimate rests on, level by level",
    )  # fmt: skip


def _run(options: Any) -> int:
    from engine.dataflow.cost import estimate

    given = inputs(options)
    result = estimate(given.compilation, given.data)
    statistics = _statistics(given.data) if options.statistics else None
    if options.json:
        source = None if given.source is None else given.source.to_dict()
        content = {**result.to_dict(), "data": source, "statistics": statistics}
        print_json(Kind.ESTIMATE, {"name": given.compilation.program.name, **content})
        return 0
    print(f"{given.heading}{result}")
    if statistics is not None:
        print("\n" + "\n".join(statistics_table(statistics)))
    return 0


def _statistics(data: Mapping[str, StoredTensor]) -> dict[str, list[dict[str, Any]]]:
    """Per tensor the figures of every level, outermost first."""
    return {
        name: [level.summary() for level in TensorStatistics.of(stored).levels]
        for name, stored in data.items()
    }


ESTIMATE = Command("estimate", "Estimate cycles, FLOPs and bytes without a run.", _declare, _run)
