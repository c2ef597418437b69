"""Runs of hardware in tests: a graph's golden model and Icarus on the same streams."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.running import HardwareRun, read_runs, run_icarus
from fuseloom.dataflow.rtl.tokens import KIND_BITS, TokenKind, encoded
from fuseloom.dataflow.rtl.verilog import emit
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import DeadlockError, SimulationError

RELATIVE = 2e-7
"""Of exp and 1/sqrt, whose units are not rounded correctly."""
Golden = EngineResult | SimulationError


def golden_run(bound: BoundGraph, machine: Machine) -> Golden:
    """What the golden models do, or the error that they report."""
    try:
        return interpreter.run(bound, machine, log=True)
    except SimulationError as problem:
        return problem


def hardware_runs(
    bound: BoundGraph, machine: Machine, folder: Path, runs: int = 1
) -> list[HardwareRun]:
    """What the hardware does, run by run."""
    project = emit(HardwareGraph(bound, machine), patience=200, runs=runs)
    return read_runs(run_icarus(project, folder))


def difference(bound: BoundGraph, golden: Golden, done: HardwareRun) -> str:
    """Describe how tokens, writes and ends differ; empty if they do not."""
    if isinstance(golden, DeadlockError):
        return "" if done.deadlocked else f"{golden} but no deadlock"
    if isinstance(golden, SimulationError):
        return "" if done.faults else f"{golden} but no fault"
    if not done.passed:
        return f"waits: {done.waiting}, faults: {done.faults}"
    for node in bound.graph.nodes:
        if node.op == "sink":
            stream = bound.graph.streams[node.inputs[0]]
            wanted = [encoded(token) for token, _ in (golden.log or {})[stream.id]]
            kinds, words = (
                done.words.get(f"node{node.id}_{part}", ()) for part in ("kind", "word")
            )
            got = [kind | word << KIND_BITS for kind, word in zip(kinds, words, strict=True)]
            if not same_tokens(wanted, got, stream.kind):
                return f"stream {stream.id}: {got} in place of {wanted}"
        for name, array in golden.outputs.get(node.id, {}).items():
            written = array[1:] if name == "seg" else array
            kind = StreamKind.VAL if name == "vals" else StreamKind.CRD
            bits = written.view(np.uint32) if name == "vals" else written
            wanted = [int(word) << KIND_BITS for word in bits]
            got = [word << KIND_BITS for word in done.words.get(f"node{node.id}_{name}", ())]
            if not same_tokens(wanted, got, kind):
                return f"{name} of node {node.id}: {got} in place of {wanted}"
    return ""


def same_tokens(wanted: list[int], got: list[int], kind: StreamKind) -> bool:
    """Whether two lists of encoded tokens are equal, values up to the rounding of units."""
    return len(wanted) == len(got) and all(
        a == b or (kind is StreamKind.VAL and _close(a, b))
        for a, b in zip(wanted, got, strict=True)
    )


def _close(wanted: int, got: int) -> bool:
    mask = (1 << KIND_BITS) - 1
    if wanted & mask != TokenKind.VALUE or got & mask != TokenKind.VALUE:
        return False
    a, b = (float(np.uint32(token >> KIND_BITS).view(np.float32)) for token in (wanted, got))
    return (a != a and b != b) or abs(a - b) <= RELATIVE * abs(a) + 2**-149


def cycles_of(bound: BoundGraph, done: HardwareRun) -> int:
    """The largest final clock of a node that does not only watch."""
    watching = {node.id for node in bound.graph.nodes if node.op == "sink"}
    return max(clock for node, clock in done.clocks.items() if node not in watching)
