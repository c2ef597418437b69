"""A node as its golden model sees it: its channels, its clock, its parameters.

Rules: ``docs/spec/machine.md`` §2.

A golden model is a generator that yields requests and is resumed with the answer::

    token = yield channel.take          # wait for a token, remove it
    token = yield channel.peek          # wait for a token, leave it
    yield channel.room                  # wait for a free slot
    yield channel.put(token)            # wait for a free slot, stamp the token clock + 1
    yield channel.put(token, at=when)   # ... but never earlier than ``when``
    access = yield port.issue(address, size)    # ask the memory for something, at the clock
    when = yield port.answer(access)            # wait to know when it answers; the clock stays
    yield channel.put(token, at=access)         # wait for a slot; stamped when the answer comes

Whoever runs the golden model moves its clock past every wait; the golden model itself adds what its
own work costs, as in ``node.clock += 1``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.machine import Machine, Quirks
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.tokens import DONE, Stop, Token, format_token
from fuseloom.errors import SimulationError

TAKE, PEEK, ROOM, PUT, ISSUE, ANSWER = range(6)

Request = tuple[int, Any, Any, Any]
"""``(TAKE | PEEK | ROOM | PUT, channel, token, earliest timestamp or access)``, or ``(ISSUE |
ANSWER, port, access, 0)``."""

Behaviour = Generator[Request, Any, None]


@dataclass(eq=False)
class MemoryRequest:
    """A request to the memory.

    Attributes
    ----------
    address, size : int
        First byte, and bytes.
    issued, answered : int
        Cycles; ``answered`` is -1 until the memory has decided.
    """

    address: int
    size: int
    issued: int = -1
    answered: int = -1


AT_ONCE = MemoryRequest(0, 0, answered=0)
"""Nothing to wait for but what was asked for before."""


@dataclass(frozen=True)
class PendingStamp:
    """The timestamp of a token that waits for the memory: not before ``stamp``."""

    stamp: int
    access: MemoryRequest


@dataclass(frozen=True)
class RequestPort:
    """The port through which a node sends requests to the memory.

    Attributes
    ----------
    number : int
        Rank among all ports: the memory takes requests of one cycle in this order.
    write : bool
        Whether it writes.
    base : int
        Address of the first byte of what it reads or writes.
    """

    number: int
    write: bool = False
    base: int = 0

    def issue(self, address: int, size: int) -> Request:
        """The request for ``size`` bytes (words, on queues) from ``address`` on."""
        return ISSUE, self, MemoryRequest(address, size), 0

    def answer(self, access: MemoryRequest) -> Request:
        """The request to know when an access is answered."""
        return ANSWER, self, access, 0


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
        "capacity", "id", "latest", "log", "peek", "put_count", "queue", "room", "slots", "take",
        "taken_count", "value_count", "void", "watch",
    )  # fmt: skip

    def __init__(
        self, number: int, capacity: int | None, *, log: bool = False, watch: bool = False
    ) -> None:
        self.id = number
        self.capacity = capacity
        self.void = number < 0
        self.queue: deque[tuple[Token, Any]] = deque()
        self.slots: deque[int] = deque()
        self.put_count = 0
        self.value_count = 0
        self.taken_count = 0
        self.latest = 0
        self.log: list[tuple[Token, int]] | None = [] if log else None
        self.watch = ChannelWatch() if watch else None
        self.take: Request = (TAKE, self, None, 0)
        self.peek: Request = (PEEK, self, None, 0)
        self.room: Request = (ROOM, self, None, 0)

    def arrive(self, late: PendingStamp) -> int:
        """The timestamp of the first token, now that the memory has answered it.

        Tokens leave the memory in order.
        """
        stamp = max(late.stamp, late.access.answered, self.latest)
        self.latest = stamp
        self.queue[0] = self.queue[0][0], stamp
        if self.watch is not None:
            self.watch.stamps[self.taken_count] = stamp
            self.watch.puts[self.taken_count] = stamp - 1
        return stamp

    def put(self, token: Token, at: int | MemoryRequest = 0) -> Request:
        """The request to put ``token``, stamped ``at``, or when that is answered, or later."""
        return PUT, self, token, at


@dataclass
class Process:
    """One node at work.

    Attributes
    ----------
    clock : int
        Its local time, in cycles.
    stall_input, stall_output, stall_memory : int
        Cycles of ``clock`` spent waiting for a token, for a free slot, and for the memory.
    ports : tuple of RequestPort
        Where it asks the memory, if the machine has one.
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
    stall_memory: int = 0
    first: int = -1
    ports: tuple[RequestPort, ...] = ()
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

    def wait_memory(self, when: int) -> None:
        """Stand still until that cycle, because of the memory."""
        if when > self.clock:
            if self.waits is not None:
                self.waits.append((self.clock, when, False, -1, 0))
            self.stall_memory += when - self.clock
            self.clock = when

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
        """Return the arrays that a writer collected, in the machine's types."""
        return {
            name: np.asarray(items, dtype=np.float32 if name == "vals" else np.int64)
            for name, items in self.written.items()
        }


def finish(node: Process, channel: Channel) -> Behaviour:
    """Take what is left of an input whose end says nothing new.

    The reference leaves it unread (``docs/spec/comal.md`` §2.15).  A leaf left over contradicts the
    other inputs.
    """
    if node.quirks.ends_with_unread_input:
        return
    while (token := (yield channel.take)) is not DONE:
        if not isinstance(token, Stop):
            node.fail("an input goes on after the others have ended", token)
