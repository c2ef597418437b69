"""Caches of this machine, and the bytes that schedules move through them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fuseloom.calls.recomputation import ScheduleCounts

MEMORY = "memory"


@lru_cache(maxsize=1)
def cache_sizes() -> tuple[int, ...]:
    """Bytes of the data caches of this machine, the smallest first; none where it does not say.

    Examples
    --------
    >>> list(cache_sizes()) == sorted(cache_sizes())
    True
    """
    found = set()
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            kind = (folder / "type").read_text(encoding="ascii").strip()
            text = (folder / "size").read_text(encoding="ascii").strip()
        except OSError:
            continue
        if kind != "Instruction" and text[:-1].isdecimal() and text[-1] in "KM":
            found.add(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
    return tuple(sorted(found))


@dataclass(frozen=True)
class LevelTraffic:
    """Bytes that calls read and write at a level of memory.

    Attributes
    ----------
    level : str
        ``L1``, ``L2``, and so on, or ``memory``.
    size : int or None
        Its bytes; None of the memory.
    bytes : int
    """

    level: str
    size: int | None
    bytes: int


def level_traffic(
    counts: ScheduleCounts, caches: tuple[int, ...] | None = None
) -> tuple[LevelTraffic, ...]:
    """Bytes through each level of memory, as far as the sizes of tiles decide on it.

    What is given, returned or kept whole comes from memory and goes there.  Intermediates of tiles
    stay in the smallest cache that holds what a tile works on: they, and the parts that it reads
    and writes of the others.

    Parameters
    ----------
    caches : tuple of int, optional
        Bytes of the caches; by default those of this machine.

    Examples
    --------
    >>> counts = ScheduleCounts({}, {}, 2, 1000, 6000, 8000, 3000)
    >>> [(x.level, x.bytes) for x in level_traffic(counts, (2048, 4096))]
    [('L1', 0), ('L2', 6000), ('memory', 8000)]
    """
    sizes = cache_sizes() if caches is None else caches
    holding = holding_level(counts, sizes)
    names = [f"L{number + 1}" for number in range(len(sizes))]
    levels = [
        LevelTraffic(name, size, counts.tile_bytes if name == holding else 0)
        for name, size in zip(names, sizes, strict=True)
    ]
    beyond = counts.tile_bytes if holding == MEMORY else 0
    return (*levels, LevelTraffic(MEMORY, None, counts.whole_bytes + beyond))


def holding_level(counts: ScheduleCounts, caches: tuple[int, ...] | None = None) -> str:
    """Return the smallest cache that holds all that a tile works on, or ``memory``."""
    sizes = cache_sizes() if caches is None else caches
    numbers = (n for n, size in enumerate(sizes, 1) if counts.working_set <= size)
    return next((f"L{number}" for number in numbers), MEMORY)
