"""``fuseloom rtl``: a compiled program as Verilog, run and compared with the simulator."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, check_folder, positive, print_json
from fuseloom.cli.inputs import inputs, program_options
from fuseloom.dataflow.rtl import require_amaranth
from fuseloom.errors import GraphError, SimulationError, UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.cli.rtl_documents import (
        AreaData,
        RegionAreaData,
        RegionHardwareData,
        RegionRunData,
        RtlDocument,
    )
    from fuseloom.dataflow.rtl.whole_programs import RegionComparison, RegionHardware, Runner
    from fuseloom.dataflow.sim.program_runs import Run

SIMULATORS = ("verilator", "icarus")
_TABLE = (
    TextColumn("region"),
    TextColumn("nodes", align=Align.RIGHT),
    TextColumn("modules", align=Align.RIGHT),
    TextColumn("channels, tokens", align=Align.RIGHT),
    TextColumn("memories, bits", align=Align.RIGHT),
    TextColumn("LUTs", align=Align.RIGHT),
    TextColumn("simulated", align=Align.RIGHT),
    TextColumn("hardware, cycles", align=Align.RIGHT),
    TextColumn("largest error", align=Align.RIGHT),
)


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    parser.set_defaults(machine="rtl", capacity="sized")
    parser.add_argument(
        "--output", type=Path, metavar="DIR",
        help="write the Verilog, the memory images and the test bench of each region there",
    )  # fmt: skip
    parser.add_argument(
        "--run", action="store_true", dest="runs",
        help="run the hardware and compare it with the simulator",
    )  # fmt: skip
    parser.add_argument(
        "--simulator", choices=SIMULATORS,
        help="with --run: Verilator, which compiles for seconds and runs fast, or Icarus Verilog "
        "(default: what is installed, Icarus first)",
    )  # fmt: skip
    parser.add_argument(
        "--block-ram", type=positive, metavar="N",
        help="block memories of 36 kbit of the device: refuse a region whose arrays need more",
    )  # fmt: skip


def _run(options: Any) -> int:
    if options.output is None and not options.runs:
        raise UsageError("nothing to do", hint="give --output DIR, --run or both")
    if options.simulator and not options.runs:
        raise UsageError("--simulator goes with --run", hint="add --run")
    if options.output is not None:
        check_folder(options.output)
    require_amaranth()
    from fuseloom.dataflow.rtl.whole_programs import hardware_of
    from fuseloom.dataflow.sim.program_runs import simulate

    simulator = _simulator(options) if options.runs else None
    given = inputs(options)
    run = simulate(given.compilation, given.data, given.machine)
    regions: list[RegionHardwareData] = []
    with _folder(options.output) as folder:
        for number, region in enumerate(hardware_of(run)):
            if options.block_ram is not None:
                _check_block_memories(region, options.block_ram)
            place = folder / _name(number, region.name)
            regions.append(_done(options, region, place, simulator))
            if not options.json:
                print(f"{region.name}: done", file=sys.stderr)
    content = _content(run, simulator, regions)
    if options.json:
        print_json(DocumentKind.RTL, content)
    else:
        _print(content)
    return 0 if all(region["run"] is None or region["run"]["passed"] for region in regions) else 1


def _simulator(options: Any) -> str:
    """The simulator of Verilog to run.

    Raises
    ------
    SimulationError
        If none is installed.
    """
    from fuseloom.dataflow.rtl.running import INSTALL, tool

    if options.simulator is not None:
        tool("iverilog" if options.simulator == "icarus" else options.simulator)
        return str(options.simulator)
    for name, program in (("icarus", "iverilog"), ("verilator", "verilator")):
        if shutil.which(program) is not None:
            return name
    raise SimulationError("neither Icarus Verilog nor Verilator is installed", hint=INSTALL)


@contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """The folder of the files: the one that was given, or one for the time being."""
    if output is not None:
        yield output
        return
    with tempfile.TemporaryDirectory(prefix="fuseloom-rtl-") as made:
        yield Path(made)


def _name(number: int, region: str) -> str:
    """The folder of a region, which any file system takes."""
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in region)
    return f"{number:02d}_{kept[:40]}"


def _done(
    options: Any, region: RegionHardware, folder: Path, simulator: str | None
) -> RegionHardwareData:
    from fuseloom.dataflow.rtl.running import run_icarus, run_verilator
    from fuseloom.dataflow.rtl.whole_programs import run_hardware

    compared = None
    if simulator is None:
        region.project.write(folder)
    else:
        runner: Runner = run_icarus if simulator == "icarus" else run_verilator
        compared = run_hardware(region, folder, runner)
    graph = region.graph
    streams = graph.bound.graph.streams
    return {
        "name": region.name,
        "nodes": len(graph.units),
        "modules": len(graph.library),
        "memory_bits": sum(image.bits for image in graph.images),
        "channel_tokens": sum(stream.capacity or 0 for stream in streams),
        "area": _area(region),
        "folder": str(folder) if options.output is not None else None,
        "run": None if compared is None else _run_data(compared),
    }


def _check_block_memories(region: RegionHardware, available: int) -> None:
    """Check that the arrays of a region find room in the block memories of a device.

    Raises
    ------
    GraphError
        If not, with the number that they need.
    """
    from fuseloom.dataflow.rtl.area import memory_areas
    from fuseloom.dataflow.rtl.memories import check_block_memories

    areas = memory_areas(region.graph, region.written)
    needed = {name: area.block_rams for name, area in areas.items()}
    check_block_memories(f"region {region.name}", needed, available)


def _area(region: RegionHardware) -> RegionAreaData | None:
    from fuseloom.dataflow.rtl.area import graph_area

    try:
        area = graph_area(region.graph, written=region.written)
    except GraphError as problem:
        print(f"no area: {problem}", file=sys.stderr)
        return None
    total = area.total
    return {
        "luts": round(total.luts),
        "flip_flops": round(total.flip_flops),
        "block_rams": ceil(total.block_rams),
        "dsps": round(total.dsps),
        "channel_luts": round(sum(channel.luts for channel in area.channels.values())),
    }


def _total_area(regions: list[RegionHardwareData]) -> AreaData | None:
    """The area of all regions, if it is known."""
    areas = [region["area"] for region in regions if region["area"] is not None]
    if len(areas) < len(regions):
        return None
    return {
        "luts": sum(area["luts"] for area in areas),
        "flip_flops": sum(area["flip_flops"] for area in areas),
        "block_rams": sum(area["block_rams"] for area in areas),
        "dsps": sum(area["dsps"] for area in areas),
    }


def _run_data(compared: RegionComparison) -> RegionRunData:
    return {
        "cycles": compared.cycles,
        "simulated": compared.simulated,
        "passed": compared.done.passed,
        "max_rel_error": compared.error,
        "differences": [
            {
                "node": one.node,
                "label": one.label,
                "simulated": one.simulated,
                "hardware": one.hardware,
            }
            for one in compared.differences
        ],
    }


def _content(run: Run, simulator: str | None, regions: list[RegionHardwareData]) -> RtlDocument:
    done = [region["run"] for region in regions if region["run"] is not None]
    errors = [one["max_rel_error"] for one in done]
    known: list[float] = [error for error in errors if error is not None]
    return {
        "program": run.compilation.program.name,
        "machine": run.machine.name,
        "simulator": simulator,
        "cycles": sum(one["cycles"] for one in done) if done else None,
        "simulated": run.cycles,
        "max_rel_error": max(known) if known and len(known) == len(errors) else None,
        "area": _total_area(regions),
        "regions": regions,
    }


def _print(content: RtlDocument) -> None:
    rows = []
    for region in content["regions"]:
        run = region["run"]
        shown = ("", "", "")
        if run is not None:
            error = (
                "coordinates differ"
                if run["max_rel_error"] is None
                else f"{run['max_rel_error']:.1e}"
            )
            shown = (grouped(run["simulated"]), grouped(run["cycles"]), error)
        rows.append(
            (
                region["name"],
                grouped(region["nodes"]),
                grouped(region["modules"]),
                grouped(region["channel_tokens"]),
                grouped(region["memory_bits"]),
                grouped(round(region["area"]["luts"])) if region["area"] is not None else "unknown",
                *shown,
            )
        )
    print("\n".join(text_table(_TABLE, rows)))
    folders = [region["folder"] for region in content["regions"] if region["folder"] is not None]
    if folders:
        print(f"{counted(len(folders), 'folder')}, the first {folders[0]}; each has a README")
    area = content["area"]
    if area is not None:
        print(
            f"area: {counted(round(area['luts']), 'LUT')}, "
            f"{counted(round(area['flip_flops']), 'flip-flop')}, "
            f"{grouped(round(area['block_rams']))} block memories of 36 kbit, "
            f"{counted(round(area['dsps']), 'multiplier')}"
        )
    if content["cycles"] is not None:
        wrong = [r["name"] for r in content["regions"] if r["run"] and not r["run"]["passed"]]
        verdict = f"wrong: {', '.join(wrong)}" if wrong else "all as in the simulator"
        print(
            f"{grouped(content['cycles'])} cycles by {content['simulator']}, "
            f"{grouped(content['simulated'])} simulated; {verdict}"
        )


RTL = Command(_declare, _run)
