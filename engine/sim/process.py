"""What a generator twin sees: its channels, its clock, its parameters (``samml.md`` §3).

A twin is a generator that yields requests and is resumed with the answer::

    token = yield channel.take          # wait for a token, remove it
    token = yield channel.peek          # wait for a token, leave it
    yield channel.room                  # wait for a free slot
    yield channel.put(token)            # wait for a free slot, stamp the token clock + 1
    yield channel.put(token, at=when)   # ... but never earlier than ``when``

Whoever runs the twin moves its clock past every wait; the twin itself adds what its own work
costs, as in ``node.clock += 1``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from engine.errors import SimulationError
from engine.samml.graph import Node
from engine.sim.machine import Machine, Quirks
from engine.sim.tokens import Token, format_token

TAKE, PEEK, ROOM, PUT = range(4)

Request = tuple[int, "Channel", Any, int]
"""``(TAKE | PEEK | ROOM | PUT, channel, token, earliest timestamp)``."""

Behaviour = Generator[Request, Any, None]


@dataclass
class ChannelWatch:
    """Clock of every put, timestamp of every token, and clock of every take of a channel."""

    puts: list[int] = field(default_factory=list)
    stamps: list[int] = field(default_factory=list)
    takes: list[int] = field(default_factory=list)


class Channel:
    """One FIFO of (token, timestamp), with a free-slot time for each token taken out of it.

    A channel without a reader (a void output) accepts everything and costs nothing.
    """

    __slots__ = (
        "capacity", "id", "log", "peek", "put_count", "queue", "room", "slots", "take",
        "taken_count", "value_count", "void", "watch",
    )  # fmt: skip

    def __init__(
        self, number: int, capacity: int | None, *, log: bool = False, watch: bool = False
    ) -> None:
        self.id = number
        self.capacity = capacity
        self.void = number < 0
        self.queue: deque[tuple[Token, int]] = deque()
        self.slots: deque[int] = deque()
        self.put_count = 0
        self.value_count = 0
        self.taken_count = 0
        self.log: list[tuple[Token, int]] | None = [] if log else None
        self.watch = ChannelWatch() if watch else None
        self.take: Request = (TAKE, self, None, 0)
        self.peek: Request = (PEEK, self, None, 0)
        self.room: Request = (ROOM, self, None, 0)

    def put(self, token: Token, at: int = 0) -> Request:
        """The request to put ``token``, stamped ``at`` or later."""
        return PUT, self, token, at


@dataclass
class Process:
    """One node at work.

    Attributes
    ----------
    clock : int
        Its local time, in cycles.
    stall_input, stall_output : int
        Cycles of ``clock`` spent waiting for a token, and for a free slot.
    first : int
        ``clock`` when it first took or put a token; -1 before.
    written : dict
        What a writer has collected.
    waits : list, or None
        In an observed run, every wait, those of no cycles among them: clock before and after
        it, whether it was for room, on which stream, and for which of its tokens.
    """

    node: Node
    machine: Machine
    arrays: Mapping[str, npt.NDArray[Any]]
    inputs: tuple[Channel, ...]
    outputs: tuple[Channel, ...]
    clock: int = 0
    stall_input: int = 0
    stall_output: int = 0
    first: int = -1
    written: dict[str, list[Any]] = field(default_factory=dict)
    waits: list[tuple[int, int, bool, int, int]] | None = None

    @property
    def quirks(self) -> Quirks:
        return self.machine.quirks

    @property
    def name(self) -> str:
        return self.node.label or f"{self.node.op} {self.node.id}"

    def param(self, name: str, default: Any = None) -> Any:
        """A parameter of the node."""
        return self.node.params.get(name, default)

    def array(self, name: str) -> npt.NDArray[Any]:
        """An array the node was bound to.

        Raises
        ------
        SimulationError
            If it was not.
        """
        try:
            return self.arrays[name]
        except KeyError:
            raise SimulationError(
                f"{self.name}: no array {name!r} is bound to it",
                hint="bind the graph to data first",
            ) from None

    def fail(self, rule: str, *tokens: Token) -> NoReturn:
        """Report tokens that contradict each other or the primitive's rules."""
        seen = f" (got {', '.join(map(format_token, tokens))})" if tokens else ""
        raise SimulationError(f"{self.name} at cycle {self.clock}: {rule}{seen}")

    def results(self) -> dict[str, npt.NDArray[Any]]:
        """What a writer collected, as arrays in the machine's types."""
        return {
            name: np.asarray(items, dtype=np.float32 if name == "vals" else np.int64)
            for name, items in self.written.items()
        }
