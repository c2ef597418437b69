"""Fusion: takes a program and a schedule; gives fused regions, each with the partial order graph of
its indices, from which every legal dataflow order follows (``fusion.md`` §1, §2, §5)."""

from engine.dataflow.fusion.classes import NestClass, nest_classes
from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.pog import Edge, Origin, PartialOrderGraph
from engine.dataflow.fusion.region import FusedRegion, RegionOptions
from engine.dataflow.fusion.repair import Repair, RepairKind
from engine.dataflow.fusion.schedule import Schedule

__all__ = [
    "Edge",
    "FusedRegion",
    "NestClass",
    "Origin",
    "PartialOrderGraph",
    "RegionOptions",
    "Repair",
    "RepairKind",
    "Schedule",
    "fuse",
    "nest_classes",
]
