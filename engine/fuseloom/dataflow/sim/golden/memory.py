"""The memory of a run of the golden models: takes their accesses, says which are answered."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from fuseloom.dataflow.dram import MemoryStats, build
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.process import MemoryRequest, Process, Request, RequestPort


@dataclass
class Attached:
    """A memory and the accesses under way.

    Attributes
    ----------
    model : list of int
        The state of the memory's model (:mod:`fuseloom.dataflow.dram.state`).
    rules : module
        The functions that run it, as Python.
    pending : dict
        Tag to access and the nodes that its answer may wake.
    """

    machine: Machine
    model: Any
    rules: Any
    issued: int = 0
    pending: dict[int, tuple[MemoryRequest, tuple[int, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, machine: Machine, ports: int) -> Attached | None:
        """The machine's memory, as so many ports use it; None if there is nothing to ask."""
        if machine.memory is None or ports == 0:
            return None
        model = build(machine.memory, machine.clock_hz, ports, machine.outstanding).tolist()
        # Imported late: it imports numba, which takes a second that most runs need not spend.
        return cls(machine, model, import_module("fuseloom.dataflow.dram.controller"))

    def issue(self, port: RequestPort, access: MemoryRequest, nodes: tuple[int, ...]) -> None:
        """Take a request; ``access.issued`` is its cycle."""
        tag = self.issued
        self.issued += 1
        self.pending[tag] = access, nodes
        what = (port.number, access.address, access.size, int(port.write), tag)
        self.rules.push(self.model, access.issued, *what)

    def serve(self) -> set[int]:
        """Let time pass until something is answered; the nodes that this may wake.

        To be called when no node can move: then no request can come that is earlier than
        the answers.
        """
        woken: set[int] = set()
        for k in range(self.rules.advance(self.model)):
            access, nodes = self.pending.pop(self.rules.answer_tag(self.model, k))
            access.answered = self.rules.answer_time(self.model, k)
            woken.update(nodes)
        return woken

    def stats(self, cycles: int) -> MemoryStats:
        """Return the memory's statistics in a run of so many cycles."""
        assert self.machine.memory is not None
        return MemoryStats.of(self.model, self.machine.memory, cycles)


def stall(node: Process, port: RequestPort, words: int) -> Generator[Request, Any, None]:
    """Ask for words and stand still until all have come."""
    access = yield port.issue(port.base, words)
    when = yield port.answer(access)
    node.wait_memory(when)
