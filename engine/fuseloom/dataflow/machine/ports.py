"""The reads that a machine's memory answers, and the addresses of what they read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.traits import ArrayRead, Stored

_ALIGNMENT = 4096
"""Bytes: arrays begin at pages."""
OUTPUT_BYTES = 1 << 26
"""Bytes kept free for an output array, whose size is not known before the run."""


def ported_reads(node: Node) -> tuple[ArrayRead, ...]:
    """The reads of a node that have a port.

    Singletons have no segments, and coordinates that nothing takes are not read.
    """
    return tuple(
        read
        for read in primitive(node.op).memory.reads
        if not (read.array is Stored.SEGMENTS and node.params.get("singleton"))
        and not (read.behind and node.outputs[0] is None)
    )


@dataclass
class AddressLayout:
    """Deals addresses to arrays; one that several nodes read lies in one place."""

    end: int = 0
    known: dict[Any, int] = field(default_factory=dict)

    def place(self, key: Any, size: int) -> int:
        """Address of the array of that key, ``size`` bytes long."""
        if key not in self.known:
            self.known[key] = self.end
            self.end += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        return self.known[key]
