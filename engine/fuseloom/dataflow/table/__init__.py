"""Fusion tables: takes a fused region and an order; gives the table whose cells say which primitive
makes which stream, its construction step by step, and edits with their legality (``fusion.md``
§3)."""

from fuseloom.dataflow.table.build import build_table
from fuseloom.dataflow.table.cells import Cell, CellKind, Column, ConstructionStep, Output
from fuseloom.dataflow.table.construction import TableStep, construction
from fuseloom.dataflow.table.edits import Edit
from fuseloom.dataflow.table.table import CellChoices, FusionTable

__all__ = [
    "Cell",
    "CellChoices",
    "CellKind",
    "Column",
    "ConstructionStep",
    "Edit",
    "FusionTable",
    "Output",
    "TableStep",
    "build_table",
    "construction",
]
