"""Buffers of a block in Triton: those that are kept in registers, scratch memory, and barriers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuseloom.stitch.c.values import kernel_names
from fuseloom.stitch.phase_values import ElementChoice, ElementLoad, ElementPosition, KernelPhase
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.positions import PositionSum
from fuseloom.stitch.triton.scalars import triton_type
from fuseloom.stitch.triton.tiles import TiledPhase
from fuseloom.stitch.triton.values import RegisterTile, TritonNames, register_text

ALIGNED = 16
"""Bytes that buffers in scratch memory begin at a multiple of."""


@dataclass(frozen=True)
class BlockMemory:
    """The places of the buffers of a block.

    Attributes
    ----------
    known : TritonNames
        With the buffers that are kept in registers.
    size : int
        Bytes of scratch memory.
    arrays : tuple of (str, str, int)
        Per buffer in scratch memory its name, the type of its elements, and its first byte.
    barriers : frozenset of int
        Numbers of phases with a barrier before them.
    in_place : frozenset of int
        Those that write to where they read.
    """

    known: TritonNames
    size: int
    arrays: tuple[tuple[str, str, int], ...]
    barriers: frozenset[int]
    in_place: frozenset[int]

    @property
    def index(self) -> str:
        """The type of positions."""
        return self.known.index


def block_memory(phased: PhasedKernel, tiles: Sequence[TiledPhase]) -> BlockMemory:
    """Find the places of the buffers of a block."""
    registers, stored = _divided(phased, tiles)
    names = kernel_names(phased)
    known = TritonNames(names, registers, stored, index_type(phased))
    buffers, starts, size = phased.plan.buffers, dict[int, int](), 0
    elements = {one.operation.name: one.operation.array.element for one in phased.phases}
    arrays = []
    for name in phased.plan.buffers:
        if name in stored:
            slot = buffers[name].slot
            if slot not in starts:
                starts[slot] = size
                size += -(-max(phased.plan.slots[slot], 1) // ALIGNED) * ALIGNED
            arrays.append((names.buffers[name], memory_type(elements[name]), starts[slot]))
    barriers, in_place = _barriers(phased, tiles, known)
    return BlockMemory(known, size, tuple(arrays), barriers, in_place)


def memory_type(element: str) -> str:
    """Return the type of elements in memory.

    Examples
    --------
    >>> memory_type("bf16"), memory_type("pred"), memory_type("u8")
    ('tl.bfloat16', 'tl.int8', 'tl.uint8')
    """
    return {"bf16": "tl.bfloat16", "pred": "tl.int8"}.get(element) or triton_type(element)


def _divided(
    phased: PhasedKernel, tiles: Sequence[TiledPhase]
) -> tuple[dict[str, RegisterTile], frozenset[str]]:
    """Tiles in registers, and the buffers that some reader finds elements of only in memory."""
    found: dict[str, RegisterTile] = {}
    stored: set[str] = set()
    used: set[str] = set()
    for one in tiles:
        for load in _buffer_loads(one.phase):
            tile = found.get(load.source)
            if tile is not None and register_text(tile, load.at, one.register_axes) is not None:
                used.add(load.source)
            else:
                stored.add(load.source)
        name = one.phase.operation.name
        own = one.own_axes
        if name not in phased.plan.buffers or one.dot is not None or one.is_empty:
            continue
        if not own:
            found[name] = RegisterTile(f"{one.prefix}kept", 1, 1)
        elif len(own) == 1 and not own[0].is_looped:
            found[name] = RegisterTile(f"{one.prefix}kept", own[0].extent, own[0].tile)
    return {name: found[name] for name in found if name in used}, frozenset(stored)


def _buffer_loads(phase: KernelPhase) -> Iterator[ElementLoad]:
    for value in phase.values:
        if isinstance(value, ElementLoad) and value.buffered:
            yield value


def _barriers(
    phased: PhasedKernel, tiles: Sequence[TiledPhase], known: TritonNames
) -> tuple[frozenset[int], frozenset[int]]:
    barriers, in_place = set(), set()
    read: set[int] = set()
    written: set[int] = set()
    for one in tiles:
        slots = {
            phased.plan.buffers[load.source].slot
            for load in _buffer_loads(one.phase)
            if load.source not in known.registers
            or register_text(known.registers[load.source], load.at, one.register_axes) is None
        }
        own: set[int] = set()
        if one.phase.operation.name in known.stored:
            own.add(phased.plan.buffers[one.phase.operation.name].slot)
        if slots & written or own & (read | written):
            barriers.add(one.number)
            read, written = set(), set()
        if own & slots:
            in_place.add(one.number)
        read |= slots
        written |= own
    return frozenset(barriers), frozenset(in_place)


def index_type(phased: PhasedKernel) -> str:
    """Return the type that all positions of a kernel fit in: 32 bits, or 64."""
    largest = max((_bound(at) for phase in phased.phases for at in _positions(phase)), default=0)
    return "tl.int32" if max(largest, phased.blocks) < 2**31 else "tl.int64"


def _positions(phase: KernelPhase) -> Iterator[PositionSum]:
    for value in phase.values:
        if isinstance(value, ElementLoad | ElementPosition):
            yield value.at
        elif isinstance(value, ElementChoice):
            yield from (test.at for test in value.tests)
    yield from (store.at for store in phase.stores)


def _bound(at: PositionSum) -> int:
    """A bound of all numbers that a sum is computed with."""
    made = abs(at.constant) + sum(abs(factor) * (atom.size - 1) for atom, factor in at.terms)
    inner = (_bound(atom.of) for atom, _ in at.terms if atom.of is not None)
    return max([made, *inner])
