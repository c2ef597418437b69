"""Primitives as the reference has them when its memory is modelled (``docs/spec/comal.md`` §4).

They stand still whenever they ask the memory, and ask for eight words at most.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.machine.timing import load_timing
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.golden.values import ZERO
from fuseloom.dataflow.sim.process import Behaviour, Process, Request, RequestPort
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_number
from fuseloom.wording import counted


def stall(node: Process, port: RequestPort, words: int) -> Generator[Request, Any, None]:
    """Ask for words and stand still until all have come."""
    access = yield port.issue(port.base, words)
    when = yield port.answer(access)
    node.wait_memory(when)


@golden_model("stalling_scan")
def scan(node: Process) -> Behaviour:
    """Two segment ends per fiber, then its coordinates, eight at a time, which leave together."""
    (refs,) = node.inputs
    crd_out, ref_out = node.outputs
    segments, coordinates = node.ports
    seg, crd = node.array("seg").tolist(), node.array("crd").tolist()
    while True:
        token = yield refs.take
        closing = token
        if isinstance(token, Stop):
            closing = Stop(token.level + 1)
        elif token is not DONE and not (token is EMPTY and node.quirks.scanner_forwards_empty):
            if token is not EMPTY:
                if not 0 <= token < len(seg) - 1:
                    node.fail(
                        f"reference outside the level's {counted(len(seg) - 1, 'fiber')}", token
                    )
                yield from stall(node, segments, 2)
                for first in range(seg[token], seg[token + 1], BUNDLE):
                    bundle = range(first, min(first + BUNDLE, seg[token + 1]))
                    yield from stall(node, coordinates, len(bundle))
                    for position in bundle:
                        yield crd_out.put(crd[position])
                        yield ref_out.put(position)
            following = yield refs.peek
            closing = Stop(0)
            if isinstance(following, Stop):
                yield refs.take
                closing = Stop(following.level + 1)
        yield crd_out.put(closing)
        yield ref_out.put(closing)
        if token is DONE:
            return
        node.clock += 1


@golden_model("stalling_array")
def array(node: Process) -> Behaviour:
    """Gather references; the eighth, or any other token, has their values loaded."""
    (refs,) = node.inputs
    (out,) = node.outputs
    (port,) = node.ports
    stored: list[Any] = list(node.array("vals").astype(ZERO.dtype, copy=False))
    timing = load_timing(node.node, node.machine)
    gathered: list[int] = []
    while True:
        token = yield refs.take
        if is_number(token):
            if not 0 <= token < len(stored):
                node.fail(f"reference outside the {counted(len(stored), 'stored value')}", token)
            gathered.append(token)
        if gathered and (len(gathered) == BUNDLE or not is_number(token)):
            yield from stall(node, port, len(gathered))
            latency = timing.latency if is_number(token) else 1
            for ref in gathered:
                yield out.put(stored[ref], at=node.clock + latency)
            gathered.clear()
        if not is_number(token):
            blank = token is EMPTY and node.quirks.array_loads_zero
            yield out.put(ZERO if blank else token)
            if token is DONE:
                return
        node.clock += timing.interval


@golden_model("stalling_crdwrite")
def crdwrite(node: Process) -> Behaviour:
    """Write coordinates and segment ends, eight at a time; what has no use writes all at hand."""
    (crds,) = node.inputs
    coordinates, segments = node.ports
    crd = node.written["crd"] = []
    seg = node.written["seg"] = [0]
    fiber_open = node.quirks.writer_records_leading_empty
    held_crd = held_seg = 0
    while True:
        token = yield crds.take
        if is_number(token):
            crd.append(token)
            fiber_open = True
            held_crd += 1
            if held_crd == BUNDLE:
                yield from stall(node, coordinates, held_crd)
                held_crd = 0
        elif isinstance(token, Stop) and fiber_open:
            seg.append(len(crd))
            fiber_open = False
            held_seg += 1
            if held_seg == BUNDLE:
                yield from stall(node, segments, held_seg)
                held_seg = 0
        else:
            if held_crd:
                yield from stall(node, coordinates, held_crd)
            if held_seg:
                yield from stall(node, segments, held_seg)
            held_crd = held_seg = 0
            if token is DONE:
                return
            continue
        node.clock += 1


@golden_model("stalling_valwrite")
def valwrite(node: Process) -> Behaviour:
    """Write one value at a time."""
    (values,) = node.inputs
    (port,) = node.ports
    vals = node.written["vals"] = []
    while True:
        token = yield values.take
        if token is DONE:
            node.clock += 1
            return
        if is_number(token):
            vals.append(token)
            yield from stall(node, port, 1)
            node.clock += 1
