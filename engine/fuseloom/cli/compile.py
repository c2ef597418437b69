"""``fuseloom compile``: a program's regions, tables and graphs; ``--export`` writes files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, print_json
from fuseloom.cli.inputs import compilation, inputs, program_options
from fuseloom.cli.machine import sized
from fuseloom.dataflow.compilation import CompiledRegion, passes_text
from fuseloom.dataflow.fusion.pog import count_text
from fuseloom.program.formats import format_text
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.documents import CompilationDocument
    from fuseloom.cli.region_documents import CompiledRegionData


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    parser.add_argument(
        "--show",
        choices=["summary", "regions", "schedule", "table", "graph", "dot", "passes"],
        default="summary",
        help="what to print (default: %(default)s); schedule: every region and its order named, "
        "which --schedule takes",
    )
    parser.add_argument(
        "--passes",
        type=lambda text: [name for name in text.split(",") if name],
        metavar="NAME,...",
        help="run these passes over each graph, in this order, and no others; --show passes "
        "lists them and what each did",
    )
    parser.add_argument(
        "--export",
        choices=["sam", "tortilla", "json"],
        help="write graphs for other tools: SAM's DOT dialect, Comal's protobuf (a folder with "
        "op.bin and the tensors), or our own JSON",
    )
    parser.add_argument(
        "--output", type=Path, metavar="PATH", help="where to; several regions get -1, -2, ..."
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse to export what other tools cannot run"
    )


def _run(options: Any) -> int:
    with_data = options.data is not None or options.tensors is not None
    given = inputs(options) if with_data else compilation(options)
    compiled = given.compilation
    if options.passes is not None:
        compiled = sized(options, compiled.with_passes(options.passes))
    if options.export or options.output or options.strict:
        from fuseloom.cli.export import export

        return export(options, compiled, given.data)
    if options.json:
        content: CompilationDocument = {
            "name": compiled.program.name,
            "schedule": str(compiled.resolved),
            "data": given.source,
            "stored": {name: format_text(fmt) for name, fmt in compiled.dense_levels.items()},
            "regions": [_as_json(region) for region in compiled.regions],
        }
        print_json(DocumentKind.COMPILATION, content)
        return 0
    print(given.heading, end="")
    if options.show == "schedule":
        print(str(compiled.resolved).replace("; ", "\n"))
        return 0
    if options.show == "passes":
        print(passes_text(compiled))
        return 0
    for region in compiled.regions:
        print(_shown(region, options.show))
    if options.show == "summary":
        for name, fmt in compiled.dense_levels.items():
            print(f"{name} is stored {format_text(fmt)}")
    return 0


def _as_json(region: CompiledRegion) -> CompiledRegionData:
    return {
        "name": region.name,
        "order": region.order,
        "recomputed": region.recomputed,
        "region": json.loads(region.region.to_json()),
        "table": json.loads(region.table.to_json()),
        "graph": json.loads(region.graph.to_json()),
        "passes": [
            {"name": change.name, "nodes": change.nodes, "streams": change.streams}
            for change in region.changes
        ],
    }


def _shown(region: CompiledRegion, what: str) -> str:
    match what:
        case "regions":
            return str(region.region)
        case "table":
            return f"{region.name}\n{region.table}\n"
        case "graph":
            return str(region.graph)
        case "dot":
            from fuseloom.dataflow.samml.dot import to_dot

            return str(to_dot(region.graph).source)
    order, nodes = ",".join(region.order), len(region.graph.nodes)
    again = ", ".join(f"{name} {times} times" for name, times in region.recomputed.items())
    return (
        f"{region.name}: order {order} (of {count_text(region.legal_orders)}), "
        f"{counted(nodes, 'node')}"
        f"{f', computes {again}' if again else ''}"
    )


COMPILE = Command(_declare, _run)
