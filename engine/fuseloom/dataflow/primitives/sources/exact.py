"""Execution on coordinates: the source of every graph."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import ROOT, StreamContents
from fuseloom.dataflow.cost.exact.steps import once
from fuseloom.dataflow.samml.graph import Node


@rule("root", steps="the reference, and the end")
def _root(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((StreamContents(ROOT, np.zeros(1, dtype=np.int64)),), once(), final=1.0)
