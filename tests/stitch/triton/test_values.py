"""Values of phases in Triton: what is read of tiles in registers, and expressions of positions."""

from __future__ import annotations

import random
from math import prod
from typing import Any

import numpy as np

from fuseloom.stitch.phase_values import PhaseLoop
from fuseloom.stitch.positions import PositionSum, variable
from fuseloom.stitch.triton.tiles import COLUMNS, ROWS, TileAxis, tile_size
from fuseloom.stitch.triton.values import RegisterTile, register_text, sum_text

from ..stitched_modules import GraphMaker
from .triton_kernels import codes_of


class NumpyTiles:
    """The functions of Triton that move elements of tiles, by NumPy."""

    reshape = staticmethod(np.reshape)
    broadcast_to = staticmethod(np.broadcast_to)
    trans = staticmethod(np.transpose)


def random_axes(draw: random.Random) -> list[TileAxis]:
    axes = []
    both = draw.random() < 0.6
    for name, view in (("e", ROWS), ("r", COLUMNS)) if both else (("e", ""),):
        count = draw.randint(1, 3)
        loops = tuple(PhaseLoop(f"{name}{n}", draw.choice((2, 2, 4, 3))) for n in range(count))
        extent = prod(loop.extent for loop in loops)
        axes.append(TileAxis(name, loops, tile_size(extent, draw.choice((4, 64, 64))), view))
    return axes


def random_position(draw: random.Random, axes: list[TileAxis]) -> tuple[PositionSum, int]:
    """A position of some loops, mostly in their order, and the number of positions."""
    loops = [loop for axis in axes for loop in axis.loops]
    if draw.random() < 0.3:
        draw.shuffle(loops)
    if draw.random() < 0.6:
        first = draw.randrange(len(loops))
        loops = loops[first : draw.randint(first, len(loops)) + 1]
    at, factor = PositionSum(), 1
    for loop in reversed(loops):
        at = at.plus(variable(loop.name, loop.extent).times(factor))
        factor *= loop.extent
    return at, factor


def read_by_hand(at: PositionSum, axes: list[TileAxis], tile: Any) -> Any:
    """The elements at all positions, each found by its indices."""
    made = np.full([axis.tile for axis in axes], -1)
    for index in np.ndindex(*(axis.extent for axis in axes)):
        values: dict[str, int] = {}
        for left, axis in zip(index, axes, strict=True):
            for loop in reversed(axis.loops):
                left, values[loop.name] = divmod(left, loop.extent)
        made[index] = tile[sum(factor * values[atom.name] for atom, factor in at.terms)]
    return made


def test_tiles_in_registers_are_read_at_the_right_places() -> None:
    draw = random.Random(7)
    found = {"[": 0, "tl.reshape(x": 0, "tl.trans": 0, "tl.reshape(tl": 0}
    for _ in range(3000):
        axes = random_axes(draw)
        at, extent = random_position(draw, axes)
        size = tile_size(extent, 1 << 20)
        text = register_text(RegisterTile("x", extent, size), at, axes)
        if text is None or any(axis.is_looped for axis in axes):
            continue
        x = np.arange(1000, 1000 + size)
        made = np.broadcast_to(eval(text, {"tl": NumpyTiles, "x": x}), [axis.tile for axis in axes])
        wanted = read_by_hand(at, axes, x)
        assert np.array_equal(np.where(wanted < 0, -1, made), wanted), (text, at)
        for start in found:
            found[start] += start in text[:13]
    assert min(found.values()) > 10, found


def test_one_element_is_read_anywhere() -> None:
    axis = TileAxis("e", (PhaseLoop("i", 100),), 16)
    one = RegisterTile("x", 1, 1)
    assert register_text(one, PositionSum(), [axis]) == "x"
    assert register_text(RegisterTile("x", 100, 128), PositionSum(), [axis]) is None
    assert register_text(RegisterTile("x", 100, 128), variable("i", 100), [axis]) is None


def test_sums() -> None:
    assert sum_text([("i", -2), ("j", 1)], 10) == "-2 * i + j + 10"
    assert sum_text([], 0) == "0"


def test_values_lie_in_the_outermost_loop_that_they_depend_on() -> None:
    graph = GraphMaker()
    x, y, zero = graph.parameter(5000), graph.parameter(64), graph.parameter()
    wide = graph.add("broadcast", (64, 5000), graph.add("tanh", (64,), y), dimensions=(0,))
    long = graph.add("broadcast", (64, 5000), x, dimensions=(1,))
    both = graph.add("multiply", (64, 5000), wide, long)
    graph.add("reduce", (64,), both, zero, dimensions=(1,), to_apply="sum")
    (code,) = codes_of(graph.module())
    before, loop, inside = code.text.partition("for first_")
    assert loop
    assert "hyperbolic_tangent" in before
    assert "hyperbolic_tangent" not in inside


def test_masked_places_are_not_read() -> None:
    graph = GraphMaker()
    graph.add("transpose", (7, 5), graph.parameter(5, 7), dimensions=(1, 0))
    (code,) = codes_of(graph.module())
    assert code.text.count("mask=in_e") == 2
