"""Estimation rules: the expected output of each primitive from that of its inputs.

Coordinates of different operands are taken as independent given the coordinate; everything else
is counted, not guessed, so that skewed data (a hub entered by every neighbour) are estimated well.
Rules: ``docs/spec/estimate.md`` §6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows
from fuseloom.dataflow.cost.statistics import Floats
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.registry import Registry

Rule = Callable[[Node, tuple[Flow, ...], FlowContext], NodeFlows]
RULES: Registry[Rule] = Registry(
    "expected", "cost rule", lambda entry: {entry.name} if entry.estimated else ()
)
"""Every primitive's rule, by its name."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: this is the rule of the primitives of those names."""
    return RULES.registers(*names)


def _busiest(inputs: tuple[Flow, ...], outputs: tuple[Flow, ...]) -> float:
    """One token a cycle on the busiest port."""
    return max((f.tokens for f in (*inputs, *outputs)), default=1.0)


def plain(inputs: tuple[Flow, ...], *outputs: Flow) -> NodeFlows:
    """Outputs of a primitive that moves one token a cycle on each port."""
    return NodeFlows(outputs, _busiest(inputs, outputs))


def parent_weights(flow: Flow, level: int) -> Callable[[], Floats]:
    """Weights of the parent positions that a level is entered from."""
    references = flow.references
    if level == 0 or references is None:
        return lambda: np.array([flow.values * flow.present])
    return lambda: references.counts


def innermost_counts(shape: NestingLevel | None, levels: int) -> list[float]:
    """Elements of the innermost levels, the outermost of them first."""
    values: list[float] = []
    for _ in range(levels):
        assert shape is not None
        values.append(shape.values)
        shape = shape.above
    return values[::-1]
