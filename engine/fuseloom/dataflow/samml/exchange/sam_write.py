"""The writers of SAM graphs: results, level by level, and what is left out before they write."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuseloom.dataflow.samml.exchange.presence import PresenceClauses
from fuseloom.dataflow.samml.exchange.record import RepairRule
from fuseloom.dataflow.samml.exchange.sam_build import CRD, VAL, SamBuild
from fuseloom.dataflow.samml.exchange.sam_file import SamNode, SamTensor
from fuseloom.dataflow.samml.exchange.streams import maybe_empty, outer_beside, peel
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput
from fuseloom.errors import GraphError
from fuseloom.program.formats import Format
from fuseloom.program.types import Tensor


@dataclass
class WrittenSamTensor:
    """The written parts of a tensor: coordinates and node by dimension, and the values."""

    levels: dict[int, tuple[DraftOutput, SamNode]] = field(default_factory=dict)
    values: tuple[DraftOutput, SamNode] | None = None


def collect(build: SamBuild, node: SamNode, into: dict[str, WrittenSamTensor]) -> None:
    """Note what a writer writes.

    Raises
    ------
    GraphError
        If two write the same.
    """
    written = into.setdefault(node.get("tensor"), WrittenSamTensor())
    if node.get("mode") == "vals":
        if written.values is not None:
            raise GraphError(f"{node.title} writes values that another writer writes too",
                             hint="leave one of them out")  # fmt: skip
        written.values = build.wire(build.one(node, VAL)), node
        return
    mode = node.number("mode")
    if mode in written.levels:
        raise GraphError(f"{node.title} writes a level that another writer writes too",
                         hint="leave one of them out")  # fmt: skip
    written.levels[mode] = build.wire(build.one(node, CRD)), node


def write(build: SamBuild, everything: dict[str, WrittenSamTensor]) -> tuple[Tensor, ...]:
    """Build the writers of the results, droppers before them where levels may be empty.

    Raises
    ------
    GraphError
        If a tensor that is written is not declared, or a part of a result is missing.
    """
    results = {
        tensor.name: tensor
        for k, tensor in enumerate(build.file.results)
        if not k or everything[tensor.name].values is not None
    }
    for name, written in everything.items():
        node = written.values[1] if written.values else next(iter(written.levels.values()))[1]
        if name not in results and written.values is None:
            build.repair(RepairRule.R9, node, f"leave out the levels of {name}")
        elif name not in results:
            raise GraphError(
                f"{node.title} writes {name}, the graph's result is {build.file.results[0].name}",
                hint="the graph's comment lists the result first, and every other one",
            )
    return tuple(
        _write(build, tensor, everything.get(tensor.name, WrittenSamTensor()))
        for tensor in results.values()
    )


def _write(build: SamBuild, result: SamTensor, written: WrittenSamTensor) -> Tensor:
    order = result.format.mode_order
    for mode, (_, node) in written.levels.items():
        if mode >= result.rank:
            raise GraphError(
                f"{node.title} writes dimension {mode} of {result.name}, which has {result.rank}",
                hint="dimensions are counted from 0; the graph's comment has a letter for each",
            )
    missing = [k for k in range(result.rank) if order[k] not in written.levels]
    if missing or written.values is None:
        what = f"level {missing[0]}" if missing else "the values"
        raise GraphError(f"no node writes {what} of the result {result.name}",
                         hint="a fiberwrite per level and one with mode=vals")  # fmt: skip
    crds = [written.levels[mode][0] for mode in order]
    nodes = [written.levels[mode][1] for mode in order]
    val, node = written.values
    if crds and _is_absent(build, val):
        val, crds[-1] = build.wiring.add("valdrop", (val, crds[-1]), label="drop absent values")
        build.repair(RepairRule.R12, node, "drop values no operand of which is there")
    for k in range(result.rank - 2, -1, -1):
        _drop_empty(build, crds, k, nodes[k])
    shape = [0] * result.rank
    for k, crd in enumerate(crds):
        shape[order[k]] = _size(build, crd, nodes[k])
        build.add(nodes[k], "crdwrite", (crd,), params={"tensor": result.name, "level": k})
    build.add(node, "valwrite", (val,), params={"tensor": result.name})
    return Tensor(result.name, tuple(shape), Format.compressed(result.rank, order))


def _is_absent(build: SamBuild, val: DraftOutput) -> bool:
    return bool(PresenceClauses(build.wiring.parts).of(val))


def _drop_empty(build: SamBuild, crds: list[DraftOutput], k: int, node: SamNode) -> None:
    """Drop the coordinates of level ``k`` whose fiber is empty, where the file does not."""
    inner, drop = crds[k + 1], peel(crds[k])
    while drop.part.op == "crddrop" and drop.port == 1:
        if peel(drop.part.inputs[0]) == peel(inner):
            return
        drop = peel(drop.part.inputs[1])
    outer = outer_beside(inner, crds[k])
    if not maybe_empty(inner) and outer == crds[k]:
        return
    index = node.attributes.get("index", "")
    label = f"drop empty {index}"
    crds[k + 1], crds[k] = build.wiring.add("crddrop", (inner, outer), label=label)
    build.repair(RepairRule.R6, node, f"drop coordinates of {index} whose fiber is empty")


def _size(build: SamBuild, crd: DraftOutput, node: SamNode) -> int:
    size = build.size(crd)
    if size is None:
        raise GraphError(
            f"{node.title} writes coordinates that come from no lookup, so their number is unknown",
            hint="write the coordinates of a fiberlookup",
        )
    return size
