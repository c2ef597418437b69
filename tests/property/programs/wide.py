"""Programs over dimensions so large that nothing of them can be dense, and their few elements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from fuseloom.program import LevelFormat, Program, StoredTensor, Tensor
from fuseloom.program.levels import run_end, stored_shape
from fuseloom.program.limits import MAX_DIMENSION
from fuseloom.program.tile_arrays import element_coordinates
from tests.property.programs.making import INDICES, Made, Maker

SIZES = (10**5, 10**6, 3 * 10**6 + 1, 10**7, MAX_DIMENSION)
WIDE = 1_000
"""From this size on, no level is dense."""
ELEMENTS = 5
"""The most elements, or blocks, of an input in the dimensions that are wide."""
MOST = 60
"""Results that may have more elements are not used any further."""


class WideMaker(Maker):
    """Makes up statements over indices of which most are wide."""

    def __init__(self, rng: random.Random, block: int = 1, undefined: bool = False) -> None:
        super().__init__(rng, block, undefined)
        self.dense = False  # else a summand would be there in every row
        wide = [n - n % block if rng.random() < 0.7 else n for n in rng.sample(SIZES, 2)]
        for x in INDICES:
            if x == "i" or rng.random() < 0.6:
                self.size_of[x] = rng.choice(wide)
        first, second, both = (self.size_of[x] for x in "klm")
        if rng.random() < 0.4:  # m holds pairs of what k and l hold
            both = first * second
        elif self.joinable:
            both = first + second
        self.size_of["m"] = both if both <= MAX_DIMENSION else first
        blocked = {self.is_blocked(x) for x in "klm"}
        self.joinable = self.joinable and self.size_of["m"] == first + second and len(blocked) == 1

    def storable(self, levels: list[str], sizes: list[int]) -> list[str]:
        return [
            "compressed" if level == "dense" and size >= WIDE else level
            for level, size in zip(levels, sizes, strict=True)
        ]

    def stored(self, sizes: tuple[int, ...], levels: list[str]) -> int:
        small = prod(n for n in sizes if n < WIDE)
        runs = sum(level == "compressed" for level in levels) if "singleton" in levels else 1
        return int(ELEMENTS**runs * small)

    def computed(self, sizes: tuple[int, ...], operands: tuple[Made, ...]) -> int:
        return min(prod(sizes), prod(made.count + 1 for made in operands))

    def fillable(self, indices: list[str]) -> bool:
        return prod(self.size_of[x] for x in indices) <= WIDE

    def summed(self, gone: list[str], *operands: Made) -> float:
        return min(super().summed(gone), float(prod(made.count + 1 for made in operands)))

    def recent(self) -> tuple[Made, list[str]]:
        self.tensors = [made for made in self.tensors if made.count <= MOST] or self.tensors[:1]
        return super().recent()


def places(program: Program, numbers: np.random.Generator) -> dict[int, list[int]]:
    """Per size of a dimension, or of its grid of blocks, the few coordinates that are used.

    What is stored would hardly ever meet otherwise.
    """
    sizes = {n for tensor in program.tensors for n in (*stored_shape(tensor), *tensor.shape)}
    found: dict[int, list[int]] = {}
    for size in sorted(sizes):
        drawn = [0, size - 1, *numbers.integers(size, size=2).tolist()]
        for a in found:
            if size - a in found:  # of a concatenation
                drawn += [a, a + found[size - a][-1]]
            if not size % a and size // a in found and a > 1:  # of a reshape
                drawn.append(found[size // a][-1] * a + found[a][-1])
        found[size] = list(dict.fromkeys(drawn))
    return found


def _tuples(
    sizes: Sequence[int],
    least: int,
    used: Mapping[int, list[int]],
    numbers: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Up to a few tuples of coordinates, sorted."""
    count = int(numbers.integers(least, ELEMENTS + 1))
    drawn = {tuple(int(numbers.choice(used[size])) for size in sizes) for _ in range(count)}
    return sorted(drawn)


def _blocks(
    tensor: Tensor, used: Mapping[int, list[int]], numbers: np.random.Generator
) -> list[tuple[int, ...]]:
    """Coordinates (of blocks) that a format can hold: one per dense position above a singleton."""
    formats, order, shape = tensor.format.levels, tensor.format.mode_order, stored_shape(tensor)
    found: list[tuple[int, ...]] = [()]
    depth = 0
    while depth < len(formats):
        end = run_end(formats, depth)
        sizes = shape[depth : end + 1]
        longer: list[tuple[int, ...]] = []
        for above in found:
            if formats[depth] is LevelFormat.DENSE:
                rest = [_tuples(sizes[1:], 1, used, numbers)[0] for _ in range(sizes[0])]
                longer += [(*above, x, *rest[x]) for x in range(sizes[0])]
            else:
                longer += [(*above, *t) for t in _tuples(sizes, bool(depth), used, numbers)]
        found = longer
        depth = end + 1
    if LevelFormat.SINGLETON not in formats:  # then any of them will do
        count = int(numbers.integers(ELEMENTS + 1))
        found = [found[n] for n in sorted(numbers.permutation(len(found))[:count].tolist())]
    return [tuple(point[order.index(axis)] for axis in range(tensor.rank)) for point in found]


def scattered(program: Program, positive: set[str], rng: random.Random) -> dict[str, StoredTensor]:
    """A few elements for every input."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    used = places(program, numbers)
    data = {}
    for name in program.given:
        tensor = program.tensor(name)
        blocks = np.array(_blocks(tensor, used, numbers), dtype=np.int64)
        points = element_coordinates(tensor, blocks.reshape(len(blocks), tensor.rank))
        low = 1 if name in positive else 0
        values = numbers.integers(low, 12, len(points)) / 8.0
        if name not in positive:
            values = values * numbers.choice([-1.0, 1.0], len(points))
        stored = StoredTensor.from_coo(tensor, points, values)
        if name in positive:  # what a dense level adds may be divided by, too
            ones = np.where(stored.values == 0, np.float32(1), stored.values)
            stored = replace(stored, values=ones)
        data[name] = stored
    return data
