"""Ports as golden models: lines asked for once, and writes gathered until a line is full."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuseloom.dataflow.dram import hbm2
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.primitives.ports.golden import Gatherer, Requester
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.process import ANSWER, ISSUE, MemoryRequest, Process, RequestPort


def process(outstanding: int = 2) -> Process:
    node = Node(0, "mem_write", (), (), {})
    machine = replace(Machine.default(), memory=hbm2(), outstanding=outstanding)
    return Process(node, machine, {}, (), ())


def driven(behaviour: Any, answers: dict[int, int]) -> list[tuple[str, int, int]]:
    """Return the actions of a port: issues and waits, with address and size."""
    done = []
    answer = None
    while True:
        try:
            kind, _, access, _ = behaviour.send(answer)
        except StopIteration:
            return done
        done.append(({ISSUE: "issue", ANSWER: "wait"}[kind], access.address, access.size))
        answer = access if kind == ISSUE else answers[access.address]


def test_the_next_access_waits_for_the_one_that_many_before() -> None:
    node = process(outstanding=2)
    port = Requester(node, RequestPort(0))
    done = []
    for address in (0, 32, 64):
        done += driven(port.ask(address, 32), {0: 50})
    assert done == [("issue", 0, 32), ("issue", 32, 32), ("wait", 0, 32), ("issue", 64, 32)]
    assert node.clock == 50
    assert node.stall_memory == 50
    assert [access.address for access in port.under_way] == [32, 64]


def test_the_end_waits_for_all() -> None:
    node = process()
    port = Requester(node, RequestPort(0))
    port.under_way.extend([MemoryRequest(0, 4), MemoryRequest(4, 4)])
    assert driven(port.finish(), {0: 9, 4: 6}) == [("wait", 0, 4), ("wait", 4, 4)]
    assert node.clock == 9


def test_writes_are_gathered_to_whole_lines() -> None:
    node = process(outstanding=8)
    port = Gatherer(node, RequestPort(0, write=True, base=128))
    line = node.machine.access_bytes
    done = []
    for _ in range(2 * line // 4 + 1):
        done += driven(port.add(4), {})
    assert done == [("issue", 128, line), ("issue", 128 + line, line)]
    assert port.gathered == 4
    assert driven(port.post(port.gathered), {}) == [("issue", 128 + 2 * line, 4)]
    assert driven(port.post(0), {}) == []
