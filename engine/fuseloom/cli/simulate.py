"""``fuseloom simulate``: a program, or a graph from a file, cycle by cycle."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from fuseloom.cli.command import Command, area_option, engine_option
from fuseloom.cli.inputs import inputs, program_options
from fuseloom.cli.limits import add_limits


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    engine_option(parser)
    add_limits(parser)
    parser.add_argument(
        "--keep", action="store_true",
        help="keep the run (see the command 'runs'); if it is there already, it is shown and not "
        "done again",
    )  # fmt: skip
    area_option(parser)
    foreign = parser.add_argument_group(
        "graphs from files",
        "Instead of a program, one graph of another tool, or of ours, with its tensors. Faults of "
        "SAM graphs are repaired, and every repair is listed.",
    )
    foreign.add_argument(
        "--sam", type=Path, metavar="G.gv", help="DOT graph of the SAM/Custard compiler"
    )
    foreign.add_argument(
        "--tortilla", type=Path, metavar="OP.bin",
        help="protobuf graph of the Comal simulator, or a folder with op.bin; --tensors names the "
        "folder of its tensors (default: where the graph lies)",
    )  # fmt: skip
    foreign.add_argument(
        "--graph", type=Path, metavar="G.json", help="graph of compile --export json"
    )
    foreign.add_argument(
        "--block", type=int, choices=[16, 32, 64],
        help="with --tortilla: timing of blocks of that edge, on scalar data",
    )  # fmt: skip
    parser.add_argument(
        "--no-check",
        action="store_true",
        help="do not compare the results with what they should be",
    )
    parser.add_argument("--trace", action="store_true", help="print the table of nodes too")
    parser.add_argument(
        "--explain", action="store_true",
        help="say which chain of work and waits determined the cycles, which channels filled, and "
        "what the energy is the sum of",
    )  # fmt: skip
    parser.add_argument(
        "--trace-out", type=Path, metavar="FILE",
        help="write a trace for Perfetto or chrome://tracing; one cycle is shown as 1 us",
    )  # fmt: skip


def _run(options: Any) -> int:
    if options.sam or options.tortilla or options.graph or options.block:
        from fuseloom.cli.graphs import simulate_file

        return simulate_file(options)
    from fuseloom.cli.programs import simulate_program

    return simulate_program(options, inputs(options))


SIMULATE = Command(_declare, _run)
