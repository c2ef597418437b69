"""Several arrays and memories: each combination as it is alone, the fastest within an area."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from fuseloom.access import mapped_layers
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import dense
from fuseloom.access.layers import Layer
from fuseloom.access.mapping import Mapped
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.memory import BufferedMemory
from fuseloom.access.sweep import ArrayDesign, best_design, compare_arrays
from fuseloom.access.terms import Term

MEMORIES = [
    BufferedMemory(bandwidth, buffer) for buffer, bandwidth in product((500, 6000, 8000), (2, 16))
]


def _layer(name: str, term: Term) -> Layer:
    data = random_data(term)
    return Layer(name, term, data, evaluate(term, data))


LAYERS = [_layer("dense", dense(20, 40, 30))]


def _arrays(*sizes: int) -> list[SystolicArray]:
    return [SystolicArray(n, n) for n in sizes]


def test_the_fastest_within_the_budget_is_best() -> None:
    seen: list[SystolicArray] = []
    arrays = _arrays(4, 8, 16)
    designs = compare_arrays(
        LAYERS, (), arrays, [BufferedMemory(buffer=1000)], byte_area=0.01, progress=seen.append
    )
    assert seen == arrays
    assert [design.area for design in designs] == [26.0, 74.0, 266.0]
    cycles = [design.traffic.cycles for design in designs]
    assert cycles == sorted(cycles, reverse=True)
    assert best_design(designs) is designs[2]
    assert best_design(designs, 265.0) is designs[1]
    assert best_design(designs, 25.0) is None


def _figures(design: ArrayDesign) -> tuple[object, ...]:
    calls = [layer.mapped.calls for layer in design.made.layers]
    terms = [layer.mapped.after for layer in design.made.layers]
    return design.array, design.memory, design.traffic, design.area, calls, terms


def test_every_combination_is_as_it_is_alone() -> None:
    arrays = _arrays(4, 8)
    designs = compare_arrays(LAYERS, (), arrays, MEMORIES, byte_area=0.01)
    alone = [
        one
        for array, memory in product(arrays, MEMORIES)
        for one in compare_arrays(LAYERS, (), [array], [memory], byte_area=0.01)
    ]
    assert list(map(_figures, designs)) == list(map(_figures, alone))
    assert len({design.traffic for design in designs}) > len(arrays)


def test_layers_are_mapped_once_per_array(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped: list[tuple[Term, SystolicArray]] = []
    map_term = mapped_layers.map_term

    def counted(term: Term, array: SystolicArray, *rest: Any, **options: Any) -> Mapped:
        mapped.append((term, array))
        return map_term(term, array, *rest, **options)

    monkeypatch.setattr(mapped_layers, "map_term", counted)
    layers = [*LAYERS, _layer("other", dense(2, 3, 4))]
    arrays = _arrays(4, 8)
    designs = compare_arrays(layers, (), arrays, MEMORIES)
    assert len(designs) == len(arrays) * len(MEMORIES)
    assert mapped == [(layer.term, array) for array in arrays for layer in layers]


def test_area_goes_to_the_array_or_to_the_buffer() -> None:
    """The best is that of an enumeration, for every budget; of equal ones the smallest."""
    designs = compare_arrays(LAYERS, (), _arrays(4, 8, 16), MEMORIES, byte_area=0.05)
    chosen = set()
    for budget in sorted({design.area for design in designs}):
        within = [design for design in designs if design.area <= budget]
        least = min(design.traffic.cycles for design in within)
        area = min(design.area for design in within if design.traffic.cycles == least)
        best = best_design(designs, budget)
        assert best is not None
        assert (best.traffic.cycles, best.area) == (least, area)
        chosen.add((best.array.rows, best.memory.buffer))
    assert len({rows for rows, _ in chosen}) > 1
    assert len({buffer for _, buffer in chosen}) > 1
    best = best_design(designs)
    assert best is not None
    assert best.memory.buffer == 6000, "all fits; 8,000 bytes are as fast and larger"
