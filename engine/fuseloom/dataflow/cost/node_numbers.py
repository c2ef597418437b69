"""Expected numbers of one node."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeEstimate:
    """Expected numbers of one node.

    Attributes
    ----------
    tokens : float
        Tokens on its busiest output (busiest input, for a writer).
    cycles : float
        Cycles of its own work.
    flops, bytes : float
        Arithmetic operations; bytes moved to and from memory.
    end : float or None
        Clock at which it is done, where the graph was executed.
    held : float
        Bytes that it holds on chip, at most at once; 0 where that is no more than a token.
    """

    node: int
    tokens: float
    cycles: float
    flops: float
    bytes: float
    end: float | None = None
    held: float = 0.0
