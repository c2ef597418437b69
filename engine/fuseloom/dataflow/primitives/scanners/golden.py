"""Level scanners and locators (``docs/spec/machine.md`` §3.3 to §3.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy.typing as npt

from fuseloom.dataflow.machine.timing import search_timing
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_leaf, is_number
from fuseloom.errors import SimulationError
from fuseloom.program.levels import CompressedLevel
from fuseloom.program.storage import StoredTensor
from fuseloom.wording import counted

Fiber = Iterable[tuple[int, int]]
"""(coordinate, reference) pairs."""


def scanner(node: Process, fiber: Callable[[int], Fiber]) -> Behaviour:
    """Replace each reference by its fiber, and its stop by one a level deeper.

    The stop of a fiber waits for the next reference, because a stop that follows is merged
    into it.
    """
    (refs,) = node.inputs
    crd_out, ref_out = node.outputs
    while True:
        token = yield refs.take
        crd = ref = token
        if isinstance(token, Stop):  # closes an empty fiber of references
            crd = ref = Stop(token.level + 1)
        elif token is not DONE and not (token is EMPTY and node.quirks.scanner_forwards_empty):
            for crd, ref in fiber(token) if token is not EMPTY else ():
                yield crd_out.put(crd)
                yield ref_out.put(ref)
                node.clock += 1
            following = yield refs.peek
            crd = ref = Stop(0)
            if isinstance(following, Stop):
                yield refs.take
                crd = ref = Stop(following.level + 1)
        yield crd_out.put(crd)
        yield ref_out.put(ref)
        if token is DONE:
            return
        node.clock += 1


def stored_level(node: Node, tensor: StoredTensor) -> dict[str, npt.NDArray[Any]]:
    """Segments and coordinates of the level the node's parameter ``level`` names.

    A scanner's fibers have unique coordinates, so runs of singletons come grouped.
    """
    depth = int(node.params["level"])
    level = tensor.scanned[depth] if depth < len(tensor.levels) else None
    if not isinstance(level, CompressedLevel):
        raise SimulationError(
            f"{node.label or node.op} scans level {depth} of {node.params['tensor']}, "
            f"which is {'dense' if level else 'missing'}",
            hint="compressed scanners need compressed levels",
        )
    return {"seg": level.seg, "crd": level.crd}


@golden_model("scan", reads=stored_level)
def scan(node: Process) -> Behaviour:
    """Compressed level: the stored coordinates and their positions."""
    seg, crd = node.array("seg").tolist(), node.array("crd").tolist()

    def fiber(ref: int) -> Fiber:
        if ref + 1 >= len(seg):
            node.fail(f"reference outside the level's {counted(len(seg) - 1, 'fiber')}", ref)
        return zip(crd[seg[ref] : seg[ref + 1]], range(seg[ref], seg[ref + 1]), strict=True)

    return scanner(node, fiber)


@golden_model("dense_scan")
def dense_scan(node: Process) -> Behaviour:
    """Dense level: every coordinate, at position ``reference * dim + coordinate``."""
    dim = int(node.param("dim"))

    def fiber(ref: int) -> Fiber:
        return zip(range(dim), range(ref * dim, (ref + 1) * dim), strict=True)

    return scanner(node, fiber)


@golden_model("locate")
def locate(node: Process) -> Behaviour:
    """Find a coordinate in a dense level: ``reference * dim + coordinate``."""
    crds, refs = node.inputs
    (out,) = node.outputs
    dim = int(node.param("dim"))
    while True:
        crd = yield crds.take
        ref = yield refs.take
        if not is_leaf(crd):
            if crd != ref:
                node.fail("coordinate and reference disagree", crd, ref)
            yield out.put(crd)
        else:
            if not is_leaf(ref):
                node.fail("coordinate and reference disagree", crd, ref)
            absent = crd is EMPTY or ref is EMPTY
            yield out.put(EMPTY if absent else ref * dim + crd)
        if crd is DONE:
            return
        node.clock += 1


@golden_model("search", reads=stored_level)
def search(node: Process) -> Behaviour:
    """Of the coordinates given for each reference, those its fiber stores, and their positions.

    Every coordinate given takes the same time, whether it is found or not.
    """
    refs, crds = node.inputs
    crd_out, ref_out = node.outputs
    seg, crd = node.array("seg").tolist(), node.array("crd").tolist()
    timing = search_timing(node.machine)
    while True:
        ref = yield refs.take
        fiber: dict[int, int] = {}
        if is_number(ref):
            if not 0 <= ref < len(seg) - 1:
                node.fail(f"reference outside the level's {counted(len(seg) - 1, 'fiber')}", ref)
            fiber = {crd[at]: at for at in range(seg[ref], seg[ref + 1])}
        wanted = yield crds.take
        while is_leaf(ref) and is_number(wanted):
            if wanted in fiber:
                when = node.clock + timing.latency
                yield crd_out.put(wanted, at=when)
                yield ref_out.put(fiber[wanted], at=when)
            node.clock += timing.interval
            wanted = yield crds.take
        if is_leaf(ref):
            stop = isinstance(wanted, Stop) and wanted.level == 0
            if not stop:  # the last fiber of several: their own end comes with it
                closing = yield refs.take
                stop = _one_deeper(closing, wanted)
        else:
            stop = (ref is DONE and wanted is DONE) or _one_deeper(ref, wanted)
        if not stop:
            node.fail("references and coordinates disagree on where fibers end", ref, wanted)
        yield crd_out.put(wanted)
        yield ref_out.put(wanted)
        if wanted is DONE:
            return
        node.clock += timing.interval


def _one_deeper(outer: Any, inner: Any) -> bool:
    """Return whether a stop ends what another one ends, one level deeper."""
    return isinstance(outer, Stop) and isinstance(inner, Stop) and inner.level == outer.level + 1


@golden_model("sam_locate")
def sam_locate(node: Process) -> Behaviour:
    """Pass the coordinate as the reference, the reference and the coordinate."""
    refs, crds = node.inputs
    located, ref_out, crd_out = node.outputs
    while True:
        ref = yield refs.take
        crd = yield crds.take
        yield located.put(crd)
        yield ref_out.put(ref)
        yield crd_out.put(crd)
        if ref is DONE:
            return
        node.clock += 1
