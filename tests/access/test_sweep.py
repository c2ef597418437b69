"""Several arrays: the fastest within an area."""

from __future__ import annotations

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import dense
from fuseloom.access.layers import Layer
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.memory import BufferedMemory
from fuseloom.access.sweep import best_design, compare_arrays

TERM = dense(20, 40, 30)
DATA = random_data(TERM)
LAYERS = [Layer("dense", TERM, DATA, evaluate(TERM, DATA))]


def test_the_fastest_within_the_budget_is_best() -> None:
    seen: list[SystolicArray] = []
    arrays = [SystolicArray(n, n) for n in (4, 8, 16)]
    designs = compare_arrays(
        LAYERS, (), arrays, BufferedMemory(buffer=1000), byte_area=0.01, progress=seen.append
    )
    assert seen == arrays
    assert [design.area for design in designs] == [26.0, 74.0, 266.0]
    cycles = [design.traffic.cycles for design in designs]
    assert cycles == sorted(cycles, reverse=True)
    assert best_design(designs) is designs[2]
    assert best_design(designs, 265.0) is designs[1]
    assert best_design(designs, 25.0) is None
