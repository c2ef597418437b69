"""Buffers of blocks in Triton: in registers or in scratch memory, with barriers where needed."""

from __future__ import annotations

import pytest

from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.phase_values import ElementLoad
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.triton import tiles as triton_tiles
from fuseloom.stitch.triton.memory import BlockMemory, block_memory, index_type
from fuseloom.stitch.triton.tiles import TiledPhase, tiled_phases
from fuseloom.stitch.triton.values import register_text
from tests.tiers import counts

from ..stitched_modules import GraphMaker
from .triton_kernels import SMALL_TILES, phased_of, random_cases


def softmax(rows: int, columns: int) -> DenseModule:
    graph = GraphMaker()
    x, zero = graph.parameter(rows, columns), graph.parameter()
    powers = graph.add("exponential", (rows, columns), x)
    sums = graph.add("reduce", (rows,), powers, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (rows, columns), sums, dimensions=(0,))
    graph.add("divide", (rows, columns), powers, wide)
    return graph.module()


def memory_of_module(
    module: DenseModule, settings: FusionSettings | None = None
) -> tuple[PhasedKernel, list[TiledPhase], BlockMemory]:
    phased = phased_of(module, settings)
    tiles = tiled_phases(phased)
    return phased, tiles, block_memory(phased, tiles)


def test_a_row_for_each_block_stays_in_registers() -> None:
    _, _, memory = memory_of_module(softmax(64, 40))
    assert memory.size == 0
    assert memory.barriers == frozenset()
    assert len(memory.known.registers) == 2


def test_several_rows_stay_in_registers_if_tiles_are_whole() -> None:
    together = FusionSettings(enough_blocks=2)
    _, _, memory = memory_of_module(softmax(16, 32), together)
    assert memory.size == 0
    phased, _, memory = memory_of_module(softmax(16, 33), together)
    if phased.blocks < 16:
        assert memory.size > 0
        assert memory.barriers


def test_what_does_not_fit_in_a_tile_lies_in_scratch_memory() -> None:
    _, _, memory = memory_of_module(softmax(64, 4500))
    assert memory.size >= 18_000
    assert memory.size % 16 == 0
    assert memory.barriers


def test_large_positions_take_64_bits() -> None:
    for rows, kind in ((1 << 14, "tl.int32"), (1 << 17, "tl.int64")):
        graph = GraphMaker("s8")
        graph.add("negate", (rows, 1 << 15), graph.parameter(rows, 1 << 15))
        assert index_type(phased_of(graph.module())) == kind


def slots_of(
    one: TiledPhase, phased: PhasedKernel, memory: BlockMemory
) -> tuple[set[int], set[int]]:
    """The spaces of scratch memory that a phase reads, and those that it writes."""
    buffers, known = phased.plan.buffers, memory.known
    reads = set()
    for load in one.phase.values:
        if isinstance(load, ElementLoad) and load.buffered:
            tile = known.registers.get(load.source)
            if tile is None or register_text(tile, load.at, one.register_axes) is None:
                assert load.source in known.stored
                reads.add(buffers[load.source].slot)
    name = one.phase.operation.name
    return reads, {buffers[name].slot} if name in known.stored else set()


@counts(small=40, deep=300)
def test_barriers_lie_between_all_accesses_that_need_order(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SMALL_TILES.items():
        monkeypatch.setattr(triton_tiles, name, value)
    needed = 0
    for seed in range(count):
        for case in random_cases(seed):
            phased = case.code.phased
            assert phased is not None
            tiles = tiled_phases(phased)
            memory = block_memory(phased, tiles)
            uses = [slots_of(one, phased, memory) for one in tiles]
            for after, (reads, writes) in enumerate(uses):
                assert bool(reads & writes) == (after in memory.in_place)
                for before, (read, written) in enumerate(uses[:after]):
                    if written & (reads | writes) or read & writes:
                        needed += 1
                        assert any(n in memory.barriers for n in range(before + 1, after + 1))
    assert needed > count / 4
