"""Passes: functions from a graph to a graph that computes the same, one module per pass.

:data:`PASSES` is the table of those that users can name; compiling runs the ones that stand there
by default, in its order.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.samml.passes.cleanup import (
    clean,
    collapse_joiners,
    has_repeated_operands,
    share_common_nodes,
    without_dead_nodes,
)
from fuseloom.dataflow.samml.passes.lookups import insert_locators, remove_locators
from fuseloom.dataflow.samml.passes.parallelise import apply_parallel
from fuseloom.dataflow.samml.passes.pipeline import (
    Pass,
    PassChange,
    PassStage,
    Setting,
    run_passes,
    selected,
)

__all__ = ["PASSES", "Pass", "PassChange", "PassStage", "Setting", "run_passes", "selected"]

_TABLE = (
    Pass(
        "clean",
        "collapse-joiners, share-common-nodes and remove-dead-nodes, until nothing changes",
        PassStage.DEFAULT,
        lambda graph, setting: clean(graph),
        idle=lambda graph: not has_repeated_operands(graph),
    ),
    Pass(
        "parallelise",
        "deal the elements of indices to lanes, as 'parallel' in the schedule says",
        PassStage.DEFAULT,
        lambda graph, setting: apply_parallel(graph, setting.lanes),
        required=lambda setting: any(lanes > 1 for _, lanes in setting.lanes),
    ),
    Pass(
        "collapse-joiners",
        "take operands away from joiners that add nothing",
        PassStage.ON_REQUEST,
        lambda graph, setting: collapse_joiners(graph),
    ),
    Pass(
        "share-common-nodes",
        "make nodes that do the same with the same inputs one node",
        PassStage.ON_REQUEST,
        lambda graph, setting: share_common_nodes(graph),
    ),
    Pass(
        "remove-dead-nodes",
        "leave out what no writer needs",
        PassStage.ON_REQUEST,
        lambda graph, setting: without_dead_nodes(graph),
    ),
    Pass(
        "insert-locators",
        "look dense operands of intersecters up instead of scanning and joining them",
        PassStage.ON_REQUEST,
        lambda graph, setting: insert_locators(graph),
    ),
    Pass(
        "remove-locators",
        "scan dense levels and intersect with them instead of looking them up",
        PassStage.ON_REQUEST,
        lambda graph, setting: remove_locators(graph),
    ),
    Pass(
        "size-buffers",
        "give every channel a capacity with which no data can deadlock the graph",
        PassStage.LAST,
        lambda graph, setting: size_buffers(graph, setting.extents()),
    ),
)

PASSES: Mapping[str, Pass] = MappingProxyType({each.name: each for each in _TABLE})
"""All passes by name, those of the default pipeline first."""
