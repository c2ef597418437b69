"""``fuseloom compile --export``: our graphs in the files of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import check_folder, print_json
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.samml.exchange import export_sam, export_tortilla, graph_to_json
from fuseloom.errors import GraphError
from fuseloom.program import regular_files
from fuseloom.program.storage import StoredTensor
from fuseloom.results.document import DocumentKind

if TYPE_CHECKING:
    from fuseloom.cli.documents import ExportDocument


@dataclass(frozen=True)
class _Written:
    """One region's files, ready to be written."""

    region: str
    path: Path
    notes: tuple[str, ...]
    write: Callable[[], None]


def export(options: Any, compilation: Compilation, data: Mapping[str, StoredTensor]) -> int:
    """Write the graphs of a compiled program as ``--export`` and ``--output`` say.

    Nothing is written if one of them cannot be.
    """
    if options.export is None or options.output is None:
        raise GraphError("--export and --output go together",
                         hint="--export sam --output graph.gv")  # fmt: skip
    check_folder(options.output)
    if data and options.export == "tortilla" and len(compilation.regions) > 1:
        from fuseloom.dataflow.sim.program_runs import simulate

        data = {**data, **simulate(compilation, data).outputs}  # later regions read earlier ones'
    files = [
        _exported(options, compilation, number, data) for number in range(len(compilation.regions))
    ]
    for file in files:
        file.write()
        if not options.json:
            print(f"{file.region}: {file.path}")
            for note in file.notes:
                print(f"  {note}")
    if options.json:
        content: ExportDocument = {
            "format": options.export,
            "written": [{"region": f.region, "path": str(f.path), "notes": f.notes} for f in files],
        }
        print_json(DocumentKind.EXPORT, content)
    return 0


def _exported(
    options: Any, compilation: Compilation, number: int, data: Mapping[str, StoredTensor]
) -> _Written:
    region, tensors = compilation.regions[number], compilation.program.by_name
    path: Path = options.output
    if len(compilation.regions) > 1:
        path = path.with_name(f"{path.stem}-{number + 1}{path.suffix}")
    match options.export:
        case "sam":
            sam = export_sam(region.graph, tensors, strict=options.strict)
            content, notes = sam.text.encode(), sam.notes
        case "tortilla":
            made = export_tortilla(region.graph, tensors)
            if options.strict and made.warnings:
                raise GraphError(str(made.warnings[0]), hint="leave out --strict")
            texts = tuple(map(str, made.notes))
            return _Written(region.name, path, texts, lambda: made.save(path, data))
        case _:
            content, notes = graph_to_json(region.graph, tensors).encode(), ()
    return _Written(
        region.name, path, tuple(map(str, notes)), lambda: regular_files.write_bytes(path, content)
    )
