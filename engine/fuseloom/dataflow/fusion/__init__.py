"""Fusion: takes a program and a schedule; gives fused regions, each with the partial order graph of
its indices, from which every legal dataflow order follows (``fusion.md`` §1, §2, §5)."""

from fuseloom.dataflow.fusion.classes import NestClass, nest_classes
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.pog import Edge, EdgeOrigin, PartialOrderGraph
from fuseloom.dataflow.fusion.region import FusedRegion, RegionOptions
from fuseloom.dataflow.fusion.repair import Repair, RepairKind
from fuseloom.dataflow.fusion.schedule import Schedule

__all__ = [
    "Edge",
    "EdgeOrigin",
    "FusedRegion",
    "NestClass",
    "PartialOrderGraph",
    "RegionOptions",
    "Repair",
    "RepairKind",
    "Schedule",
    "fuse",
    "nest_classes",
]
