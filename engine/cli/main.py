"""The command line: ``fuseloom compile | estimate | simulate | explore | serve`` and helpers."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine import __version__
from engine.cli.inputs import compilation as compiled_only
from engine.cli.inputs import inputs, positive, program_options
from engine.cli.limits import add_limits
from engine.cli.machine import HELP as MACHINE_HELP
from engine.cli.machine import show_machine
from engine.errors import FuseloomError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 (done), 1 (a result is wrong) or 2 (bad input)."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except FuseloomError as problem:
        if getattr(options, "json", False):
            print(json.dumps({"error": str(problem)}))
        print(f"fuseloom: error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fuseloom: cancelled", file=sys.stderr)
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fuseloom",
        description="Fuse, order and simulate sparse models on streaming dataflow hardware.",
    )
    parser.add_argument("--version", action="version", version=f"fuseloom {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any], int], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        return made

    compiling = command("compile", _compile, "Compile a program and show what came of it.")
    program_options(compiling)
    compiling.add_argument(
        "--show",
        choices=["summary", "regions", "table", "graph", "dot"],
        default="summary",
        help="what to print (default: %(default)s)",
    )
    compiling.add_argument(
        "--export",
        choices=["sam", "tortilla", "json"],
        help="write graphs for other tools: SAM's DOT dialect, Comal's protobuf (a folder with "
        "op.bin and the tensors), or our own JSON",
    )
    compiling.add_argument(
        "--output", type=Path, metavar="PATH", help="where to; several regions get -1, -2, ..."
    )
    compiling.add_argument(
        "--strict", action="store_true", help="refuse to export what other tools cannot run"
    )
    estimating = command("estimate", _estimate, "Estimate cycles, FLOPs and bytes without a run.")
    program_options(estimating)
    estimating.add_argument(
        "--statistics", action="store_true",
        help="show the statistics of the inputs that the estimate rests on, level by level",
    )  # fmt: skip
    simulating = command("simulate", _simulate, "Simulate a program and check it.")
    program_options(simulating)
    _simulation_options(simulating)

    exploring = command("explore", _explore, "Rank the dataflow orders of every region.")
    program_options(exploring)
    exploring.add_argument(
        "--limit", type=positive, default=40,
        help="distinct graphs to estimate per region (default: %(default)s)",
    )  # fmt: skip

    checking = command("conform", _conform, "Replay reference vectors token by token.")
    checking.add_argument("file", type=Path, help="vector file (JSON)")
    _engine_option(checking)

    serving = command("serve", _serve, "Serve the workbench.")
    serving.add_argument("--port", type=positive, default=5006, help="default: %(default)s")
    serving.add_argument("--no-browser", action="store_true", help="do not open a browser")

    showing = command(
        "machine", show_machine, "Print a machine as a file: what it has, or what to change."
    )
    showing.add_argument(
        "machine", nargs="?", default="default", metavar="NAME|FILE", help=MACHINE_HELP
    )
    showing.add_argument("--json", action="store_true", help="print one JSON object")

    warming = command("warmup", _warmup, "Compile the simulator's kernels into the cache.")
    warming.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _simulation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", default="default", metavar="NAME|FILE", help=MACHINE_HELP)
    parser.add_argument(
        "--capacity", type=_capacity, metavar="TOKENS",
        help="capacity of every channel, or 'sized' for capacities that no data can deadlock",
    )  # fmt: skip
    _engine_option(parser)
    add_limits(parser)
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
    parser.add_argument("--trace", action="store_true", help="print the table of nodes too")
    parser.add_argument(
        "--explain", action="store_true",
        help="say which chain of work and waits determined the cycles, and which channels filled",
    )  # fmt: skip
    parser.add_argument(
        "--trace-out", type=Path, metavar="FILE",
        help="write a trace for Perfetto or chrome://tracing; one cycle is shown as 1 us",
    )  # fmt: skip


def _engine_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=["auto", "compiled", "interpreter"],
        default="auto",
        help="which form of the primitives runs (default: %(default)s)",
    )


def _capacity(text: str) -> int | str:
    return text if text == "sized" else positive(text)


# Commands -------------------------------------------------------------------------------------


def _compile(options: Any) -> int:
    with_data = options.data is not None or options.tensors is not None
    given = inputs(options) if with_data else None
    compilation = compiled_only(options) if given is None else given.compilation
    if options.export or options.output or options.strict:
        from engine.cli.graphs import export

        return export(options, compilation, {} if given is None else given.data)
    if options.json:
        regions = [
            {
                "name": r.name,
                "order": r.order,
                "nodes": len(r.graph.nodes),
                "region": json.loads(r.region.to_json()),
                "table": json.loads(r.table.to_json()),
                "graph": json.loads(r.graph.to_json()),
            }
            for r in compilation.regions
        ]
        source = {} if given is None else given.source
        print(json.dumps({"schedule": str(compilation.schedule), "regions": regions, **source}))
        return 0
    print("" if given is None else given.heading, end="")
    for r in compilation.regions:
        match options.show:
            case "summary":
                orders = r.region.pog.count()
                print(
                    f"{r.name}: order {','.join(r.order)} (of {orders:,}), "
                    f"{len(r.graph.nodes)} nodes"
                )
            case "regions":
                print(r.region)
            case "table":
                print(f"{r.name}\n{r.table}\n")
            case "graph":
                print(r.graph)
            case "dot":
                from engine.dataflow.samml.dot import to_dot

                print(to_dot(r.graph).source)
    return 0


def _estimate(options: Any) -> int:
    from engine.cli.statistics import statistics_record, statistics_table
    from engine.dataflow.cost import estimate

    given = inputs(options)
    result = estimate(given.compilation, given.data)
    if options.json:
        regions = [
            {"name": r.name, "cycles": r.cycles, "flops": r.flops, "bytes": r.bytes}
            for r in result.regions
        ]
        totals = {"cycles": result.cycles, "flops": result.flops, "bytes": result.bytes}
        shown = {"statistics": statistics_record(given.data)} if options.statistics else {}
        print(json.dumps({**totals, "regions": regions, **given.source, **shown}))
    else:
        print(f"{given.heading}{result}")
        if options.statistics:
            print(f"\n{statistics_table(given.data)}")
    return 0


def _explore(options: Any) -> int:
    from engine.cli.explore import explore

    given = inputs(options)
    print(given.heading, end="", file=sys.stderr if options.json else sys.stdout)
    return explore(given.compilation, given.data, options.limit, options.json)


def _simulate(options: Any) -> int:
    if options.sam or options.tortilla or options.graph or options.block:
        from engine.cli.graphs import simulate_file

        return simulate_file(options)
    from engine.cli.simulate import simulate_program

    return simulate_program(options, inputs(options))


def _conform(options: Any) -> int:
    from engine.dataflow.sim.conformance.conform import conform

    return conform(options.file, options.engine)


def _serve(options: Any) -> int:
    app = Path(__file__).resolve().parents[2] / "apps" / "explorer.py"
    if not app.exists():
        raise FuseloomError(
            f"the workbench's page {app} is not there",
            hint="run from a checkout: panel serve apps/explorer.py",
        )
    show = [] if options.no_browser else ["--show"]
    command = ["-m", "panel", "serve", str(app), "--port", str(options.port), "--num-threads", "4"]
    os.execv(sys.executable, [sys.executable, *command, *show])


def _warmup(options: Any) -> int:
    from engine.dataflow.sim.compiled import cache
    from engine.dataflow.sim.compiled.warmup import warmup as warm_up

    def report(name: str, done: int, total: int, seconds: float) -> None:
        if not options.json:
            print(f"[{done}/{total}] {name} ({seconds:.1f} s)", flush=True)

    started = time.perf_counter()
    warm_up(report)
    seconds = time.perf_counter() - started
    if options.json:
        print(json.dumps({"directory": str(cache.directory()), "seconds": seconds}))
    else:
        print(f"kernels are in {cache.directory()}")
    return 0
