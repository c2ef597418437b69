"""Interchange of graphs with the simulators that exist: SAM's DOT dialect, Comal's protobuf.

::

    imported = import_sam(text, shapes)   # a DOT graph, repaired where it is wrong
    export_sam(graph, tensors).text            # ... and back
    import_tortilla(data, folder).imported     # a protobuf graph and its folder of tensors
    export_tortilla(graph, tensors).save(path) # ... and back

``fuseloom.dataflow.sim.imported_runs.run_imported`` runs what was imported.
"""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.samml.exchange.dotfile import parse_dot
from fuseloom.dataflow.samml.exchange.graph_file import graph_from_json, graph_to_json
from fuseloom.dataflow.samml.exchange.record import (
    ExportNote,
    ImportedGraph,
    ImportRepair,
    RepairRule,
    Severity,
)
from fuseloom.dataflow.samml.exchange.sam_exact import import_marked, is_marked
from fuseloom.dataflow.samml.exchange.sam_export import SamExport, export_sam
from fuseloom.dataflow.samml.exchange.sam_file import sam_file
from fuseloom.dataflow.samml.exchange.sam_import import import_repaired
from fuseloom.dataflow.samml.exchange.tensor_folder import TensorFolder
from fuseloom.dataflow.samml.exchange.tortilla_export import TortillaExport, export_tortilla
from fuseloom.dataflow.samml.exchange.tortilla_import import TortillaImport, import_tortilla


@check_arguments
def import_sam(
    text: str, shapes: Mapping[str, tuple[int, ...]], source: str | None = None
) -> ImportedGraph:
    """Read a graph in the DOT dialect of the Custard compiler, or as it is changed for chips.

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

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmv, data = fl.load("spmv")
    >>> text = fl.export_sam(fl.compile(spmv.program).regions[0].graph, {
    ...     tensor.name: tensor for tensor in spmv.program.tensors
    ... }).text
    >>> imported = fl.import_sam(text, {"A": (8, 8), "x": (8,)})
    >>> sorted(imported.tensors), imported.repairs
    (['A', 'x'], ())
    """
    dot = parse_dot(text, source)
    return import_marked(dot, shapes) if is_marked(dot) else import_repaired(sam_file(dot), shapes)


__all__ = [
    "ExportNote",
    "ImportRepair",
    "ImportedGraph",
    "RepairRule",
    "SamExport",
    "Severity",
    "TensorFolder",
    "TortillaExport",
    "TortillaImport",
    "export_sam",
    "export_tortilla",
    "graph_from_json",
    "graph_to_json",
    "import_sam",
    "import_tortilla",
]
