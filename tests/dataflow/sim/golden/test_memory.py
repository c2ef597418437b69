"""The memory of a run of golden models: whose answers wake whom."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.dram import Ideal
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.golden.memory import Attached
from fuseloom.dataflow.sim.process import MemoryRequest, RequestPort

LATENCY = 7
MACHINE = replace(Machine.default(), memory=Ideal(latency=LATENCY))


def attached(ports: int = 2) -> Attached:
    made = Attached.of(MACHINE, ports)
    assert made is not None
    return made


def test_without_a_memory_or_ports_there_is_nothing_to_ask() -> None:
    assert Attached.of(Machine.default(), 3) is None
    assert Attached.of(MACHINE, 0) is None


def test_answers_wake_the_nodes_that_wait_for_them() -> None:
    memory = attached()
    early, late = MemoryRequest(0, 8, issued=3), MemoryRequest(64, 8, issued=5)
    memory.issue(RequestPort(0), early, (4,))
    memory.issue(RequestPort(1, write=True), late, (5, 6))
    woken: set[int] = set()
    while memory.pending:
        woken |= memory.serve()
    assert woken == {4, 5, 6}
    assert (early.answered, late.answered) == (3 + LATENCY, 5 + LATENCY)
    assert memory.serve() == set()


def test_statistics_count_reads_and_writes_apart() -> None:
    memory = attached()
    memory.issue(RequestPort(0), MemoryRequest(0, 8, issued=0), ())
    memory.issue(RequestPort(0), MemoryRequest(8, 16, issued=1), ())
    memory.issue(RequestPort(1, write=True), MemoryRequest(64, 4, issued=2), ())
    while memory.pending:
        memory.serve()
    stats = memory.stats(cycles=20)
    assert (stats.reads, stats.writes, stats.bytes) == (2, 1, 28)
