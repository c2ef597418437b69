"""Interchange of graphs with the simulators that exist: SAM's DOT dialect, Comal's protobuf.

::

    imported = import_sam_text(text, shapes)   # a DOT graph, repaired where it is wrong
    export_sam(graph, tensors).text            # ... and back
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.samml.exchange.dotfile import parse_dot
from engine.samml.exchange.graph_file import graph_from_json, graph_to_json
from engine.samml.exchange.record import ExportNote, Imported, Repair, Rule, Severity
from engine.samml.exchange.sam_exact import import_marked, is_marked
from engine.samml.exchange.sam_export import SamExport, export_sam
from engine.samml.exchange.sam_file import sam_file
from engine.samml.exchange.sam_import import import_sam


def import_sam_text(
    text: str, shapes: Mapping[str, tuple[int, ...]], source: str | None = None
) -> Imported:
    """Read a graph in the DOT dialect of the Custard compiler.

    Parameters
    ----------
    shapes : mapping
        Shape of every operand, in logical order.
    source : str, optional
        Name of the file, for messages.

    Raises
    ------
    FuseloomError
        If the text is no such graph, naming line or node, rule and way out.
    """
    dot = parse_dot(text, source)
    return import_marked(dot, shapes) if is_marked(dot) else import_sam(sam_file(dot), shapes)


__all__ = [
    "ExportNote",
    "Imported",
    "Repair",
    "Rule",
    "SamExport",
    "Severity",
    "export_sam",
    "graph_from_json",
    "graph_to_json",
    "import_sam_text",
]
