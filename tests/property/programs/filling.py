"""Data that fit a program, drawn at random."""

from __future__ import annotations

import random

import numpy as np

from fuseloom.program import LevelFormat, Program, StoredTensor, Tensor
from fuseloom.program.levels import run_end, stored_shape
from fuseloom.program.tile_arrays import element_coordinates, from_tiles, grid_shape, to_tiles


def _elements(
    tensor: Tensor, density: float, numbers: np.random.Generator
) -> list[tuple[int, ...]]:
    """Coordinates (of blocks) a format with singletons can hold: one per dense position."""
    formats, order, shape = tensor.format.levels, tensor.format.mode_order, stored_shape(tensor)
    found: list[tuple[int, ...]] = [()]
    depth = 0
    while depth < len(formats):
        end = run_end(formats, depth)
        sizes = shape[depth : end + 1]
        longer: list[tuple[int, ...]] = []
        for above in found:
            if formats[depth] is LevelFormat.DENSE:
                longer += [
                    (*above, x, *(int(numbers.integers(size)) for size in sizes[1:]))
                    for x in range(sizes[0])
                ]
            else:
                drawn = numbers.random(sizes)
                kept = drawn < density
                if depth and not kept.any():
                    kept = drawn == drawn.min()  # a singleton above needs its one element
                longer += [(*above, *tuples) for tuples in np.argwhere(kept).tolist()]
        found = longer
        depth = end + 1
    return [tuple(point[order.index(axis)] for axis in range(tensor.rank)) for point in found]


def data_of(program: Program, positive: set[str], rng: random.Random) -> dict[str, StoredTensor]:
    numbers = np.random.default_rng(rng.randrange(2**32))
    data = {}
    for name in program.given:
        tensor = program.tensor(name)
        density = rng.choice([0.0, 0.3, 0.6, 0.9, 1.0])
        values = numbers.integers(1, 12, tensor.shape) / 8.0
        if name not in positive:
            values = values * numbers.choice([-1.0, 1.0], tensor.shape)
        if LevelFormat.SINGLETON in tensor.format.levels:
            points = np.array(_elements(tensor, density, numbers), dtype=np.int64)
            points = element_coordinates(tensor, points.reshape(len(points), tensor.rank))
            data[name] = StoredTensor.from_coo(tensor, points, values[tuple(points.T)])
            continue
        keep = numbers.random(tensor.shape) < density
        if tensor.format.blocked:  # whole blocks too, or hardly any would be empty
            tiles = to_tiles(tensor, keep)
            grid = numbers.random(grid_shape(tensor)) < rng.choice([density, 0.4])
            keep &= from_tiles(
                tensor,
                np.broadcast_to(
                    grid.reshape(grid.shape + (1,) * (tiles.ndim - grid.ndim)), tiles.shape
                ),
            )
        if tensor.rank > 1 and rng.random() < 0.4:
            keep[rng.randrange(tensor.shape[0])] = False
        if name in positive:
            # A positive tensor may be divided by or logged: no explicit zero may be stored.
            pattern = StoredTensor.from_dense(tensor, np.where(keep, values, 0.0)).pattern()
            values = np.where(pattern & ~keep, 1.0, values)
            keep = keep | pattern
        data[name] = StoredTensor.from_dense(tensor, np.where(keep, values, 0.0))
    return data
