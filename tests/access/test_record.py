"""Records of mappings: what they count, and that they travel."""

from __future__ import annotations

import pytest

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import Convolution, matmul, pool2d
from fuseloom.access.layers import Layer
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.memory import BufferedMemory
from fuseloom.access.record import array_machine, mapped_record
from fuseloom.access.sweep import ArrayDesign, compare_arrays
from fuseloom.access.terms import Term
from fuseloom.errors import ProgramError
from fuseloom.results import RunRecord


def design_of(*terms: Term, memory: BufferedMemory | None = None) -> ArrayDesign:
    layers = []
    for number, term in enumerate(terms):
        data = random_data(term)
        layers.append(Layer(f"layer {number}", term, data, evaluate(term, data)))
    (design,) = compare_arrays(layers, [], [SystolicArray(8, 8)], [memory or BufferedMemory()])
    return design


def test_a_region_per_layer_that_the_array_computes() -> None:
    pool = pool2d(Convolution(1, 2, 4, 4, 2, (2, 2)), "max")
    design = design_of(matmul(8, 16, 8), pool, matmul(4, 4, 4))
    record = mapped_record(design, "net", schedule="rules boxes")
    assert [region.name for region in record.regions] == ["layer 0", "layer 2"]
    assert record.cycles == design.traffic.cycles
    assert record.regions[0].flops == 2 * 8 * 16 * 8
    assert sum(region.bytes for region in record.regions) == (
        design.traffic.read + design.traffic.written
    )
    assert record.ok
    assert RunRecord.from_json(record.to_json()) == record


def test_another_memory_is_another_machine() -> None:
    one, two = (
        array_machine(SystolicArray(8, 8), BufferedMemory(bandwidth)) for bandwidth in (8.0, 16.0)
    )
    assert one.name == two.name
    assert one.fingerprint != two.fingerprint


def test_without_calls_there_is_no_run() -> None:
    with pytest.raises(ProgramError, match="no run to keep"):
        mapped_record(design_of(pool2d(Convolution(1, 2, 4, 4, 2, (2, 2)), "max")), "pool")
