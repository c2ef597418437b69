"""Axes of tiles: what loops they count, how large they are, and how positions read on them."""

from __future__ import annotations

import random
from math import prod

import pytest

from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.phase_values import ElementLoad, KernelPhase, PhaseLoop, PhaseReduction
from fuseloom.stitch.positions import PositionSum, variable
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.triton import tiles as triton_tiles
from fuseloom.stitch.triton.tiles import (
    TileAxis,
    TiledPhase,
    axis_runs,
    reduction_axes,
    tile_size,
    tiled_phases,
)

from ..stitched_modules import GraphMaker
from .triton_kernels import SMALL_TILES, phased_of


def test_runs_are_the_position() -> None:
    """For each value of the variable of an axis, runs add up to what loops do."""
    draw = random.Random(3)
    joined = 0
    for _ in range(200):
        loops = tuple(PhaseLoop(f"i{n}", draw.choice((2, 3, 4))) for n in range(draw.randint(1, 4)))
        axis = TileAxis("e", loops, 1)
        at = PositionSum()
        factor = draw.choice((1, 2))
        for loop in reversed(loops):
            at = at.plus(variable(loop.name, loop.extent).times(factor))
            factor = factor * loop.extent if draw.random() < 0.6 else draw.choice((0, 1, 5))
        runs, others = axis_runs(at, [axis])
        assert others == []
        joined += sum(len(run.loops) > 1 for run in runs)
        for e in range(axis.extent):
            left, values = e, dict[str, int]()
            for loop in reversed(loops):
                left, values[loop.name] = divmod(left, loop.extent)
            total = sum(factor * values[atom.name] for atom, factor in at.terms)
            by_runs = sum(
                run.factor * (e // run.stride % prod(one.extent for one in run.loops))
                for run in runs
            )
            assert total == by_runs
    assert joined > 50


def test_tiles_are_powers_of_two() -> None:
    for extent in range(1, 70):
        size = tile_size(extent, 32)
        assert size & (size - 1) == 0
        assert size == 32 or extent <= size < 2 * extent


def test_sums_of_columns_read_rows() -> None:
    operation = DenseOperation("y", "reduce", TensorShape("f32", (96,)), ("x", "zero"))
    row, place = variable("r", 512), variable("i", 96)
    loops, combined = (PhaseLoop("i", 96),), (PhaseLoop("r", 512),)
    tiles = []
    for at in (row.times(96).plus(place), place.times(512).plus(row)):
        load = ElementLoad("x", False, at, "f32")
        reduction = PhaseReduction("add", combined)
        phase = KernelPhase(operation, (), loops, (load,), load, reduction, ())
        axes = reduction_axes(phase)
        tiles.append([axis.tile for axis in axes])
        one = TiledPhase(0, phase, "", tuple(axes))
        assert one.own_axes == (axes[0],)
        assert one.places <= triton_tiles.MOST_REDUCED
    assert tiles == [[128, 32], [8, 512]]


def test_products_of_matrices_of_16_or_more_are_dots() -> None:
    for rows, dot in ((16, True), (15, False)):
        graph = GraphMaker()
        x, y = graph.parameter(4, rows, 40), graph.parameter(4, 40, 48)
        graph.add(
            "dot", (4, rows, 48), graph.add("tanh", (4, rows, 40), x), y, lhs_batch_dims=(0,),
            rhs_batch_dims=(0,), lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
        )  # fmt: skip
        last = tiled_phases(phased_of(graph.module(), FusionSettings(enough_blocks=1)))[-1]
        assert (last.dot is not None) == dot
        if last.dot is not None:
            sides = (last.dot.rows, last.dot.columns, last.dot.products)
            assert [axis.tile for axis in sides] == [16, 64, 32]
            assert [axis.is_masked for axis in sides] == [False, True, True]
            assert last.places == 16 * 64


def test_products_of_float64_are_sums() -> None:
    graph = GraphMaker("f64")
    x, y = graph.parameter(2, 32, 32), graph.parameter(2, 32, 32)
    graph.add(
        "dot", (2, 32, 32), x, y, lhs_batch_dims=(0,), rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
    )  # fmt: skip
    (one,) = tiled_phases(phased_of(graph.module()))
    assert one.dot is None


def test_large_arrays_are_computed_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphMaker()
    graph.add("negate", (5, 9), graph.parameter(5, 9))
    phased = phased_of(graph.module())
    (whole,) = tiled_phases(phased)
    for name, value in SMALL_TILES.items():
        monkeypatch.setattr(triton_tiles, name, value)
    (parts,) = tiled_phases(phased)
    assert not any(axis.is_looped for axis in whole.axes)
    assert all(axis.is_looped for axis in parts.axes)
