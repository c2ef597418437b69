"""The analytical cost of a compiled program: tokens, FLOPs, bytes and cycles, without a run.

A region's graph is executed on coordinates alone, which gives what every node has to do, exactly;
when it is done follows from a max-plus recurrence over the outermost index.  Where executing takes
too much, statistics must do.  Source: ``fusion.md`` §6 and the design of the estimate; §5.4 of the
paper uses an estimate to prune the design space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.dataflow.compiler import Compilation, CompiledRegion
from engine.dataflow.cost.exact.execution import Budget, Execution, TooLargeError, execute
from engine.dataflow.cost.exact.patterns import UnknownError
from engine.dataflow.cost.exact.timing import Timed, timed
from engine.dataflow.cost.known import Known, Mode
from engine.dataflow.cost.metadata import from_metadata
from engine.dataflow.cost.numbers import Estimate, NodeEstimate, RegionEstimate
from engine.dataflow.fusion.repair import traffic
from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.work import node_bytes, node_flops
from engine.dataflow.sim.machine import Machine
from engine.errors import DataError
from engine.program.storage import check_data

__all__ = [
    "Estimate",
    "Known",
    "Mode",
    "NodeEstimate",
    "RegionEstimate",
    "estimate",
    "estimate_region",
]


def estimate(
    compilation: Compilation,
    data: Mapping[str, Any],
    *,
    mode: Mode | str = Mode.AUTO,
    machine: Machine | None = None,
) -> Estimate:
    """Estimate the cost of a compiled program on data, region by region.

    Parameters
    ----------
    data : mapping
        Every input by name, as for ``simulate``; only its coordinates matter.
    mode : Mode or str
        ``exact``: execute every region on coordinates; ``metadata``: statistics only; ``auto``:
        exact where that takes some tenths of a second at most.
    machine : Machine, optional
        Whose latencies and intervals count.  Channels are taken as unbounded and memory as ideal.

    Raises
    ------
    DataError
        If the data do not fit the program, or an exact estimate would take too much.
    """
    known = Known(compilation.program, check_data(compilation.program, data), mode, machine)
    return Estimate(tuple(estimate_region(region, known) for region in compilation.regions))


def estimate_region(region: CompiledRegion, known: Known) -> RegionEstimate:
    """Estimate one region and note in ``known`` what it writes, or is expected to write.

    Raises
    ------
    LoweringError
        If a primitive has no rule.
    DataError
        If the mode is exact, and that would take too much.
    """
    executed = _executed(region, known)
    if executed is None:
        nodes, cycles = from_metadata(region, known)
        least, mode = None, Mode.METADATA
    else:
        known.patterns.note(executed)
        when = timed(executed, known.machine)
        nodes, cycles = _numbers(executed, when), when.cycles
        least, mode = timed(executed, known.machine, bound=True).cycles, Mode.EXACT
    copied = sum(
        traffic(region.region.program.tensor(name), known.elements(name)) for name in region.copies
    )
    flops, moved = sum(n.flops for n in nodes), sum(n.bytes for n in nodes) + copied
    return RegionEstimate(region.name, cycles, flops, moved, nodes, mode, least)


def _executed(region: CompiledRegion, known: Known) -> Execution | None:
    """The region executed on coordinates; None where that is not possible."""
    if known.mode is Mode.METADATA or not known.reads_known(region.graph):
        return None
    try:
        return execute(region.graph, known.patterns, known.memo, Budget(known.budget))
    except TooLargeError:
        if known.mode is Mode.EXACT:
            raise DataError(
                f"an exact estimate of region {region.name} makes more than {known.budget:,.0f} "
                "elements",
                hint="estimate from statistics, with mode metadata",
            ) from None
        return None
    except UnknownError:
        return None


def _numbers(executed: Execution, when: Timed) -> tuple[NodeEstimate, ...]:
    """What every node does, by the counts of its streams."""
    graph = executed.graph
    numbers = []
    for node in graph.nodes:
        inputs = [executed.streams[s] for s in node.inputs]
        outputs = [executed.streams[s] for s in node.outputs if s is not None]
        taken = [c.values.total for c in inputs]
        made = max((c.values.total for c in outputs), default=0.0)
        fibers = inputs[0].nest.filled.total if primitive(node.op).memory.writes_level else 0.0
        numbers.append(
            NodeEstimate(
                node.id,
                max((c.tokens.total + 1.0 for c in outputs or inputs), default=0.0),
                when.work[node.id],
                node_flops(node, taken, made),
                node_bytes(node, taken, made, fibers),
                when.ends[node.id],
            )
        )
    return tuple(numbers)
