"""The memory beside an array: what calls move through a buffer, and how long that takes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.hardware import Call
from fuseloom.access.meaning import shapes_of
from fuseloom.access.terms import Term
from fuseloom.errors import ProgramError

Tile: TypeAlias = tuple[str, object]
"""What a buffer holds: vectors, weights or results, and which."""


@dataclass(frozen=True)
class BufferedMemory:
    """A memory behind a buffer on chip.

    Attributes
    ----------
    bandwidth : float
        Bytes per cycle between memory and buffer.
    buffer : int
        Bytes of the buffer; what was used least recently makes room.
    word_bytes : int
        Bytes of an element.
    double_buffered : bool
        Whether the next call's operands are read while a call runs.

    Examples
    --------
    >>> BufferedMemory(bandwidth=32).transfer(100)
    4
    """

    bandwidth: float = 64.0
    buffer: int = 2**20
    word_bytes: int = 2
    double_buffered: bool = True

    def __post_init__(self) -> None:
        for name in ("bandwidth", "buffer", "word_bytes"):
            if not getattr(self, name) > 0:
                raise ProgramError(f"a memory's {name} is {getattr(self, name)}; it is positive")

    def transfer(self, count: int) -> int:
        """Cycles that so many bytes take."""
        return ceil(count / self.bandwidth)


@dataclass(frozen=True)
class PlacedCall:
    """A call with the tiles that it reads and writes.

    Attributes
    ----------
    call : Call
    vectors, weights : Term
        Its operands.
    result : tuple
        The part of the output that it adds to: which sides of concatenations lead there.
    """

    call: Call
    vectors: Term
    weights: Term
    result: tuple[object, ...]


@dataclass(frozen=True)
class Traffic:
    """What calls move, and how long they take with that.

    Attributes
    ----------
    read, written : int
        Bytes from and to the memory.
    compute : int
        Cycles of the calls alone.
    cycles : int
        Cycles with all transfers.
    """

    read: int
    written: int
    compute: int
    cycles: int

    @property
    def stalled(self) -> int:
        """Cycles in which the array waits for the memory."""
        return self.cycles - self.compute


def placed_calls(term: Term) -> tuple[PlacedCall, ...]:
    """The calls of a term, each distinct one once, in order of execution.

    Calls whose results are summed, as those of parts of vectors are, add to one part of the output.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> placed_calls(matmul(2, 2, 2))
    ()
    """
    shapes = shapes_of(term)
    calls = []
    for part, sides in _reached(term):
        if part.construct == SYSTOLIC_ARRAY:
            rows, columns = part.attributes
            assert isinstance(rows, int)
            assert isinstance(columns, int)
            vectors, weights = part.operands
            call = Call(rows, columns, shapes[vectors].access[0])
            calls.append(PlacedCall(call, vectors, weights, sides))
    return tuple(calls)


def _reached(term: Term) -> Iterator[tuple[Term, tuple[object, ...]]]:
    """Every distinct part with the sides of concatenations on the way, operands first."""
    seen: set[Term] = set()
    stack: list[tuple[Term, tuple[object, ...], bool]] = [(term, (), False)]
    while stack:
        part, sides, entered = stack.pop()
        if entered:
            yield part, sides
            continue
        if part in seen:
            continue
        seen.add(part)
        stack.append((part, sides, True))
        for number, operand in reversed(list(enumerate(part.operands))):
            within = sides
            if part.construct == "concat":
                within = (*sides, number)
            elif part.construct != "pair" and len(part.operands) > 1:
                within = (*sides, part.construct, number)
            stack.append((operand, within, False))


@dataclass(frozen=True)
class TimedCall:
    """A call in its place among others, with the transfers that it waits for.

    Attributes
    ----------
    call : Call
    transfer_begins : int
        The cycle in which its transfers begin: what it reads, and what makes room for that.
    transfer_ends : int
    begins : int
        The cycle in which it begins.
    """

    call: Call
    transfer_begins: int
    transfer_ends: int
    begins: int

    @property
    def ends(self) -> int:
        """The cycle after its last one."""
        return self.begins + self.call.cycles


@dataclass(frozen=True)
class CallSchedule:
    """Calls in time.

    Attributes
    ----------
    calls : tuple of TimedCall
    traffic : Traffic
    """

    calls: tuple[TimedCall, ...]
    traffic: Traffic


def traffic_of(calls: Sequence[PlacedCall], memory: BufferedMemory) -> Traffic:
    """Move the tiles of calls through the buffer, in order.

    Vectors and weights are read when they are not in the buffer.  A part of the output stays there
    while calls add to it; if it has to make room it is written, and read again for the next of
    them.  A tile that is larger than the buffer is moved at every use.

    Examples
    --------
    >>> from fuseloom.access.hardware import SystolicArray
    >>> from fuseloom.access.mapping import map_term
    >>> from fuseloom.access.kernels import matmul
    >>> mapped = map_term(matmul(32, 32, 32), SystolicArray(16, 16))
    >>> traffic = traffic_of(placed_calls(mapped.after), BufferedMemory(bandwidth=64))
    >>> traffic.read, traffic.written, traffic.compute, traffic.cycles
    (4096, 2048, 312, 368)
    """
    return schedule_of(calls, memory).traffic


def schedule_of(calls: Sequence[PlacedCall], memory: BufferedMemory) -> CallSchedule:
    """Calls one after another, each as soon as its transfers are done.

    With double buffering, the transfers of a call run while the call before it runs.

    Examples
    --------
    >>> from fuseloom.access.hardware import SystolicArray
    >>> from fuseloom.access.mapping import map_term
    >>> from fuseloom.access.kernels import matmul
    >>> mapped = map_term(matmul(32, 32, 32), SystolicArray(16, 16))
    >>> made = schedule_of(placed_calls(mapped.after), BufferedMemory())
    >>> [(timed.begins, timed.ends) for timed in made.calls]
    [(24, 102), (102, 180), (180, 258), (258, 336)]
    """
    buffer = _Buffer(memory.buffer)
    timed: list[TimedCall] = []
    free = ends = 0  # cycles from which the transfers of a call, and the array, are free
    for placed in calls:
        call, word = placed.call, memory.word_bytes
        before = buffer.moved
        buffer.use(("vectors", placed.vectors), call.batch * call.rows * word)
        buffer.use(("weights", placed.weights), call.rows * call.columns * word)
        buffer.add(("results", placed.result), call.batch * call.columns * word)
        moved = free + memory.transfer(buffer.moved - before)
        timed.append(TimedCall(call, free, moved, max(moved, ends)))
        ends = timed[-1].ends
        free = timed[-1].begins if memory.double_buffered else ends
    before = buffer.moved
    buffer.flush()
    cycles = ends + memory.transfer(buffer.moved - before)
    compute = sum(one.call.cycles for one in timed)
    return CallSchedule(tuple(timed), Traffic(buffer.read, buffer.written, compute, cycles))


class _Buffer:
    """Tiles by their last use; those that were added to are written when they leave."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.tiles: OrderedDict[Tile, tuple[int, bool]] = OrderedDict()
        self.held = self.read = self.written = 0
        self.begun: set[Tile] = set()

    @property
    def moved(self) -> int:
        return self.read + self.written

    def use(self, tile: Tile, size: int) -> None:
        """Read a tile, unless it is there."""
        if tile in self.tiles:
            self.tiles.move_to_end(tile)
            return
        self.read += size
        self._keep(tile, size, False)

    def add(self, tile: Tile, size: int) -> None:
        """Add to a tile of results, which begins with zeros."""
        if tile in self.tiles:
            self.tiles.move_to_end(tile)
            return
        if tile in self.begun:
            self.read += size
        self.begun.add(tile)
        self._keep(tile, size, True)

    def flush(self) -> None:
        """Write all results."""
        while self.tiles:
            self._drop()

    def _keep(self, tile: Tile, size: int, written: bool) -> None:
        if size > self.capacity:
            self.written += size if written else 0
            return
        while self.held + size > self.capacity:
            self._drop()
        self.tiles[tile] = size, written
        self.held += size

    def _drop(self) -> None:
        _, (size, written) = self.tiles.popitem(last=False)
        self.held -= size
        self.written += size if written else 0
