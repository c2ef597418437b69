"""Fusion tables: takes a fused region and an order; gives the table whose cells say which primitive
makes which stream, its construction step by step, and edits with their legality (``fusion.md``
§3)."""

from engine.dataflow.table.build import build_table
from engine.dataflow.table.cells import Cell, CellKind, Column, Output, Step
from engine.dataflow.table.construction import TableStep, construction
from engine.dataflow.table.edits import Edit
from engine.dataflow.table.table import CellChoices, FusionTable

__all__ = [
    "Cell",
    "CellChoices",
    "CellKind",
    "Column",
    "Edit",
    "FusionTable",
    "Output",
    "Step",
    "TableStep",
    "build_table",
    "construction",
]
