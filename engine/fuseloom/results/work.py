"""FLOPs and bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """Work of a node, a region or a program (``docs/spec/machine.md`` §11).

    Attributes
    ----------
    flops : float
        Arithmetic operations on values, accumulations included.
    bytes : float
        Bytes read from and written to memory: coordinates, segments and values, 4 each.
    """

    flops: float = 0
    bytes: float = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.bytes + other.bytes)
