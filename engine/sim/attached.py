"""The memory of a run of the twins: takes their accesses, says which are answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.sim.dram.controller import advance, answer_tag, answer_time, push
from engine.sim.dram.state import build
from engine.sim.machine import Machine
from engine.sim.process import Access, Port


@dataclass
class Attached:
    """A memory and the accesses under way.

    Attributes
    ----------
    model : object
        The state of the memory's model.
    pending : dict
        Tag to access and the nodes that its answer may wake.
    """

    model: Any
    issued: int = 0
    pending: dict[int, tuple[Access, tuple[int, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, machine: Machine, ports: int) -> Attached | None:
        """The machine's memory, as so many ports use it; None if there is nothing to ask."""
        if machine.memory is None or ports == 0:
            return None
        return cls(build(machine.memory, machine.clock_hz, ports, machine.outstanding))

    def issue(self, port: Port, access: Access, nodes: tuple[int, ...]) -> None:
        """Take a request; ``access.issued`` is its cycle."""
        tag = self.issued
        self.issued += 1
        self.pending[tag] = access, nodes
        write = int(port.write)
        push(self.model, access.issued, port.number, access.address, access.size, write, tag)

    def serve(self) -> set[int]:
        """Let time pass until something is answered; the nodes that this may wake.

        To be called when no node can move: then no request can come that is earlier than
        the answers.
        """
        woken: set[int] = set()
        for k in range(advance(self.model)):
            access, nodes = self.pending.pop(answer_tag(self.model, k))
            access.answered = answer_time(self.model, k)
            woken.update(nodes)
        return woken
