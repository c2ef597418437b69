"""The progress reports of a long run, and the limits that end it early.

Rules: ``docs/simulator.md`` § Long runs.

Both engines report every few hundredths of a second of wall time, whatever a step of theirs
costs, so that a run can be cancelled at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.arguments import check_fields
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.traits import Stored, Traversal
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.errors import AbandonedError, LimitError, SimulationError
from fuseloom.wording import counted

Progress: TypeAlias = Callable[[int, float], bool | None]
"""Called now and then with the number of tokens put so far and the share of the input consumed,
0 to 1; returning False cancels the run."""

PERIOD = 0.03
"""Seconds between two reports, roughly."""
MEMORY_LIMIT = 8 << 30
"""Bytes a run may take unless told otherwise."""
_MEBI = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of a run.

    Attributes
    ----------
    tokens : int, optional
        Most tokens put into all channels together.
    memory : int
        Most bytes held for channels, nodes and outputs, the kernels' copy of the data among
        them; the data themselves come on top.
    more_tokens, more_memory : str
        How to have more, for people.
    cycles : int, optional
        Most clock cycles of a node: a run that takes more is abandoned when it is noticed.

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmv, data = fl.load("spmv")
    >>> compiled = fl.compile(spmv.program)
    >>> try:
    ...     fl.simulate(compiled, data, limits=fl.Limits(tokens=10))
    ... except fl.FuseloomError as error:
    ...     print(error.rule)
    limit
    """

    tokens: int | None = None
    memory: int = MEMORY_LIMIT
    more_tokens: str = "raise the limit"
    more_memory: str = "raise the limit"
    cycles: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.tokens is not None and self.tokens < 1:
            raise SimulationError(
                f"a limit of {counted(self.tokens, 'token')}",
                hint="give a positive number of tokens",
            )
        if self.memory <= 0:
            raise SimulationError(
                f"a limit of {counted(self.memory, 'byte')}", hint="give a positive number of bytes"
            )

    def check_tokens(self, tokens: int) -> None:
        """Refuse more tokens than the limit."""
        if self.tokens is not None and tokens > self.tokens:
            raise LimitError(
                f"more than {counted(self.tokens, 'token')}",
                hint=f"{self.more_tokens}, or use smaller data",
            )

    def check_cycles(self, clock: int) -> None:
        """Abandon a run of which a node's clock is beyond the limit; clocks never go back."""
        if self.cycles is not None and clock > self.cycles:
            raise AbandonedError(f"more than {counted(self.cycles, 'cycle')}")

    def check_memory(self, used: int, more: int = 0) -> None:
        """Refuse ``more`` bytes on top of those in use, before they are taken."""
        if used + more > self.memory:
            raise LimitError(
                f"the simulation needs more than {self.memory / _MEBI:,.0f} MiB "
                f"({(used + more) / _MEBI:,.0f} MiB)",
                hint=f"{self.more_memory}, bound the channels or use smaller data",
            )


@dataclass(frozen=True)
class InputStreams:
    """The streams that carry the outermost level of a graph's inputs to who uses them.

    Attributes
    ----------
    streams, expected : ndarray of int64
        Streams, and the coordinates or references each will have carried in the end.
    """

    streams: npt.NDArray[np.int64]
    expected: npt.NDArray[np.int64]

    @classmethod
    def of(cls, bound: BoundGraph) -> InputStreams:
        """Those of a graph.

        A scanner right behind the root reads one fiber, so how much it will put is known; its
        tokens are followed through copies and memory ports to the nodes that consume them.  Some
        of these consume them at the very end, as a coordinate dropper or a writer.
        """
        graph = bound.graph
        of_root: set[int] = set()  # streams of one token, the root's
        expected: dict[int, int] = {}
        for number in graph.topological():
            node = graph.nodes[number]
            outputs = [s for s in node.outputs if s is not None]
            part = primitive(node.op).traversal
            if part is Traversal.STARTS:
                of_root.update(outputs)
                continue
            if not node.inputs:
                continue
            source = node.inputs[0]
            if part is Traversal.HANDS_ON:
                of_root.update(outputs if source in of_root else ())
                if source in expected:
                    expected.update(dict.fromkeys(outputs, expected.pop(source)))
            elif source in of_root and part is Traversal.DENSE_FIBER:
                expected.update(dict.fromkeys(outputs, int(node.params["dim"])))
            elif source in of_root and part is Traversal.STORED_FIBER:
                segments = bound.of(node.id).get(Stored.SEGMENTS.value)
                if segments is not None:
                    fiber = np.diff(segments[:2])
                    expected.update(dict.fromkeys(outputs, int(fiber.sum())))
        return cls(np.array(list(expected), np.int64), np.array(list(expected.values()), np.int64))

    def share(self, taken: npt.NDArray[np.int64]) -> float:
        """Share consumed, 0 to 1, from the tokens taken from every stream; 0 if none is known."""
        if not self.streams.size:
            return 0.0
        parts = taken[self.streams] / np.maximum(self.expected, 1)
        return float(np.minimum(parts, 1.0).mean())


class Reports:
    """Reports of one run, paced by wall time.

    Parameters
    ----------
    first, most : int
        Steps of the engine before the first report, and at most between two.
    """

    def __init__(
        self,
        bound: BoundGraph,
        progress: Progress | None,
        limits: Limits,
        *,
        first: int,
        most: int,
    ) -> None:
        self.progress = progress
        self.limits = limits
        self.inputs = InputStreams.of(bound) if progress is not None else None
        self.stride = first
        self.most = most
        self.share = 0.0
        self.last = time.perf_counter()

    def tell(self, tokens: int, taken: npt.NDArray[np.int64]) -> None:
        """Report, and cancel the run if that is the answer.

        Raises
        ------
        SimulationError
            If there are too many tokens, or the run is cancelled.
        """
        self.limits.check_tokens(tokens)
        if self.progress is not None and self.inputs is not None:
            self.share = max(self.share, self.inputs.share(taken))
            if self.progress(tokens, self.share) is False:
                raise SimulationError(f"run cancelled after {counted(tokens, 'token')}")
        now = time.perf_counter()
        faster = PERIOD / max(now - self.last, 1e-9)
        self.stride = round(min(max(self.stride * min(max(faster, 0.125), 4.0), 1), self.most))
        self.last = now
